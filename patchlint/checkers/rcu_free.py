"""Objects taken away from RCU readers: unlinked first, freed only after a grace period."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from patchlint.cfg import Branch, Cfg, Leave, Op, Select, Turn, build, render, walk
from patchlint.checkers.context import FunctionContext
from patchlint.checkers.function_fault import FunctionFault, step
from patchlint.dataflow import PathReport
from patchlint.ir import Assign, Call, Cast, Decl, Evaluate, Expr, Member, Name, Unary
from patchlint.model import Confidence

CHECKER: Final = "rcu"

_WAITS: Final = re.compile(r"^synchronize_|rcu_barrier|_synchronize|quiesce")
_RELEASES: Final = re.compile(r"(?:^|_)(?:release|free|destroy|destructor)$")
_REPLACES: Final = frozenset(("rcu_replace_pointer", "rcu_swap_protected"))
_GONE: Final = ("unlinked", "replaced")
_ASSIGNS: Final = frozenset(("rcu_assign_pointer", "RCU_INIT_POINTER"))
_LOADS: Final = re.compile(r"dereference|rcu_access_pointer")
_SLAB: Final = "kmem_cache_free"
"""What a slab frees may be of a cache that RCU readers are safe on (SLAB_TYPESAFE_BY_RCU)."""
_SWEEPS: Final = 6


class Away(NamedTuple):
    """Something readers can no longer find but may still use.

    ``how`` is "unlinked", "replaced" or, for what was handed to a deferred free, "handed"; "loaded" are variables
    that hold what the RCU pointer ``source`` points to; "waited" is no object, but that what was away before, perhaps
    the container of all that follows, has no readers left.
    """

    object: str
    how: str
    pos: int
    by: str
    source: str = ""


_State: TypeAlias = frozenset[Away]


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Faults in the order of unlinking, waiting and freeing."""
    if ctx.function.name in ctx.file.unbarred:
        yield _no_barrier(ctx)
    words = ctx.ruleset.models.table("rcu")
    text = ctx.source[ctx.function.start : ctx.function.end]
    unlinks = (*words.get("unpublish", ()), *_ASSIGNS, *_REPLACES)
    if not any(word.encode() in text for word in unlinks) or _after_grace_period(ctx):
        return
    for variant in ctx.function.variants:
        yield from _Order(ctx, build(variant, lambda _: -1), words).faults()


def _no_barrier(ctx: FunctionContext) -> FunctionFault:
    name = ctx.function.name
    caches = b"kmem_cache_destroy" in ctx.source[ctx.function.start : ctx.function.end]
    ends = "destroys a cache" if caches else "ends the module"
    message = f"{name}() {ends} but does not wait with rcu_barrier() for the callbacks of its call_rcu() calls"
    steps = (step(ctx, ctx.function.start, f"when {name}() returns, the code of the callbacks is gone"),)
    sure: Confidence = "low" if ctx.mode == "tree" else "medium"
    return FunctionFault(CHECKER, "no-barrier", "", ctx.function.start, name, message, steps, sure, "module_exit")


def _after_grace_period(ctx: FunctionContext) -> bool:
    """A callback of call_rcu(), or code that runs when there are no readers."""
    head, _, _ = ctx.source[ctx.function.start : ctx.function.end].partition(b"{")
    return b"__init" in head or any("rcu_head" in param.type for param in ctx.function.params)


