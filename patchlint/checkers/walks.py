"""Lists walked on from an element that nothing kept: the lock was let go of and taken again inside the loop."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from patchlint.cfg import Cfg, EnterGuard, LeaveGuard, Op, Turn, build, render, walk
from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evaluated import assigned, statements
from patchlint.checkers.function_fault import FunctionFault, step
from patchlint.checkers.protection import lock_promised, protects
from patchlint.dataflow import PathReport
from patchlint.ir import (
    Assign,
    Call,
    Compound,
    Decl,
    Evaluate,
    Expr,
    ForEach,
    Function,
    Label,
    Member,
    Name,
    Unary,
)

CHECKER: Final = "pairing"

_LISTS: Final = re.compile(r"(?:list|sk|hlist|nulls)_for_each")
_KEEPS: Final = re.compile(
    r"(?:get|grab|hold|ref)$|(?:^|_)(?:get|hold|ref|refcount|grab|pin|take|inc|claim|acquire|tryget|use|busy|active|reference|kref|"
    r"del|move|remove|unlink|detach|splice|erase|replace|dequeue|add|insert|rotate|free|put|release|destroy)(?:_|$)"
    r"|(?:^|_)(?:set|test)_(?:\w+_)?(?:bit|flag|state)(?:_|$)"
)
"""Names of calls that may keep the element alive, or take it off the list, or mark it for those who would."""
_STEPS: Final = frozenset(("++", "--", "p++", "p--"))
_SWEEPS: Final = 8


class Fact(NamedTuple):
    """What holds on some path.

    "held": ``lock`` is; "inside": a walk of ``cursor`` began under ``lock``; "kept": something was done that may keep
    the element; "open": at ``pos`` the walk's ``lock`` was let go of and nothing kept the element.
    """

    what: str
    cursor: str = ""
    lock: str = ""
    pos: int = 0


_State: TypeAlias = frozenset[Fact]


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Walks of lists that go on after their lock was dropped in between."""
    if not any(isinstance(stmt, ForEach) and _LISTS.search(stmt.macro.name) for stmt in statements(ctx.function)):
        return
    if lock_promised(ctx, report) or any(protects(ctx, name) for name in ctx.held_by_callers):
        return
    for variant in ctx.function.variants:
        yield from _Walks(ctx, build(variant, lambda _: -1)).faults()


