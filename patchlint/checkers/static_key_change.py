"""KEY001 and KEY002 as a change shows them: what the series takes away from a pair that was whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from patchlint.checkers.conditions import ALWAYS, OWNED, Kind, atoms_of, keep
from patchlint.checkers.standing import standing, tests
from patchlint.checkers.static_key_pairs import relation, told
from patchlint.checkers.static_key_sites import COUNTED, OPPOSITE, KeyFacts, KeyReader, KeySite, Op
from patchlint.checkers.static_key_state import step, when
from patchlint.checkers.tree_change import Changed, added_calls, dropped_calls, text_of
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import TreeView
from patchlint.model import Confidence, Step

_CHANGES = re.compile(rb"\bstatic_(?:branch|key)_\w*(?:dec|disable)")
_DOES = {"inc": "increments", "dec": "decrements", "enable": "enables", "disable": "disables"}


class Lost(NamedTuple):
    """A change of a key that a function made before the series and makes no more."""

    site: KeySite
    now: int
    """Line where the function stands after the series (0: it is gone)."""


def lost_halves(before: KeyFacts, after: KeyFacts, view: TreeView) -> Iterator[TreeFault]:
    """One side of a pair was taken away while the other stays."""
    for op in ("dec", "disable", "inc", "enable"):
        if _net_loss(before, after, op) > max(0, _net_loss(before, after, OPPOSITE[op])):
            for lost in _lost(before, after, op, view):
                if _still_needed(lost, before, after, view):
                    yield _taken_away(lost, after)


def moved_conditions(before: KeyFacts, after: KeyFacts) -> Iterator[TreeFault]:
    """A pair that agreed and agrees no more, although nothing was taken away."""
    for dec in after.having("dec"):
        was = _same_place(before, dec)
        if was is None or keep(was.condition, OWNED) == keep(dec.condition, OWNED):
            continue
        for inc in before.having("inc"):
            now = _same_place(after, inc)
            if now is None or relation(inc, was) not in ("same", "remembered"):
                continue
            if relation(now, dec) not in ("same", "remembered", "switch"):
                yield _moved(now, was, dec)
                break


def _net_loss(before: KeyFacts, after: KeyFacts, op: Op) -> int:
    was, now = _places(before, op), _places(after, op)
    return was.total() - now.total()


def _places(facts: KeyFacts, op: Op) -> Counter[tuple[str, str]]:
    return Counter((site.path, site.function) for site in facts.having(op))


def _lost(before: KeyFacts, after: KeyFacts, op: Op, view: TreeView) -> Iterator[Lost]:
    """For each function that does ``op`` less often than before, the sites that no condition finds again."""
    was, now = _places(before, op), _places(after, op)
    for place, count in was.items():
        left = [keep(s.condition, OWNED) for s in after.having(op) if (s.path, s.function) == place]
        missing: list[KeySite] = []
        for site in (s for s in before.having(op) if (s.path, s.function) == place):
            condition = keep(site.condition, OWNED)
            if condition in left:
                left.remove(condition)
            else:
                missing.append(site)
        for site in missing[: count - now[place]]:
            yield Lost(site, _line_of(view, *place))


def _line_of(view: TreeView, path: str, function: str) -> int:
    for piece in view.pieces(path):
        for head in piece.unit.heads:
            if head.name == function:
                return piece.file_line(head.start)
    return 0


def _still_needed(lost: Lost, before: KeyFacts, after: KeyFacts, view: TreeView) -> bool:
    """Whether what was taken away leaves the key unbalanced, as far as can be seen."""
    site = lost.site
    if (before.definitions and not after.definitions) or _handed_on(lost, after, view):
        return False
    if site.op in COUNTED:
        others = after.having(OPPOSITE[site.op])
        return bool(others) or not before.having(OPPOSITE[site.op])
    return bool(lost.now) and _branch_stays(site, view)


def _branch_stays(site: KeySite, view: TreeView) -> bool:
    """Whether the function still goes one of the ways on which it switched the key."""
    kinds: frozenset[Kind] = OWNED | {"param", "local", "key", "config"}
    ways = [atoms_of(frozenset((way,)), kinds) for way in site.condition]
    for piece in view.pieces(site.path):
        for head in piece.unit.heads:
            if head.name == site.function:
                function = piece.unit.function(head)
                asked = [tests(standing(function, variant)) for variant in function.variants]
                return any(way <= one for one in asked for way in ways)
    return False


def _same_place(facts: KeyFacts, site: KeySite) -> KeySite | None:
    """The only site of the same kind in the same function."""
    found = [s for s in facts.having(site.op) if (s.path, s.function) == (site.path, site.function)]
    return found[0] if len(found) == 1 else None


def _taken_away(lost: Lost, after: KeyFacts) -> TreeFault:
    site = lost.site
    rest = after.having(OPPOSITE[site.op])
    trace: Sequence[Step] = (
        *(step(other) for other in rest),
        Step(site.path, lost.now or site.line, f"{site.function} no longer {_DOES[site.op]} {site.key} "
             f"{when(told(site))} (it did in line {site.line} before)"),
    )  # fmt: skip
    counter = f" while {rest[0].function} still {_DOES[rest[0].op]} it" if rest else ""
    message = f"{site.function} no longer {_DOES[site.op]} static key {site.key} {when(told(site))}{counter}"
    sure: Confidence = "high" if rest and site.op in COUNTED else "medium"
    return TreeFault(
        "unpaired", sure, message, site.path, lost.now or site.line, 1, site.function, site.key, tuple(trace),
        site.config, detail=f"lost {site.op} {told(site)}",
    )  # fmt: skip


def _moved(inc: KeySite, was: KeySite, dec: KeySite) -> TreeFault:
    message = (
        f"static key {dec.key} is incremented {when(told(inc))} in {inc.function} but now decremented "
        f"{when(told(dec))} in {dec.function}, no longer {when(told(was))}"
    )
    sure: Confidence = "high" if relation(inc, dec) == "differs" else "medium"
    return TreeFault(
        "conditions", sure, message, dec.path, dec.line, dec.column, dec.function, dec.key, (step(inc), step(dec)),
        dec.config,
    )  # fmt: skip


def lost_helpers(
    changes: tuple[Changed, ...], before: TreeView, after: TreeView, reader: KeyReader
) -> Iterator[TreeFault]:
    """A function no longer calls the helper that decrements, while the helper that increments is called as before."""
    gained = frozenset(name for change in changes for name in added_calls(change))
    for change in changes:
        for name in sorted(dropped_calls(change)):
            for site in _helper_sites(name, before, reader):
                lost_here = {n for c in changes for n in dropped_calls(c)}
                ups = {s.function for s in reader.facts(before, site.key).having(OPPOSITE[site.op])}
                downs = {s.function for s in reader.facts(after, site.key).having(site.op)}
                if name in downs and not ups & lost_here and not downs & gained:
                    yield _helper_gone(change, name, site, reader.facts(after, site.key))


def _helper_sites(name: str, view: TreeView, reader: KeyReader) -> Iterator[KeySite]:
    """Decrements that the helper ``name`` makes whenever it is called."""
    for path, text in view.bodies(name):
        if _CHANGES.search(text):
            for piece in view.pieces(path):
                for site in reader.sites(piece):
                    if site.function == name and site.op in ("dec", "disable") and site.condition == ALWAYS:
                        yield site


def _helper_gone(change: Changed, name: str, site: KeySite, after: KeyFacts) -> TreeFault:
    assert change.after is not None
    line = next(change.after.file_line(h.start) for h in change.after.unit.heads if h.name == change.name)
    rest = after.having(OPPOSITE[site.op])
    trace = (
        *(step(other) for other in rest),
        step(site),
        Step(change.path, line, f"{change.name} no longer calls {name}"),
    )
    message = f"{change.name} no longer calls {name}, which {_DOES[site.op]} static key {site.key}"
    return TreeFault(
        "unpaired", "medium", message, change.path, line, 1, change.name, site.key, trace, detail=f"lost call {name}"
    )


def _handed_on(lost: Lost, after: KeyFacts, view: TreeView) -> bool:
    """Whether the function now leaves the change to another one that it calls."""
    site = lost.site
    others = {s.function for s in after.having(site.op)} - {site.function}
    called = {
        word.decode("ascii", "replace")
        for piece in view.pieces(site.path)
        for word in re.findall(rb"\b([A-Za-z_]\w*)[ \t]*\(", text_of(piece, site.function))
    }
    return bool(others & called)
