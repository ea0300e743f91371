"""Ways through a flow graph."""

from __future__ import annotations

from patchlint.cfg import Cfg, Leave


def avoidable(cfg: Cfg, through: set[int]) -> bool:
    """Whether some way from the entry to a return passes by none of the blocks."""
    seen, work = set(through), [0]
    while work:
        at = work.pop()
        if at in seen:
            continue
        seen.add(at)
        if isinstance(cfg.blocks[at].term, Leave):
            return True
        work.extend(cfg.successors(at))
    return False