class _Walks:
    """Forward analysis of one variant."""

    def __init__(self, ctx: FunctionContext, cfg: Cfg) -> None:
        self.ctx = ctx
        self.cfg = cfg
        mine = {stmt.name for stmt in statements(ctx.function) if isinstance(stmt, Decl)}
        labelled = _labelled(ctx.function)
        self.cursors = {
            at: cursor
            for at, block in enumerate(cfg.blocks)
            if isinstance(block.term, Turn) and block.term.macro.pos not in labelled
            and (cursor := self._cursor(block.term.macro)) in mine
        }  # fmt: skip
        self.before = {at: cfg.entered_without({at}) for at in self.cursors}
        """For the head of each walk the blocks that can be reached without it: from there a walk begins anew."""
        self.aliases = _aliases(ctx, frozenset(self.cursors.values()))
        self.found: dict[tuple[int, str], FunctionFault] = {}

    def _cursor(self, macro: Call) -> str:
        """The variable that walks over a list, by a loop that keeps nothing itself; "" for other loops."""
        loop = self.ctx.callees.loop(macro.name)
        if loop is None or loop.family or loop.scratch or not 0 <= loop.assigns < len(macro.args):
            return ""
        element = macro.args[loop.assigns]
        return element.id if _LISTS.search(macro.name) and isinstance(element, Name) else ""

    def faults(self) -> Iterator[FunctionFault]:
        """Faults on any path."""
        entering: list[_State | None] = [None] * len(self.cfg.blocks)
        entering[0] = frozenset()
        for _ in range(_SWEEPS if self.cursors else 0):
            changed = False
            for at, now in enumerate(entering):
                if now is None:
                    continue
                for target, after in self._through(at, now):
                    was = entering[target]
                    met = after if was is None else was | after
                    changed |= met != was
                    entering[target] = met
            if not changed:
                break
        yield from self.found.values()

    def _through(self, at: int, now: _State) -> Iterator[tuple[int, _State]]:
        block = self.cfg.blocks[at]
        for op in block.ops:
            now = self._op(op, now)
        term = block.term
        if isinstance(term, Turn) and at in self.cursors:
            yield term.body, self._turn(term, self.cursors[at], now)
            yield term.exit, _forget(now, self.cursors[at])
            return
        expr = getattr(term, "test", None) or getattr(term, "value", None)
        now = now if expr is None else self._expr(expr, now)
        for target in self.cfg.successors(at):
            begins = target in self.cursors and at in self.before[target]
            yield target, _forget(now, self.cursors[target]) if begins else now

    def _turn(self, term: Turn, cursor: str, now: _State) -> _State:
        """One more turn: bad where the lock is held again and the last element may be gone."""
        held = {fact.lock for fact in now if fact.what == "held"}
        for fact in now:
            if fact.what == "open" and fact.cursor == cursor and fact.lock in held:
                self._report(term, fact)
        inside = {fact for fact in now if fact.what == "inside" and fact.cursor == cursor}
        if not inside:
            own = re.compile(rf"\b{re.escape(cursor)}\b")
            inside = {Fact("inside", cursor, lock) for lock in held if not own.search(lock)} | {Fact("inside", cursor)}
        return _forget(now, cursor) | inside

    # -------------------------------------------------------------- straight code

    def _op(self, op: Op, now: _State) -> _State:
        if isinstance(op, Evaluate):
            return self._expr(op.expr, now)
        if isinstance(op, Decl) and op.init is not None:
            return self._expr(Assign("=", Name(op.name, op.pos), op.init, op.pos), now)
        if isinstance(op, EnterGuard):
            return now | {Fact("held", lock=f"guard {op.ident}")}
        if isinstance(op, LeaveGuard):
            return now - {Fact("held", lock=f"guard {op.ident}")}
        return now

    def _expr(self, expr: Expr, now: _State) -> _State:
        for node in reversed(walk(expr)):
            if isinstance(node, Call):
                now = self._call(node, now)
            elif isinstance(node, Assign) and isinstance(node.target, Name):
                now = _forget(now, node.target.id)
            elif isinstance(node, Assign):
                now = self._kept(now, (node.target,) if isinstance(node.target, Member) else ())
            elif isinstance(node, Unary) and node.op in _STEPS:
                now = self._kept(now, (node.operand,))
        return now

    def _call(self, call: Call, now: _State) -> _State:
        changes = tuple(self._locks(call))
        if not changes:
            return self._kept(now, call.args) if _KEEPS.search(call.name) else now
        for taken, lock in changes:
            held = Fact("held", lock=lock)
            now = now | {held} if taken else self._let_go(call, lock, now - {held})
        return now

    def _locks(self, call: Call) -> Iterator[tuple[bool, str]]:
        """(taken or not, lock) for each lock or section that the call changes."""
        summary = self.ctx.callees.summary(call.name) if call.name else None
        for effect in summary.effects if summary is not None else ():
            if effect.action in ("acquire", "release") and protects(self.ctx, effect.resource):
                at = effect.place.index
                text = render(call.args[at]) if effect.place.root == "arg" and at < len(call.args) else effect.resource
                yield effect.action == "acquire", text

    def _let_go(self, call: Call, lock: str, now: _State) -> _State:
        if any(fact.what == "held" for fact in now):
            return now
        walks = {fact.cursor for fact in now if fact.what == "inside" and fact.lock == lock}
        settled = {fact.cursor for fact in now if fact.what in ("kept", "open")}
        return now | {Fact("open", cursor, lock, call.pos) for cursor in walks - settled}

    def _kept(self, now: _State, given: Iterable[Expr]) -> _State:
        """The state after something was done to what the expressions lead to, which may keep it."""
        names = {node.id for expr in given for node in walk(expr) if isinstance(node, Name)}
        open_ = {fact.cursor for fact in now if fact.what == "open"}
        kept = {cursor for cursor, also in self.aliases.items() if names & also and cursor not in open_}
        return now | {Fact("kept", cursor) for cursor in kept}

    def _report(self, term: Turn, fact: Fact) -> None:
        cursor, lock = fact.cursor, fact.lock
        message = f"the walk goes on from '{cursor}' after '{lock}' was released and taken again; nothing kept it"
        steps = (
            step(self.ctx, term.pos, f"{term.macro.name}() walks under '{lock}'"),
            step(self.ctx, fact.pos, f"'{lock}' is released; from here on '{cursor}' may be removed and freed"),
        )
        self.found.setdefault((fact.pos, cursor), FunctionFault(
            CHECKER, "walked-on", "", fact.pos, cursor, message, steps, "medium", lock
        ))  # fmt: skip


def _labelled(function: Function) -> frozenset[int]:
    """Places of loops right behind a label: a jump there cannot be told from one more turn."""
    return frozenset(
        after.macro.pos
        for stmt in statements(function)
        if isinstance(stmt, Compound)
        for label, after in pairwise(stmt.body)
        if isinstance(label, Label) and isinstance(after, ForEach)
    )


def _forget(now: _State, cursor: str) -> _State:
    """The state after ``cursor`` was given something else."""
    return frozenset(fact for fact in now if fact.cursor != cursor) if any(f.cursor == cursor for f in now) else now


def _aliases(ctx: FunctionContext, cursors: frozenset[str]) -> dict[str, frozenset[str]]:
    """For each cursor the variables that are, somewhere, given something made of it."""
    found = {cursor: {cursor} for cursor in cursors}
    assigns = [
        (name, {inner.id for inner in walk(value) if isinstance(inner, Name)})
        for name, value in (assigned(ctx.function) if cursors else ())
        if name not in cursors
    ]
    for _ in range(2):
        for target, sources in assigns:
            for also in found.values():
                if sources & also:
                    also.add(target)
    return {cursor: frozenset(also) for cursor, also in found.items()}
