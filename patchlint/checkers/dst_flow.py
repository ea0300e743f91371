"""Following one value from a call to the next call that settles or breaks something about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from patchlint.cfg import Block, Branch, Leave, walk
from patchlint.checkers.canonical import strip
from patchlint.checkers.standing import Standing
from patchlint.ir import Call, Decl, Evaluate, Expr, Name, Unary

Judge = Callable[[Call], str]
"""What a call means on the way: "" goes on, "settled" ends the path, anything else is the end to report."""


def first_end(placed: Standing, start: Call, judge: Judge) -> tuple[Call | None, str]:
    """The first call on some path after ``start`` that ``judge`` neither passes over nor calls settled."""
    work: list[tuple[int, bool]] = [(_block_of(placed, start), False)]
    seen: set[tuple[int, bool]] = set()
    for at, entered in work:
        if (at, entered) in seen:
            continue
        seen.add((at, entered))
        block = placed.cfg.blocks[at]
        begun = entered
        ended = False
        for call in calls_in(block):
            if not begun:
                begun = call is start
                continue
            if start.pos < call.pos < start.end:
                continue  # an argument of the start itself
            verdict = judge(call)
            if verdict == "settled":
                ended = True
                break
            if verdict:
                return call, verdict
        if not ended and begun:
            work.extend((target, True) for target in placed.cfg.successors(at))
    return None, ""


def calls_in(block: Block) -> Iterator[Call]:
    """All calls of a block, in order, those of its last test or result included."""
    for op in block.ops:
        expr: Expr | None = op.expr if isinstance(op, Evaluate) else op.init if isinstance(op, Decl) else None
        if expr is not None:
            yield from (node for node in walk(expr) if isinstance(node, Call))
    term = block.term
    last = term.test if isinstance(term, Branch) else term.value if isinstance(term, Leave) else None
    if last is not None:
        yield from (node for node in walk(last) if isinstance(node, Call))


def names_object(arg: Expr, name: str) -> bool:
    """Whether an argument is the variable ``name``, its address, or a cast of it."""
    arg = strip(arg)
    if isinstance(arg, Unary) and arg.op == "&":
        arg = strip(arg.operand)
    return isinstance(arg, Name) and arg.id == name


def _block_of(placed: Standing, call: Call) -> int:
    return next(stand.block for stand in placed.stands if stand.call is call)
