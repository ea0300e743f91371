"""The exploration: every path of a control-flow graph, states merged where they agree."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Final

from patchlint.cfg import (
    Branch,
    Cfg,
    Choice,
    Cleanup,
    EnterGuard,
    Halt,
    Havoc,
    Jump,
    Leave,
    LeaveGuard,
    Op,
    Select,
    Turn,
    loop_places,
)
from patchlint.dataflow.callees import Callees
from patchlint.dataflow.calls import Calls
from patchlint.dataflow.join import join, property_key, thin
from patchlint.dataflow.leaving import Leaving
from patchlint.dataflow.liveness import Needs, analyse, locals_of, pointers_of
from patchlint.dataflow.matching import SEED
from patchlint.dataflow.prune import Pruner
from patchlint.dataflow.report import PathReport, Policy, Site
from patchlint.dataflow.scopes import cleanup, enter_guard, leave_guard
from patchlint.dataflow.state import Hold, State
from patchlint.dataflow.undoing import jumped_over, outlived, passed_on
from patchlint.dataflow.values import Value
from patchlint.effects import POS
from patchlint.ir import Call, Decl, Evaluate, Expr, Function, InitList, Name

_Item = tuple[int, int, int, State]
"""Rank, number, block and state of what is still to be walked."""


def explore(cfg: Cfg, function: Function, callees: Callees, policy: Policy = Policy()) -> PathReport:  # noqa: B008
    """Walk every path of ``cfg`` and tell how each leaves and what happens on it.

    States that agree on all that later code can ask are one. At most ``policy.max_states`` are
    explored; ``bound_hit`` says when that was not enough.
    """
    return _Explorer(cfg, function, callees, policy).run()


class _Explorer:
    def __init__(self, cfg: Cfg, function: Function, callees: Callees, policy: Policy) -> None:
        self.cfg = cfg
        self.function = function
        self.callees = callees
        self.policy = policy
        self.needs: Needs = analyse(cfg)
        self.calls = Calls(callees, policy, locals_of(cfg, function), pointers_of(cfg, function))
        self.machine = self.calls.machine
        self.machine.scoped = frozenset(op.var for block in cfg.blocks for op in block.ops if isinstance(op, Cleanup))
        self.facts = self.machine.facts
        self.values = self.machine.values
        self.work: list[_Item] = []
        self.count = 0
        self.pruner = Pruner(self.needs, self.values)
        self.leaving = Leaving(self.calls, function, policy)

    def run(self) -> PathReport:
        self._go(0, self._entry())
        states = self._run_precise() if self.policy.precise else self._run_joined()
        log = self.calls.log
        return PathReport(
            tuple(self.leaving.exits.values()), log.events(), log.sites, tuple(log.releases.values()),
            frozenset(log.asserted), states, bool(self.work), loop_places(self.cfg),
            tuple(self.values.root), tuple(self.values.nodes), frozenset(log.kept), passed_on(log, self.cfg),
            outlived(log, self.cfg), jumped_over(log, self.cfg), log.passed, log.taken,
        )  # fmt: skip

    def _run_precise(self) -> int:
        """Fewest turns of loops first, then depth first; states are one only when they know the same."""
        seen: set[object] = set()
        joins = self.needs.live
        states = 0
        while self.work and states < self.policy.max_states:
            _, _, block, st = heappop(self.work)
            if block in joins:
                self.pruner.prune(block, st)
                key = (block, st.key())
                if key in seen:
                    continue
                seen.add(key)
            states += 1
            self._block(block, st)
        return states

    def _run_joined(self) -> int:
        """In reverse post order; states that hold the same are joined where paths meet.

        The first to come goes on alone, for it knows most; the others that wait are joined before they go on.
        After the states that the policy grants there are half as many again in which less is told apart.
        """
        buckets: dict[object, State] = {}
        waiting: dict[object, State] = {}
        enough = self.policy.max_states
        joins, returned = self.needs.live, self.needs.returned
        states = 0
        while self.work and states < enough + enough // 2:
            block, _, _, st = heappop(self.work)
            if block not in joins:
                states += 1
                self._block(block, st)
                continue
            self.pruner.prune(block, st)
            if states > enough:
                thin(st, hard=states > enough + enough // 4)
            key = (block, property_key(st, self.facts, returned, fears=not self.policy.seed_params))
            known = buckets.get(key)
            if known is None:
                buckets[key] = st
                states += 1
                self._block(block, st.copy())
            elif join(known, st, block, self.facts):
                waiting[key] = known
            if self.work and self.work[0][0] == block:
                continue
            for known in waiting.values():
                states += 1
                self._block(block, known.copy())
            waiting.clear()
        return states

    def _entry(self) -> State:
        st = State()
        for index, param in enumerate(self.function.params):
            if not param.name:
                continue
            value = self.values.make("p", index, param.name)
            st.env[param.name] = value
            if self.policy.seed_params and param.pointer:
                site = Site(self.function.start, f"param{index}", self.function.name, param.name, "arg")
                self.calls.log.sites[(site.pos, site.family)] = site
                st.holds = (*st.holds, Hold(SEED, value, index, owned=True))
        for index, family in self.policy.given:
            self._given(st, index, family)
        st.vague = not self.function.whole
        return st

    def _given(self, st: State, index: int, family: str) -> None:
        name = self.function.params[index].name
        site = Site(self.function.start, family, self.function.name, name, "given")
        self.calls.log.sites[(site.pos, family)] = site
        st.holds = (*st.holds, Hold(family, st.env[name], site.pos, owned=True))
        st.mark("acquire", site.pos, name)

    # blocks ---------------------------------------------------------------

    def _block(self, index: int, st: State) -> None:
        block = self.cfg.blocks[index]
        calls = self.calls
        calls.log.block = index
        calls.stops = False
        for op in block.ops:
            _OPS[type(op)](self, st, op)
            if calls.stops:
                return
        _TERMS[type(block.term)](self, st, block.term, index)

    def _go(self, target: int, st: State) -> None:
        self.count += 1
        if self.policy.precise:
            st.turns += target <= self.calls.log.block
            heappush(self.work, (st.turns, -self.count, target, st))
        else:
            heappush(self.work, (target, self.count, target, st))

    def _evaluate(self, st: State, op: Evaluate) -> None:
        value = self.machine.value(st, op.expr)
        self.facts.stated(st, value if isinstance(op.expr, Call) else 0)

    def _decl(self, st: State, op: Decl) -> None:
        if op.static:
            return
        if op.init is None or isinstance(op.init, InitList):
            if op.init is not None:
                self.machine.fill(st, self.values.make("&l", op.name), op.init, op.name)
            st.env[op.name] = self.values.make("&l" if self.machine.locals.get(op.name) else "l", op.name)
            return
        self.machine.target = self.machine.target_text = op.name
        value = self.machine.value(st, op.init)
        self.machine.target = self.machine.target_text = ""
        if self.machine.locals.get(op.name):
            st.env[op.name] = self.values.make("&l", op.name)
        else:
            st.env[op.name] = value

    def _havoc(self, st: State, op: Havoc) -> None:
        st.vague = True
        st.holds = ()
        st.tags.clear()
        st.facts.clear()
        st.mem.clear()
        for name in st.env:
            self.machine.target = name
            st.env[name] = self.machine.fresh(st, op.pos, f"havoc.{name}")
        self.machine.target = ""

    # terminators ----------------------------------------------------------

    def _jump(self, st: State, term: Jump, index: int) -> None:
        self._go(term.target, st)

    def _branch(self, st: State, term: Branch, index: int) -> None:
        value = self.machine.value(st, term.test)
        if self.calls.stops:
            return
        truth = self.facts.truth(st, value)
        text = self.machine.text(term.test)
        asked = self._asked(value) if self.policy.lent else ()
        if truth is None:
            other = st.copy()
            if self.facts.assume(other, value, False):
                self._answered(other, asked, term.pos, False)
                self._settled(other, "if", term.pos, text, False)
                self._go(term.false, other)
            truth = True
        elif truth is False:
            self._answered(st, asked, term.pos, False)
            st.mark("if", term.pos, text, False)
            self._go(term.false, st)
            return
        if self.facts.assume(st, value, True):
            self._answered(st, asked, term.pos, True)
            self._settled(st, "if", term.pos, text, True)
            self._go(term.true, st)

    def _asked(self, value: Value) -> tuple[int, ...]:
        """Places of calls that are given what they may keep, whose results decide ``value``."""
        keys = (self.values.nodes[leaf] for leaf in self.values.leaves[value])
        return tuple(key[1] for key in keys if key[0] == "s" and any(key[1] == call for _, call in self.policy.lent))

    @staticmethod
    def _answered(st: State, asked: tuple[int, ...], pos: int, truth: bool) -> None:
        for call in asked:
            st.mark("answer", pos, "", truth, call)

    def _settled(self, st: State, kind: str, pos: int, text: str, truth: bool) -> None:
        self.facts.decided(st)
        st.mark(kind, pos, text, truth)

    def _select(self, st: State, term: Select, index: int) -> None:
        value = self.machine.value(st, term.value)
        text = self.machine.text(term.value)
        asked = self._asked(value) if self.policy.lent else ()
        rest = st
        for low, high, target in term.cases:
            one = rest.copy()
            if high is None:
                equal = self.values.labelled(value, self.machine.value(one, low))
                if equal is not None and not self._case(one, rest, equal):
                    continue
            pos = getattr(low, "pos", term.pos)
            self._answered(one, asked, pos, True)
            one.mark("case", pos, f"{text} is {self.machine.text(low)}")
            self.facts.settle(one)
            self._go(target, one)
            if high is None and equal is not None and not self.facts.assume(rest, equal, False):
                return  # asked before: it can be nothing else
        self._settled(rest, "case", term.pos, f"{text} is none of these cases", not term.open)
        if self.facts.mask(rest, value):
            self._go(term.default, rest)

    def _case(self, one: State, rest: State, equal: Value) -> bool:
        """Split off the case that makes ``equal`` true; whether it is possible."""
        if equal in (0, 1):
            return equal == 1
        if self.facts.mask(rest, equal) & POS == 0:
            return False
        return self.facts.assume(one, equal, True)

    def _turn(self, st: State, term: Turn, index: int) -> None:
        macro = term.macro
        loop = self.callees.loop(macro.name)
        st.holds = tuple(h for h in st.holds if h.scope != -index - 1)
        assigns = loop.assigns if loop is not None else 0
        element = macro.args[assigns] if 0 <= assigns < len(macro.args) else None
        if loop is None and isinstance(element, Name) and self.calls.keeps(st, st.env.get(element.id, -1)):
            element = None  # no cursor: a walk of what it points to
        for at, arg in enumerate(macro.args):
            if at != assigns and not isinstance(arg, Name):
                self.machine.value(st, arg)
        over = st.copy()
        over.mark("end", term.pos, macro.name)
        if element is not None:
            self._element(over, element, term.pos, "end")
            if loop is not None and loop.family:
                self.machine.store(over, element, 0, term.pos)
        self._go(term.exit, over)
        st.mark("turn", term.pos, macro.name)
        if element is not None:
            value = self._element(st, element, term.pos, "turn")
            if loop is not None:
                self._hold_element(st, term, index, value, self.machine.text(element))
        for at in loop.scratch if loop is not None else ():
            if at < len(macro.args):
                self._element(st, macro.args[at], term.pos, f"scratch{at}")
        self._go(term.body, st)

    def _element(self, st: State, element: Expr, pos: int, tag: str) -> Value:
        self.machine.target = element.id if isinstance(element, Name) else ""
        value = self.machine.fresh(st, pos, tag)
        self.machine.target = ""
        self.machine.store(st, element, value, pos)
        return value

    def _hold_element(self, st: State, term: Turn, index: int, value: Value, text: str) -> None:
        loop = self.callees.loop(term.macro.name)
        if loop is None:
            return
        if loop.non_null:
            self.facts.narrow(st, value, POS)
        if loop.tag:
            st.tags[value] = (loop.tag, term.pos)
        if loop.family and not loop.drops_itself:
            obj = value
            for field in filter(None, loop.held.split(".")):
                obj = self.machine.load(st, self.values.make("f", obj, field))
            site = Site(term.pos, loop.family, term.macro.name, text, "loop")
            self.calls.holds.acquire(st, Hold(loop.family, obj, term.pos, scope=-index - 1, owned=True), site)

    def _choice(self, st: State, term: Choice, index: int) -> None:
        for target in term.targets[1:]:
            other = st.copy()
            other.mark("choice", term.pos, "jumps")
            self._go(target, other)
        self._go(term.targets[0], st)

    def _halt(self, st: State, term: Halt, index: int) -> None:
        """Nothing leaves."""

    def _leave(self, st: State, term: Leave, index: int) -> None:
        value, mask = -1, 0
        returned: tuple[Hold, ...] = ()
        if term.value is not None:
            self.machine.target_text = "the result"
            value = self.machine.value(st, term.value)
            self.machine.target_text = ""
            if self.calls.stops:
                return
            mask = self.leaving.classes(st, value)
            self.facts.settle(st)
            returned = self.leaving.returned(st, value) if mask & POS else ()
        self.leaving.leave(st, term, value, mask, returned)


_OPS: Final[dict[type[Op], Callable[..., None]]] = {
    Evaluate: _Explorer._evaluate,
    Decl: _Explorer._decl,
    EnterGuard: lambda explorer, st, op: enter_guard(explorer.calls, st, op),
    LeaveGuard: lambda explorer, st, op: leave_guard(explorer.calls, st, op),
    Cleanup: lambda explorer, st, op: cleanup(explorer.calls, st, op),
    Havoc: _Explorer._havoc,
}
_TERMS: Final[dict[type, Callable[..., None]]] = {
    Jump: _Explorer._jump,
    Branch: _Explorer._branch,
    Select: _Explorer._select,
    Turn: _Explorer._turn,
    Choice: _Explorer._choice,
    Halt: _Explorer._halt,
    Leave: _Explorer._leave,
}
