"""What goes on around the places where holds are surely ended: other calls that undo, branches that jump over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from patchlint.cfg import Branch, Cfg
from patchlint.dataflow.log import Log
from patchlint.dataflow.matching import OWNED
from patchlint.dataflow.state import State
from patchlint.dataflow.values import Value, Values
from patchlint.effects import Family, Summary

_PLAIN: Final = ("c", "n", "str")
"""Kinds of value that lead to nothing."""


def passed_on(log: Log, cfg: Cfg) -> frozenset[tuple[int, int]]:
    """Pairs of a release and a call that sounds like undoing which can follow it."""
    if not log.undos:
        return frozenset()
    after = {block: cfg.reachable(block) for block in {log.blocks[r.pos] for r in log.releases.values()}}
    return frozenset(
        (r.pos, undo) for r in log.releases.values() for undo in log.undos
        if log.blocks[undo] in after[log.blocks[r.pos]]
        or (log.blocks[undo] == log.blocks[r.pos] and undo > r.pos)
    )  # fmt: skip


def outlived(log: Log, cfg: Cfg) -> frozenset[tuple[int, int]]:
    """Pairs of a call that sounds like undoing and a place of taking, where the hold is ended after the call."""
    if not log.undos:
        return frozenset()
    return frozenset(
        (undo, site) for site, places in _ends(log).items() for undo in log.undos
        if site in log.blocks and _ended_after(log, cfg, undo, site, places)
    )  # fmt: skip


def jumped_over(log: Log, cfg: Cfg) -> frozenset[tuple[int, int]]:
    """Pairs of a branch and a release, where one way does the release and then goes on where the other goes at once.

    That is ``if (flag) release(x);``, and not ``if (bad) { release(x); return; }``, which is another way out.
    """
    places: dict[int, set[int]] = {}
    for released in log.releases.values():
        places.setdefault(log.blocks[released.pos], set()).add(released.pos)
    found: set[tuple[int, int]] = set()
    for block, here in places.items():
        for pos in _branches_over(cfg, block):
            found.update((pos, release) for release in here)
    return frozenset(found)


def _branches_over(cfg: Cfg, block: int) -> Iterator[int]:
    """Places of the conditions that lead into ``block`` or to where it goes on; those joined by ``&&`` each.

    The condition of a loop counts as well, which ``block`` comes back to.
    """
    behind, inner = _straight_on(cfg, block), {block}
    for at in range(len(cfg.blocks) - 1, -1, -1):
        term = cfg.blocks[at].term
        if not isinstance(term, Branch):
            continue
        ways = {term.true, term.false}
        if ways & inner and (at in behind or ways - inner <= behind):
            yield term.pos
            if not cfg.blocks[at].ops and at not in behind:
                inner.add(at)


def _straight_on(cfg: Cfg, block: int) -> set[int]:
    """Blocks that every path enters after ``block``, up to the next place where paths part."""
    found: set[int] = set()
    while len(after := set(cfg.successors(block)) - found) == 1:
        (block,) = after
        found.add(block)
    return found


def _ends(log: Log) -> dict[int, set[int]]:
    """Place of a taking -> where what was taken there is surely ended."""
    ends: dict[int, set[int]] = {}
    for released in log.releases.values():
        if released.exact and released.site >= 0:
            ends.setdefault(released.site, set()).add(released.pos)
    for site in log.sites.values():
        if site.by == "loop":
            ends.setdefault(site.pos, set()).add(site.pos)  # the next turn drops it
    return ends


def _ended_after(log: Log, cfg: Cfg, undo: int, site: int, places: set[int]) -> bool:
    """Whether one of ``places`` can come after the call at ``undo`` without taking again at ``site``."""
    start, taken = log.blocks[undo], log.blocks[site]
    if any(log.blocks[pos] == start and pos > undo and not undo < site <= pos for pos in places):
        return True
    if start == taken and undo < site:
        return False
    after = cfg.reachable(start, taken)
    return any(log.blocks[pos] in after and (log.blocks[pos] != taken or pos <= site) for pos in places)


def just_frees(
    values: Values, st: State, args: list[Value], summary: Summary, family: Callable[[str], Family]
) -> bool:
    """Whether the callee frees all that it is given, and nothing else that is held can be found from there.

    What only ends a state of its argument (a device that was enabled) may end others as well.
    """
    freed = {
        e.place.index for e in summary.effects
        if e.action == "release" and e.place.root == "arg" and not e.place.deref and not e.place.path
        and family(e.resource).kind in OWNED
    }  # fmt: skip
    if not freed or any(i not in freed and values.nodes[value][0] not in _PLAIN for i, value in enumerate(args)):
        return False
    roots = values.root
    given, held = {roots[value] for value in args}, {roots[h.obj] for h in st.holds}
    return not any(roots[address] in given and roots[value] in held for address, value in st.mem.items())