class _Order:
    """Forward analysis of one variant: what is away from readers with no grace period since, on some path."""

    def __init__(self, ctx: FunctionContext, cfg: Cfg, words: Mapping[str, tuple[str, ...]]) -> None:
        self.ctx = ctx
        self.cfg = cfg
        self.unlinks = frozenset(words.get("unpublish", ()))
        self.waits = frozenset(words.get("wait", ()))
        self.defers = frozenset(words.get("deferred_free", ()))
        self.found: dict[tuple[int, str], FunctionFault] = {}

    def faults(self) -> Iterator[FunctionFault]:
        """Faults on any path."""
        entering: list[_State | None] = [None] * len(self.cfg.blocks)
        entering[0] = frozenset()
        for _ in range(_SWEEPS):
            changed = False
            for at, block in enumerate(self.cfg.blocks):
                now = entering[at]
                if now is None:
                    continue
                for op in block.ops:
                    now = self._op(op, now)
                now = self._term(block.term, now)
                for target in self.cfg.successors(at):
                    was = entering[target]
                    met = now if was is None else was | now
                    changed |= met != was
                    entering[target] = met
            if not changed:
                break
        yield from self.found.values()

    def _op(self, op: Op, now: _State) -> _State:
        if isinstance(op, Evaluate):
            return self._expr(op.expr, now)
        if isinstance(op, Decl):
            if op.init is None:
                return _forget(now, op.name)
            return self._expr(Assign("=", Name(op.name, op.pos), op.init, op.pos), now)
        return now

    def _term(self, term: object, now: _State) -> _State:
        if isinstance(term, Turn):
            for arg in term.macro.args:
                if isinstance(arg, Name):
                    now = _forget(now, arg.id)
            return now
        expr = term.test if isinstance(term, Branch) else term.value if isinstance(term, Select | Leave) else None
        return now if expr is None else self._expr(expr, now)

    def _expr(self, expr: Expr, now: _State) -> _State:
        for call in [node for node in walk(expr) if isinstance(node, Call)]:
            now = self._call(call, now)
        if isinstance(expr, Assign) and isinstance(expr.target, Name):
            now = _forget(now, expr.target.id)
            away = self._assigned(expr.target.id, expr.value)
            now = now if away is None else now | {away}
        return now

    def _assigned(self, name: str, value: Expr) -> Away | None:
        """What a variable holds after it was given ``value``."""
        if not isinstance(value, Call) or not value.args:
            return None
        if value.name in _REPLACES:
            return Away(name, "replaced", value.pos, value.name)
        if _LOADS.search(value.name):
            return Away(name, "loaded", value.pos, value.name, render(value.args[0]))
        return None

    def _call(self, call: Call, now: _State) -> _State:
        if call.name in self.waits or _WAITS.search(call.name) or self._may_wait(call.name):
            waited = {Away("", "waited", call.pos, call.name)} if any(away.how in _GONE for away in now) else set()
            return frozenset(away for away in now if away.how in ("loaded", "waited")) | waited
        if not call.args:
            return now
        if call.name in _ASSIGNS:
            source = render(call.args[0])
            old = [away for away in now if away.how == "loaded" and away.source == source]
            kept = frozenset(away for away in now if away not in old)
            given = render(call.args[1]) if len(call.args) > 1 else ""
            return kept | {Away(a.object, "replaced", call.pos, call.name) for a in old if a.object != given}
        if call.name in self.unlinks:
            owner = _owner(call.args[0])
            self._late(call, owner, now)
            return now | {Away(owner, "unlinked", call.pos, call.name)} if owner else now
        if call.name in self.defers:
            owner = _owner(call.args[0])
            return _forget(now, owner) | {Away(owner, "handed", call.pos, call.name)} if owner else now
        self._freed(call, now)
        return now

    def _may_wait(self, name: str) -> bool:
        """A callee that sleeps may be waiting for readers."""
        summary = self.ctx.callees.summary(name) if name else None
        return summary is not None and summary.origin == "body" and summary.sleeps == "yes"

    def _freed(self, call: Call, now: _State) -> None:
        at = self._freed_argument(call)
        if at < 0:
            return
        owner = _plain(call.args[at])
        for away in now:
            if away.object == owner and away.how in _GONE:
                inner = self.ctx.mode == "tree" and any(one.how == "waited" for one in now)
                self._report(call, away, "freed-early", f"'{owner}' is freed while RCU readers may still use it: no "
                             f"grace period since {away.by}()", f"freed by {render(call.func)}()",
                             "low" if inner else "medium")  # fmt: skip

    def _freed_argument(self, call: Call) -> int:
        """Which argument the call frees at once; -1 for none."""
        if not call.name:
            return 0 if self._own_release(call) else -1
        summary = self.ctx.callees.summary(call.name) if call.name != _SLAB else None
        for effect in summary.effects if summary is not None and summary.origin == "model" else ():
            family = self.ctx.callees.family(effect.resource)
            if effect.action == "release" and effect.frees and family is not None and family.kind == "mem":
                plain = effect.place.root == "arg" and not effect.place.path and effect.place.index < len(call.args)
                return effect.place.index if plain else -1
        return -1

    def _own_release(self, call: Call) -> bool:
        """``object->release(object)``: the object's own way to be freed, not that of a table of operations."""
        match call.func:
            case Member(base, field, _, _):
                return bool(_RELEASES.search(field)) and render(base) == _plain(call.args[0])
        return False

    def _late(self, call: Call, owner: str, now: _State) -> None:
        for away in now:
            if away.object == owner and away.how == "handed":
                self._report(call, away, "unlinked-late", f"'{owner}' is handed to {away.by}() while readers can still "
                             "find it; unlink it first", f"unlinked only here by {call.name}()")  # fmt: skip

    def _report(self, call: Call, away: Away, fault: str, message: str, last: str, sure: Confidence = "medium") -> None:
        how = "handed over" if away.how == "handed" else away.how
        steps = (step(self.ctx, away.pos, f"'{away.object}' is {how} by {away.by}()"), step(self.ctx, call.pos, last))
        name = call.name or render(call.func)
        key = (call.pos, away.object)
        self.found.setdefault(key, FunctionFault(
            CHECKER, fault, "", call.pos, away.object, message, steps, sure, f"{away.by}|{name}"
        ))  # fmt: skip


def _forget(now: _State, name: str) -> _State:
    """The state after the variable (or object) ``name`` was given something else."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    kept = (away for away in now if not word.search(away.object) and not word.search(away.source))
    return frozenset(kept) if any(word.search(away.object + " " + away.source) for away in now) else now


def _plain(expr: Expr) -> str:
    while isinstance(expr, Cast):
        expr = expr.operand
    return render(expr)


def _owner(expr: Expr) -> str:
    """The object of which ``&object->node.next`` is a part; "" where none can be told."""
    while isinstance(expr, Cast):
        expr = expr.operand
    if isinstance(expr, Name):
        return expr.id
    if isinstance(expr, Unary) and expr.op == "&":
        inner = expr.operand
        while isinstance(inner, Member) and not inner.arrow:
            inner = inner.base
        if isinstance(inner, Member):
            return render(inner.base)
        return f"&{render(inner)}"
    return ""
