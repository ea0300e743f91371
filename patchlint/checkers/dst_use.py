"""DST002: the answer of a check is thrown away, or the old pointer is used as if the route still stood."""

from __future__ import annotations

from collections.abc import Iterator

from patchlint.cfg import walk
from patchlint.checkers.canonical import Names, atom, strip
from patchlint.checkers.conditions import Condition, common
from patchlint.checkers.dst_calls import Check, checks
from patchlint.checkers.dst_words import DstWords
from patchlint.checkers.standing import Stand, Standing, reachable
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece
from patchlint.ir import Expr, Name
from patchlint.model import Confidence, Step


def ignored_checks(piece: Piece, placed: Standing, words: DstWords) -> Iterator[TreeFault]:
    """Checks whose result nobody looks at."""
    for check in checks(placed, words):
        call = check.stand.call
        silent = check.stand.unused and (check.route is not None or check.name in words.held_checks)
        if silent:
            line = piece.file_line(call.pos)
            held = " and the reference that it gives" if check.name in words.held_checks else ""
            message = f"result of {check.name}(){held} is ignored: a route that no longer stands stays in use"
            yield _fault(piece, placed, check, line, "high", message, (Step(piece.path, line, "result thrown away"),))


def stale_uses(piece: Piece, placed: Standing, words: DstWords) -> Iterator[TreeFault]:
    """The pointer that was asked about is used where the check has said no, or nobody has looked at the answer."""
    for check in checks(placed, words):
        route = strip(check.route) if check.route is not None else None
        if not isinstance(route, Name) or check.stand.unused:
            continue
        target = check.stand.target
        if isinstance(target, Name) and target.id == route.id:
            continue
        for use in placed.stands:
            if _uses(use, route.id, words) and _stale(check, use, route.id, placed):
                yield _stale_fault(piece, placed, check, use, route.id)
                break


def _uses(use: Stand, name: str, words: DstWords) -> bool:
    return use.call.name in words.uses and any(_is_pointer(arg, name) for arg in use.call.args)


def _is_pointer(arg: Expr, name: str) -> bool:
    arg = strip(arg)
    return isinstance(arg, Name) and arg.id == name


def _stale(check: Check, use: Stand, name: str, placed: Standing) -> bool:
    call = check.stand.call
    after = use.block in reachable(placed.cfg, check.stand.block) or (
        use.block == check.stand.block and use.call.pos > call.end
    )
    if not after or _set_between(placed.names, name, call.pos, use.call.pos):
        return False
    target = check.stand.target
    if isinstance(target, Name):
        return not _said_yes(use.condition, target.id)
    answer = atom(call, placed.names)
    return any(lit.atom == answer and not lit.holds for lit in common(use.condition, True))


def _said_yes(condition: Condition, name: str) -> bool:
    """Whether the variable that holds the answer is known to be good."""
    return any(name in lit.roots or lit.atom == name for term in condition for lit in term if lit.holds)


def _set_between(names: Names, name: str, start: int, end: int) -> bool:
    return any(start < at < end for at in names.stored.get(name, ()))


def _stale_fault(piece: Piece, placed: Standing, check: Check, use: Stand, name: str) -> TreeFault:
    lines = piece.file_line(check.stand.call.pos), piece.file_line(use.call.pos)
    message = f"{name} is used in {use.call.name}() although {check.name}() did not say that it still stands"
    trace = (
        Step(piece.path, lines[0], f"{check.name}() asks about {name}"),
        Step(piece.path, lines[1], f"{name} used all the same"),
    )
    return _fault(piece, placed, check, lines[1], "medium", message, trace)


def _fault(
    piece: Piece, placed: Standing, check: Check, line: int, sure: Confidence, message: str, trace: tuple[Step, ...]
) -> TreeFault:
    names = [node.id for node in walk(check.route) if isinstance(node, Name)] if check.route is not None else []
    column = piece.unit.lines.column(check.stand.call.pos)
    return TreeFault(
        "check-ignored", sure, message, piece.path, line, column, placed.function.name,
        names[-1] if names else check.name, trace, placed.variant.config,
    )  # fmt: skip
