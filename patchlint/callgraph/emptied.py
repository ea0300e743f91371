"""What a body may give back, or keep, of what is its caller's: what an argument leads to, locks, sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from patchlint.callgraph.addresses import content_place
from patchlint.dataflow import Callees, Exit, PathReport, marks
from patchlint.effects import ANY, Effect, Place

_INFERRED: Final = frozenset(("inferred",))


def emptied(report: PathReport, owned: frozenset[str], known: Mapping[Place, int]) -> Iterator[Effect]:
    """Takings of what some path ends or keeps, so that whoever put it there may be rid of it.

    ``owned``: families of references and memory; ``known``: places of which it is told with which results what is
    there is given back.
    """
    kept = {value for leaving in report.exits for _, value in leaving.memory}
    ended: dict[tuple[str, int], set[int]] = {}
    for one in report.releases:
        if not one.matched and one.family in owned:
            ended.setdefault((one.family, one.obj), set()).add(one.pos)
    for (family, obj), places in ended.items():
        place = content_place(report.keys, obj)
        if place is None:
            continue
        others = ANY & ~known.get(place, 0)
        if obj in kept or place not in known or any(e.mask & others and _passes(e, places) for e in report.exits):
            yield Effect("take", family, place, flags=_INFERRED)
    for obj in sorted(report.taken):
        place = content_place(report.keys, obj)
        if place is not None and known.get(place, 0) != ANY:
            yield Effect("take", "", place, flags=_INFERRED)


def let_go(report: PathReport, callees: Callees) -> tuple[str, ...]:
    """Families of locks, sections and states that some path ends, not having begun them, and does not begin again."""
    found: set[str] = set()
    for event in report.events:
        family = callees.family(event.family) if event.kind == "underflow" else None
        if family is not None and family.kind in ("lock", "rcu", "pair") and event.family not in found:
            entered = any(name == event.family for _, name in report.sites)
            without = (e for e in report.exits if all(hold.family != event.family for hold in e.holds))
            if not entered or any(_passes(leaving, {event.pos}) for leaving in without):
                found.add(event.family)
    return tuple(sorted(found))


def _passes(leaving: Exit, places: set[int]) -> bool:
    """Whether the path to an exit gives something back at one of ``places``."""
    return any(mark.kind == "release" and mark.pos in places for mark in marks(leaving.trail))
