"""What calls do to a state: macros the engine looks through, effects of summaries, and the unknown."""

from __future__ import annotations

from typing import Final

from patchlint.cfg import render
from patchlint.dataflow.callees import Callees
from patchlint.dataflow.holds import COUNTED, Holds
from patchlint.dataflow.keeping import Keeping
from patchlint.dataflow.log import Log
from patchlint.dataflow.machine import Machine
from patchlint.dataflow.macros import MacroActs
from patchlint.dataflow.matching import OWNED
from patchlint.dataflow.places import already_stored, below, function_named, is_out, subject_of
from patchlint.dataflow.report import Event, Policy, Site
from patchlint.dataflow.state import Hold, State
from patchlint.dataflow.undoing import just_frees
from patchlint.dataflow.values import Value
from patchlint.effects import ANY, POS, ZERO, Effect, Place, Summary
from patchlint.ir import Call, Expr, Unary

_FEARED: Final = frozenset(("freed", "dropped", "stale", "rcu-access"))


class Calls(MacroActs, Keeping):
    """Applies calls; told by the machine of stores and uses."""

    def __init__(self, callees: Callees, policy: Policy, locals_: dict[str, bool], pointers: frozenset[str]) -> None:
        self.callees = callees
        self.policy = policy
        self.pointers = pointers
        self.log = Log()
        self.machine = Machine(locals_, self)
        self.holds = Holds(self.machine.values, self.machine.facts, callees, self.log)
        self.given: dict[int, set[Value]] = {}
        """Place of a call -> what its arguments are derived from, of which its result may be a part."""
        self.stops = False
        """Set when the last call never returns."""

    # the machine's watcher --------------------------------------------------

    def used(self, st: State, value: Value, expr: Expr, pos: int, what: str) -> None:
        """A pointer was followed: bad when it is freed, stale or never to be followed."""
        if not st.tags:
            return
        root = self.machine.values.root
        for candidate in (value, root[value]) if root[value] != value else (value,):
            tagged = st.tags.get(candidate)
            if tagged is not None and tagged[0] in _FEARED:
                self.log.event(
                    Event("use", pos, what, tagged[0], value, render(expr), st.holds, st.trail, tagged[1], "follow")
                )

    def is_new(self, hold: Hold) -> bool:
        """Whether what is held was made in this function."""
        site = self.log.sites.get((hold.site, hold.family))
        made = site is not None and site.by == "result" and "found" not in site.flags
        return made and self.holds.family(hold.family).kind == "mem"

    def place(self, st: State, expr: Call) -> Value:
        """The address behind a call that is used as an lvalue: ``container_of(...)->x``, ``per_cpu(x, cpu)``."""
        macro = self.callees.macro(expr.name) if expr.name else None
        if macro is not None and macro.acts == "value" and macro.arg < len(expr.args):
            return self.machine.address(st, expr.args[macro.arg])
        value = self.call(st, expr)
        return self.machine.values.make("f", value, "*")

    # calls ------------------------------------------------------------------

    def call(self, st: State, expr: Call) -> Value:
        """Apply ``expr`` to ``st``; its result."""
        if expr.name:
            macro = self.callees.macro(expr.name)
            if macro is not None:
                value = self.macro(st, expr, macro)
                if value is not None:
                    return value
        target, text = self.machine.target, self.machine.target_text
        self.machine.target = self.machine.target_text = ""
        if not expr.name:
            self.machine.value(st, expr.func)
        args = [self.by_value(st, arg) for arg in expr.args]
        self.machine.target, self.machine.target_text = target, text
        direct = expr.name and expr.name not in self.machine.locals  # else it is called by way of a variable
        summary = self.callees.summary(expr.name) if direct else None
        body = summary is None or summary.origin == "body"
        self.log.pos = expr.pos
        if st.holds and expr.args and body:
            self._maybe_undoes(st, expr, args, summary)
        self.look(st, expr, args, summary)
        if st.holds and summary is not None and summary.may_end:
            self._may_end(st, expr, summary)
        if st.holds:
            self._note_given(expr, args, summary)
        value = self._unknown(st, expr, args) if summary is None else self._apply(st, expr, args, summary)
        if body and args and expr.name.isupper() and self.machine.values.is_truth(args[0]):
            return args[0]  # ``if (CHECK_FAIL(!p, "..."))``: a macro that tells of a condition and has its value
        return value

    def _note_given(self, expr: Call, args: list[Value], summary: Summary | None) -> None:
        """What the call is given while something is held, by its place."""
        roots = [self.machine.values.root[value] for value in args]
        modelled = summary is not None and summary.origin != "body"
        lent = summary.args if summary is not None and not modelled else ()
        self.given.setdefault(expr.pos, set()).update(
            root for at, root in enumerate(roots) if lent[at : at + 1] != ("borrow",)
        )
        if not modelled:
            self.log.passed.setdefault(expr.pos, set()).update(roots)

    def look(self, st: State, expr: Call, args: list[Value], summary: Summary | None) -> None:
        """Events that a call makes by being where it is."""
        if st.tags:
            for arg, value in zip(expr.args, args, strict=True):
                tagged = st.tags.get(value)
                if tagged is not None and tagged[0] in ("freed", "dropped", "stale"):
                    if summary is not None and self._counts(summary, args, value):
                        continue
                    self.log.event(
                        Event("use", arg.pos if hasattr(arg, "pos") else expr.pos, expr.name, tagged[0], value,
                              render(arg), st.holds, st.trail, tagged[1], "pass")
                    )  # fmt: skip
        if summary is not None and summary.sleeps not in ("no", "unknown"):
            detail, flags = summary.sleeps, -1
            if detail.startswith("arg"):
                at = int(detail[3:])
                detail, flags = (self.machine.text(expr.args[at]), args[at]) if at < len(expr.args) else ("", -1)
            where = summary.where
            contexts = self._contexts(st)
            self.log.event(
                Event("call", expr.pos, expr.name, contexts, flags, where, st.holds, st.trail, 0, detail)
            )
        elif st.holds and (summary is None or summary.sleeps == "unknown" or summary.origin != "model"):
            self._given(st, expr, args)

    def _counts(self, summary: Summary, args: list[Value], value: Value) -> bool:
        """Whether the call takes or ends a reference to ``value``: what that means is told by the hold itself."""
        return any(
            e.action in ("release", "acquire") and e.place.root == "arg" and e.place.index < len(args)
            and args[e.place.index] == value and self.holds.family(e.resource).kind in OWNED
            for e in summary.effects
        )  # fmt: skip

    def _contexts(self, st: State) -> str:
        return ",".join(sorted({self.holds.family(h.family).context for h in st.holds} - {""}))

    def _given(self, st: State, expr: Call, args: list[Value]) -> None:
        """A callee of which it is not known whether it sleeps is told by a constant, in a context of some sort."""
        nodes = self.machine.values.nodes
        constants = [(arg, v) for arg, v in zip(expr.args, args, strict=True) if nodes[v][0] in ("n", "op")]
        contexts = self._contexts(st) if constants else ""
        for arg, value in constants if contexts else ():
            self.log.event(
                Event("given", expr.pos, expr.name, contexts, value, "", st.holds, st.trail, 0, self.machine.text(arg))
            )

    def _maybe_undoes(self, st: State, expr: Call, args: list[Value], summary: Summary | None) -> None:
        if summary is not None and any("shown" in effect.flags for effect in summary.effects):
            return
        if summary is not None and just_frees(self.machine.values, st, args, summary, self.holds.family):
            return
        name = expr.name or getattr(expr.func, "field", "")
        if self.policy.undoing is not None and self.policy.undoing.search(name):
            st.mark("undo", expr.pos, name)
            self.log.undos.add(expr.pos)
            self.log.blocks[expr.pos] = self.log.block

    def _may_end(self, st: State, expr: Call, summary: Summary) -> None:
        """Mark the path where a callee leaves a lock or section of a sort that is held: its body does not say which."""
        surely = {effect.resource for effect in summary.effects if effect.action == "release"}
        for family in summary.may_end:
            if family not in surely and any(self.holds.ends(family, hold.family) for hold in st.holds):
                st.mark("may-end", expr.pos, family)

    def _unknown(self, st: State, expr: Call, args: list[Value]) -> Value:
        """Nothing is known of the callee: it may write through addresses it gets and, by policy, keep what it gets."""
        result = self.machine.fresh(st, expr.pos)
        for index, value in enumerate(args):
            if st.holds and (self.policy.unknown_takes or self.policy.fresh):
                self._may_take(st, value, result)
            self._may_write(st, expr, index, value)
        if not self.policy.unknown_takes and st.holds:
            self._share_local(st, args)
        return result

    def _may_write(self, st: State, expr: Call, index: int, value: Value) -> None:
        arg = expr.args[index]
        if isinstance(arg, Unary) and arg.op == "&":
            old = self.machine.load(st, value) if st.holds and self._sounds_undoing(expr) else -1
            if old >= 0 and not self.policy.seed_params:
                self.holds.take(st, old)  # ``thing_unref(&p)``
            self.machine.clobber(st, value, expr.pos, index)

    def _sounds_undoing(self, expr: Call) -> bool:
        return self.policy.undoing is not None and self.policy.undoing.search(expr.name) is not None

    def _apply(self, st: State, expr: Call, args: list[Value], summary: Summary) -> Value:
        result = self._result(st, expr, args, summary)
        outs: dict[tuple[int, str], Value] = {}
        effects = summary.effects
        if summary.origin == "body":
            effects = tuple(e for e in effects if "or-untouched" not in e.flags or self._empty(st, args, e.place))
            for effect in effects:
                if effect.action in ("release", "take") and effect.place.deref:
                    self._end_content(st, expr, args, effect, result)
        for index, arg in enumerate(expr.args):
            if isinstance(arg, Unary) and arg.op == "&" and (
                summary.origin != "model" or is_out(arg)
                or any(e.place.index == index and e.place.deref for e in summary.effects)
            ):  # fmt: skip
                self._may_write(st, expr, index, args[index])
        for effect in effects:
            if effect.action not in ("release", "take") or not effect.place.deref or summary.origin == "model":
                self._effect(st, expr, args, summary, effect, result, outs)
        if st.holds:
            self._pass_on(st, expr, args, summary, result)
        if summary.never_returns:
            self.stops = True
        self.machine.facts.settle(st)
        return result

    def _pass_on(self, st: State, expr: Call, args: list[Value], summary: Summary, result: Value) -> None:
        """What becomes of what is held and given to the call, besides its effects."""
        registers = [effect.when for effect in summary.effects if self._registers(effect)]
        if registers:
            self._share(st, args, expr.pos, result, max(registers))
        elif any(effect.action == "acquire" and effect.place.root == "result" for effect in summary.effects):
            self._absorb(st, args)
        else:
            self._share_local(st, [v for i, v in enumerate(args) if self._keeps(summary, i)], expr.pos)
        if summary.arranges:
            self._arrange(st, expr, args, summary, result)
        for index, value in enumerate(args):
            what = summary.args[index] if index < len(summary.args) else summary.rest
            if what == "take":
                self.log.taken.add(value)
            if what == "take" and summary.origin == "body":
                (self._may_take if self.policy.unknown_takes else self._kept_by)(st, value)
            elif what == "take":
                self.holds.take(st, value)
            elif what == "unknown" and summary.origin == "model":
                self.stored(st, value, expr.pos, local=False, text=expr.name)
            elif what == "unknown" and (self.policy.unknown_takes or self.policy.fresh):
                self._may_take(st, value, result)

    def _arrange(self, st: State, expr: Call, args: list[Value], summary: Summary, result: Value) -> None:
        """A function is to be called later: what it will give back is its affair from now on."""
        handler, data = summary.arranges
        if max(handler, data) >= len(args):
            return
        later = self.callees.summary(function_named(expr.args[handler]))
        if later is None:
            return
        mask = next((effect.when for effect in summary.effects if effect.action == "take"), ANY)
        for effect in later.effects:
            if effect.action in ("release", "take") and effect.place.index == 0 and not effect.place.deref:
                obj = self._object(st, expr, [args[data]], effect.place, result, {})
                if obj is not None:
                    self.holds.take(st, obj, result=result, mask=mask)
        perhaps = {*later.may_end} - {effect.resource for effect in later.effects}
        for hold in st.holds:
            if hold.family in perhaps and self.leads_to(st, args[data], hold.obj):
                self.holds.take(st, hold.obj, result=result, mask=mask)

    def _empty(self, st: State, args: list[Value], place: Place) -> bool:
        """Whether an out-parameter is NULL before the call: what it holds afterwards comes from there."""
        if place.index >= len(args):
            return False
        address = below(self.machine.values, args[place.index], place)
        return self.machine.facts.mask(st, self.machine.load(st, address)) == ZERO

    def _result(self, st: State, expr: Call, args: list[Value], summary: Summary) -> Value:
        if 0 <= summary.returns_arg < len(args):
            return args[summary.returns_arg]
        drops = any(effect.action in ("release", "tag") for effect in summary.effects)
        result = self.machine.fresh(st, expr.pos, given=args if drops else ())
        known = (summary.always if self.policy.standing else 0) or summary.result
        if known not in (ANY, 0):
            self.machine.facts.narrow(st, result, known)
        return result

    def _effect(
        self, st: State, expr: Call, args: list[Value], summary: Summary, effect: Effect, result: Value,
        outs: dict[tuple[int, str], Value],
    ) -> None:  # fmt: skip
        obj = self._object(st, expr, args, effect.place, result, outs)
        if obj is None:
            return
        if effect.action == "acquire":
            self._acquire(st, expr, summary, effect, obj, result)
        elif effect.action == "release":
            subject = subject_of(expr, effect.place, self.machine.target_text)
            self.holds.release(st, effect, obj, result, expr.pos, expr.name, subject)
        elif effect.action == "take":
            self.log.taken.add(obj)
            if effect.frees and effect.when == ANY and self.holds.count_down(st, obj):
                return  # one of its counts, that was taken by itself
            self.holds.take(st, obj, result=result, mask=effect.when, frees=effect.frees)
            if effect.frees and effect.when == ANY:
                self.holds.bury(st, obj, expr.pos)
        elif effect.action == "tag" and effect.resource == COUNTED:
            st.tags.setdefault(self.machine.values.root[obj], (COUNTED, expr.pos))
        elif effect.action == "tag":
            st.tags[obj] = (effect.resource, expr.pos)

    def _end_content(self, st: State, expr: Call, args: list[Value], effect: Effect, result: Value) -> None:
        """The callee ends, or may have ended, what an argument points to before it writes something else there."""
        if effect.place.index >= len(args):
            return
        address = below(self.machine.values, args[effect.place.index], effect.place)
        content = self.machine.load(st, address)
        if effect.action == "take":
            self.holds.take(st, content)
            return
        subject = subject_of(expr, effect.place, self.machine.target_text)
        self.holds.release(st, effect, content, result, expr.pos, expr.name, subject)
        if effect.when == ANY and self.machine.values.nodes[address][0] != "&l":
            st.mem[address] = self.machine.fresh(st, expr.pos, f"out{effect.place.index}")

    def _object(
        self, st: State, expr: Call, args: list[Value], place: Place, result: Value, outs: dict[tuple[int, str], Value]
    ) -> Value | None:
        """The value that an effect acts on."""
        values = self.machine.values
        if place.root == "global":
            return values.make("&g", "") if not place.path else values.make("&g", place.path)
        if place.root == "result":
            base = result
        elif place.index >= len(args):
            return None
        else:
            base = args[place.index]
        if place.deref:
            member = place.index, place.path
            if member not in outs:
                outs[member] = self._out(st, expr, base, place)
            return outs[member]
        if place.path.startswith("&"):
            return below(values, base, place)
        for field in filter(None, place.path.split(".")):
            base = self.machine.load(st, values.make("f", base, field))
        return base

    def _out(self, st: State, expr: Call, address: Value, place: Place) -> Value:
        """What the callee wrote through an out-parameter."""
        address = below(self.machine.values, address, place)
        key = self.machine.values.nodes[address]
        if key[0] == "&l":
            self.machine.target = key[1]
        value = self.machine.fresh(st, expr.pos, f"out{place.index}{place.path}")
        self.machine.target = ""
        if key[0] == "&l" and not self.machine.locals.get(key[1], False):
            st.env[key[1]] = value
        else:
            st.mem[address] = value
        return value

    def _acquire(
        self, st: State, expr: Call, summary: Summary, effect: Effect, obj: Value, result: Value
    ) -> None:
        mask = self.machine.facts.mask(st, obj)
        if effect.place.root == "arg" and mask == ZERO:
            return
        cond, held = (result, effect.when) if effect.when != ANY else (-1, ANY)
        if cond >= 0 and self.machine.facts.mask(st, cond) & ~held == 0:
            cond, held = -1, ANY
        by: str = "out" if effect.place.deref else effect.place.root
        if by == "result" and summary.returns_arg >= 0:
            by = "arg"  # ``foo_get(p)`` that gives back p
        kind = self.holds.family(effect.resource).kind
        if by == "arg" and kind == "ref" and self._born(st, obj, effect):
            by = "born"
        if "alone" in effect.flags and self.holds.surely(st, effect.resource, obj):
            self.machine.facts.narrow(st, result, ANY & ~effect.when)  # one more try for what is held already
            return
        owned = kind in OWNED or (kind == "pair" and by in ("result", "out"))
        subject = subject_of(expr, effect.place, self.machine.target_text)
        where = (effect.where or summary.where) if summary.origin == "body" else ""
        site = Site(expr.pos, effect.resource, expr.name, subject, by, where, effect.flags)
        if kind == "lock" and by == "arg":
            self._followed(st, obj)
        found = by == "out" and (summary.origin == "body" or not effect.place.path)
        stored = (by == "arg" or found) and already_stored(self.machine.values, st, obj)
        self.holds.acquire(st, Hold(effect.resource, obj, expr.pos, cond, held, stored, 0, owned), site)

    def _followed(self, st: State, lock: Value) -> None:
        """What a lock is taken in is there: ``spin_lock(&p->lock)`` follows the pointer."""
        key = self.machine.values.nodes[lock]
        if key[0] == "f":
            self.machine.facts.narrow(st, key[1], POS)

    def _born(self, st: State, obj: Value, effect: Effect) -> bool:
        """The first count of memory that is held, or inside of it: from now on the count owns the memory."""
        roots = self.machine.values.root
        inner = tuple(h for h in st.holds if roots[h.obj] == roots[obj] and (h.obj != obj or "named" in effect.flags))
        kept = tuple(h for h in st.holds if h not in inner or self.holds.family(h.family).kind != "mem")
        born = len(kept) != len(st.holds)
        st.holds = kept
        return born
