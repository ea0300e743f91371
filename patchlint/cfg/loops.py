"""Natural loops of a control-flow graph."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from patchlint.cfg.flatten import walk
from patchlint.cfg.graph import Block, Branch, Cfg, Leave, Op, Select, Terminator, Turn
from patchlint.ir import Call, Decl, Evaluate, Expr


def loops(cfg: Cfg) -> tuple[frozenset[int], ...]:
    """The blocks of each loop, by back edges in reverse post order; loops of one head are one."""
    before: dict[int, set[int]] = {}
    found: dict[int, set[int]] = {}
    for block in range(len(cfg.blocks)):
        for succ in cfg.successors(block):
            before.setdefault(succ, set()).add(block)
    for block in range(len(cfg.blocks)):
        for head in cfg.successors(block):
            if head <= block:
                body = found.setdefault(head, {head})
                stack = [block]
                while stack:
                    inner = stack.pop()
                    if inner not in body:
                        body.add(inner)
                        stack.extend(before.get(inner, ()))
    return tuple(frozenset(body) for body in found.values())


@lru_cache(maxsize=8)  # as often as a graph is explored
def loop_places(cfg: Cfg) -> tuple[frozenset[int], ...]:
    """For each loop the offsets of its operations, branches and calls."""
    return tuple(frozenset(place for index in body for place in _places(cfg.blocks[index])) for body in loops(cfg))


def _places(block: Block) -> Iterator[int]:
    for part in (*block.ops, block.term):
        pos = getattr(part, "pos", None)
        if pos is not None:
            yield pos
        expr = _evaluated(part)
        if expr is not None:
            yield from (node.pos for node in walk(expr) if isinstance(node, Call))


def _evaluated(part: Op | Terminator) -> Expr | None:
    match part:
        case Evaluate(expr, _):
            return expr
        case Decl():
            return part.init
        case Branch(test, _, _, _):
            return test
        case Turn(macro, _, _, _):
            return macro
        case Select(value, _, _, _) | Leave(value, _, _):
            return value
    return None
