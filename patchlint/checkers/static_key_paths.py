"""KEY003: ways out of a set-up that fail after the increment and do not take it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from patchlint.cfg import Block, Branch, Leave, Turn, walk
from patchlint.checkers.canonical import literal, strip
from patchlint.checkers.conditions import OWNED, common
from patchlint.checkers.standing import Standing
from patchlint.checkers.static_key_pairs import marks
from patchlint.checkers.static_key_sites import KeyFacts, KeySite
from patchlint.checkers.static_key_state import step
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import TreeView
from patchlint.ir import Assign, Binary, Call, Decl, Evaluate, Expr, Name, Num, Unary
from patchlint.model import Step

MAX_STEPS: Final = 4000
"""Blocks visited on all paths of one function before it is given up (towards silence)."""

_ERROR_VALUES: Final = frozenset(("ERR_PTR", "ERR_CAST", "dev_err_probe", "PTR_ERR"))


class _State(NamedTuple):
    """A block to visit, the variables that hold a failure, and the step at which things went wrong."""

    block: int
    failed: frozenset[str]
    turn: int


class Failure(NamedTuple):
    """A failing way out: where it turned and where it left."""

    turn: int
    leave: int


def failing_paths(view: TreeView, facts: KeyFacts, complete: bool) -> Iterator[TreeFault]:
    """Increments in functions that may fail afterwards without undoing them."""
    decs = facts.having("dec", "disable")
    if not decs and not complete:
        return
    undoing = frozenset(site.function for site in decs)
    for inc in facts.having("inc"):
        if inc.place is None or not inc.whole or _kept_by_owner(inc, decs):
            continue
        failure = first_failure(inc, undoing | _wrappers(view, decs))
        if failure is not None:
            yield _fault(view, inc, failure)


def first_failure(inc: KeySite, undoing: frozenset[str]) -> Failure | None:
    """The shortest failing way out after ``inc`` on which no decrement and no call of ``undoing`` lies."""
    if inc.place is None:
        return None
    placed, stand = inc.place
    facts = {lit.atom: lit.holds for lit in common(inc.condition) | marks(inc) if not lit.old}
    start = placed.cfg.blocks[stand.block]
    begin = _after_call(start, stand.call, placed, undoing, inc.key)
    if begin is None:
        return None
    work = list(_onward(start, frozenset(begin), 0, placed, facts))
    seen: set[tuple[int, frozenset[str]]] = set()
    for state in work:
        if (state.block, state.failed) in seen:
            continue
        seen.add((state.block, state.failed))
        if len(seen) > MAX_STEPS:
            return None
        block = placed.cfg.blocks[state.block]
        failed = _through(block, state.failed, undoing, inc.key)
        if failed is None:
            continue
        if isinstance(block.term, Leave):
            if _fails(block.term.value, failed):
                return Failure(state.turn or block.term.pos, block.term.pos)
            continue
        work.extend(_onward(block, failed, state.turn, placed, facts))
    return None


def _kept_by_owner(inc: KeySite, decs: tuple[KeySite, ...]) -> bool:
    """Whether the set-up notes on the object that it counted and some other function's decrement asks that note."""
    noted = {lit.atom for lit in marks(inc)} - {lit.atom for lit in common(inc.condition) if lit.kind != "bit"}
    return any(
        lit.atom in noted
        for dec in decs
        if (dec.path, dec.function) != (inc.path, inc.function)
        for lit in common(dec.condition)
        if lit.kind in OWNED
    )


def _wrappers(view: TreeView, decs: tuple[KeySite, ...]) -> frozenset[str]:
    """Functions that call one that decrements."""
    places = dict.fromkeys((site.function, site.path) for site in decs)
    return frozenset(call.function for place in places for call in view.callers(*place) if call.function)


def _onward(
    block: Block, failed: frozenset[str], turn: int, placed: Standing, facts: dict[str, bool]
) -> Iterator[_State]:
    """Where the path goes on: only the arm that agrees with what is known since the increment."""
    term = block.term
    if not isinstance(term, Branch):
        for target in placed.cfg.successors(placed.cfg.blocks.index(block)):
            yield _State(target, failed, turn)
        return
    for target, holds in ((term.true, True), (term.false, False)):
        lit = literal(term.test, holds, placed.names)
        if facts.get(lit.atom, lit.holds) != lit.holds:
            continue
        var = _tested(term.test)
        now = failed
        if var:
            bad = _failure_when(term.test, holds)
            if bad is False and var in failed and isinstance(term.test, Name):
                continue
            now = failed | {var} if bad else failed - {var} if bad is False else failed
        yield _State(target, now, term.pos)


