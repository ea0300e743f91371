"""Natural loops of a control-flow graph."""

from __future__ import annotations

from patchlint.cfg.graph import Cfg


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


def loop_places(cfg: Cfg) -> tuple[frozenset[int], ...]:
    """For each loop the offsets of its operations and branches."""
    places = []
    for body in loops(cfg):
        inside: set[int] = set()
        for index in body:
            block = cfg.blocks[index]
            inside.update(op.pos for op in block.ops)
            pos = getattr(block.term, "pos", None)
            if pos is not None:
                inside.add(pos)
        places.append(frozenset(inside))
    return tuple(places)
