"""What is held for certain at a call: locks and sections that every path to it has open (a must analysis)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from patchlint.cfg import Branch, EnterGuard, Leave, LeaveGuard, Op, Turn, walk
from patchlint.checkers.standing import Standing
from patchlint.effects import ANY, GuardClass, Summary
from patchlint.ir import Call, Decl, Evaluate, Expr

SWEEPS: Final = 10


class Hold(NamedTuple):
    """Something open: the family of the hold, what it makes of the context, and where it was opened."""

    family: str
    context: str
    pos: int
    word: str = ""


Holds: TypeAlias = frozenset[Hold]
Knows: TypeAlias = Callable[[str], Summary | None]
Guards: TypeAlias = Callable[[str], GuardClass | None]


def held_at(placed: Standing, calls: frozenset[Call], summary: Knows, guard: Guards) -> dict[Call, Holds]:
    """For each of ``calls``, what is open when it runs. A branch's own test is left out of account."""
    blocks = placed.cfg.blocks
    entering: list[Holds | None] = [None] * len(blocks)
    entering[0] = frozenset()
    for _ in range(SWEEPS):
        changed = False
        for at, block in enumerate(blocks):
            now = entering[at]
            if now is None:
                continue
            for op in block.ops:
                now = _after(op, now, summary, guard)
            now = _ended(block.term, now, summary)
            for target in placed.cfg.successors(at):
                was = entering[target]
                met = now if was is None else _meet(was, now)
                if met != was:
                    entering[target] = met
                    changed = True
        if not changed:
            break
    return dict(_collect(placed, entering, calls, summary, guard))


def _collect(
    placed: Standing, entering: list[Holds | None], calls: frozenset[Call], summary: Knows, guard: Guards
) -> Iterator[tuple[Call, Holds]]:
    for at, block in enumerate(placed.cfg.blocks):
        now = entering[at] or frozenset()
        for op in block.ops:
            for call in _calls(op):
                if call in calls:
                    yield call, now
            now = _after(op, now, summary, guard)
        for call in _in_term(block.term):
            if call in calls:
                yield call, now


def _meet(one: Holds, other: Holds) -> Holds:
    families = {(hold.family, hold.context) for hold in one} & {(hold.family, hold.context) for hold in other}
    return frozenset(hold for hold in one if (hold.family, hold.context) in families)


def _after(op: Op, now: Holds, summary: Knows, guard: Guards) -> Holds:
    if isinstance(op, EnterGuard):
        kind = guard(op.name)
        if kind is not None and not kind.conditional:
            return now | {Hold(f"{kind.family}#{op.ident}", kind.context, op.pos, op.name)}
        return now
    if isinstance(op, LeaveGuard):
        return frozenset(hold for hold in now if not hold.family.endswith(f"#{op.ident}"))
    for call in _calls(op):
        now = _called(call, now, summary)
    return now


def _ended(term: object, now: Holds, summary: Knows) -> Holds:
    for call in _in_term(term):
        now = _called(call, now, summary)
    return now


def _called(call: Call, now: Holds, summary: Knows) -> Holds:
    known = summary(call.name) if call.name else None
    for effect in known.effects if known is not None else ():
        if effect.action == "acquire" and effect.when == ANY:
            now = now | {Hold(effect.resource, effect.context, call.pos, call.name)}
        elif effect.action == "release":
            now = frozenset(hold for hold in now if hold.family != effect.resource)
    return now


def _calls(op: Op) -> Iterator[Call]:
    expr: Expr | None = op.expr if isinstance(op, Evaluate) else op.init if isinstance(op, Decl) else None
    if expr is not None:
        yield from (node for node in walk(expr) if isinstance(node, Call))


def _in_term(term: object) -> Iterator[Call]:
    expr: Expr | None = None
    if isinstance(term, Branch):
        expr = term.test
    elif isinstance(term, Leave):
        expr = term.value
    elif isinstance(term, Turn):
        expr = term.macro
    if expr is not None:
        yield from (node for node in walk(expr) if isinstance(node, Call))