def _after_call(
    block: Block, call: Call, placed: Standing, undoing: frozenset[str], key: str
) -> frozenset[str] | None:
    """Variables that hold a failure at the end of the increment's own block; None when it undoes itself there."""
    later = False
    failed: frozenset[str] = frozenset()
    for op in block.ops:
        expr = op.expr if isinstance(op, Evaluate) else op.init if isinstance(op, Decl) else None
        calls = [node for node in walk(expr) if isinstance(node, Call)] if expr is not None else []
        if later and any(_undoes(c, undoing) for c in calls):
            return None
        later = later or any(c is call for c in calls)
        failed = _assigned(op, failed)
    return failed


def _through(block: Block, failed: frozenset[str], undoing: frozenset[str], key: str) -> frozenset[str] | None:
    """Variables that hold a failure after the block; None when the increment is taken back in it."""
    for op in block.ops:
        expr = op.expr if isinstance(op, Evaluate) else op.init if isinstance(op, Decl) else None
        if expr is not None and any(isinstance(node, Call) and _undoes(node, undoing) for node in walk(expr)):
            return None
        failed = _assigned(op, failed)
    term = block.term
    ends = term.value if isinstance(term, Leave) else term.test if isinstance(term, Branch) else None
    if isinstance(term, Turn):
        ends = term.macro
    if ends is not None and any(isinstance(node, Call) and _undoes(node, undoing) for node in walk(ends)):
        return None
    return failed


def _undoes(call: Call, undoing: frozenset[str]) -> bool:
    """A decrement of a key, or a call of a function that makes one."""
    return call.name in undoing or ("static_" in call.name and ("_dec" in call.name or "_disable" in call.name))


def _assigned(op: object, failed: frozenset[str]) -> frozenset[str]:
    if isinstance(op, Evaluate) and isinstance(op.expr, Assign) and isinstance(op.expr.target, Name):
        name, value = op.expr.target.id, op.expr.value
    elif isinstance(op, Decl) and op.init is not None:
        name, value = op.name, op.init
    else:
        return failed
    value = strip(value)
    if isinstance(value, Name) and value.id in failed:
        return failed | {name}
    if isinstance(value, Call) and value.name == "PTR_ERR":
        return failed | {name}
    return failed | {name} if _is_error(value) else failed - {name}


def _fails(value: Expr | None, failed: frozenset[str]) -> bool:
    if value is None:
        return False
    value = strip(value)
    if isinstance(value, Name):
        return value.id in failed
    if isinstance(value, Call):
        return value.name in _ERROR_VALUES
    return _is_error(value)


def _is_error(value: Expr) -> bool:
    """A negative constant: ``-ENOMEM``."""
    if isinstance(value, Unary) and value.op == "-":
        inner = value.operand
        return (isinstance(inner, Name) and inner.id.startswith("E") and inner.id.isupper()) or isinstance(inner, Num)
    return isinstance(value, Num) and value.value is not None and value.value < 0


def _tested(test: Expr) -> str:
    """The variable whose success a test asks: ``ret``, ``ret < 0``, ``IS_ERR(p)``."""
    test = strip(test)
    for node in walk(test):
        if isinstance(node, Name) and node.id not in ("IS_ERR", "IS_ERR_OR_NULL"):
            simple = node is test or (
                not isinstance(test, Call) and not any(isinstance(other, Call) for other in walk(test))
            )
            called = isinstance(test, Call) and test.name in ("IS_ERR", "IS_ERR_OR_NULL")
            return node.id if simple or called else ""
    return ""


def _failure_when(test: Expr, holds: bool) -> bool | None:
    """Whether the variable tested holds a failure on this arm; None when the test does not tell."""
    test = strip(test)
    if isinstance(test, Call):
        return holds
    if isinstance(test, Name):
        return holds if test.id.startswith(("r", "e", "st")) else None
    if isinstance(test, Binary) and test.op in ("<", "!="):
        return holds
    if isinstance(test, Binary) and test.op in (">=", "=="):
        return not holds
    return None


def _fault(view: TreeView, inc: KeySite, failure: Failure) -> TreeFault:
    lines = [_line(view, inc, pos) for pos in (failure.turn, failure.leave)]
    trace = (
        step(inc),
        Step(inc.path, lines[0], "fails here"),
        Step(inc.path, lines[1], f"{inc.function} leaves with an error, the increment stays"),
    )
    message = f"static key {inc.key} stays incremented when {inc.function} fails after it"
    return TreeFault(
        "failing-path", "high", message, inc.path, lines[1], 1, inc.function, inc.key, trace, inc.config,
    )  # fmt: skip


def _line(view: TreeView, inc: KeySite, pos: int) -> int:
    for piece in view.pieces(inc.path):
        for head in piece.unit.heads:
            if head.name == inc.function and head.start <= pos <= head.end:
                return piece.file_line(pos)
    return inc.line


