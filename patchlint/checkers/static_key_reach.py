"""KEY001 through callers: a file that brings the object up and takes it down in a way that does not decrement."""

from __future__ import annotations

import re
from collections.abc import Iterator

from patchlint.callgraph import CallSite
from patchlint.checkers.conditions import STATE, common
from patchlint.checkers.static_key_pairs import ANSWERS, Pairing, pairings
from patchlint.checkers.static_key_sites import KeyFacts, KeySite
from patchlint.checkers.static_key_state import is_boot, is_tool, step
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import TreeView
from patchlint.model import Step


def other_releases(view: TreeView, facts: KeyFacts) -> Iterator[TreeFault]:
    """Files that call the function that increments and none that decrements: their objects go in some other way."""
    if not view.whole:
        return
    downs = _reaching(view, facts.having("dec", "disable"))
    for pair in pairings(facts):
        if pair.relation not in ANSWERS or pair.dec is None or is_boot(view, pair.inc):
            continue
        for call in _outside_callers(view, pair):
            if not _mentions_any(view, call.file, downs) and _may_meet(view, call.file, pair.inc):
                yield _never_down(call, pair)
                break


def _reaching(view: TreeView, decs: tuple[KeySite, ...]) -> frozenset[str]:
    """Functions that decrement, and those that call them."""
    names = {site.function for site in decs}
    for site in decs:
        names.update(call.function for call in view.callers(site.function, site.path) if call.function)
    return frozenset(names)


def _outside_callers(view: TreeView, pair: Pairing) -> tuple[CallSite, ...]:
    """Calls of the set-up from files that hold neither side of the pair; () for a set-up of its own file only."""
    inc, dec = pair.inc, pair.dec
    home = {inc.path, dec.path if dec is not None else ""}
    calls = view.callers(inc.function, inc.path)
    return tuple(c for c in calls if c.file not in home and c.file.endswith(".c") and not is_tool(c.file))


def _mentions_any(view: TreeView, path: str, names: frozenset[str]) -> bool:
    pattern = re.compile(rb"\b(?:" + b"|".join(sorted(re.escape(n.encode()) for n in names)) + rb")\b")
    return any(pattern.search(piece.unit.source) for piece in view.pieces(path))


def _may_meet(view: TreeView, path: str, inc: KeySite) -> bool:
    """Whether the file speaks of every field that must be set for the increment: only then can it count."""
    asked = [lit for lit in common(inc.condition) if lit.kind in STATE and lit.holds and lit.atom.startswith(".")]
    words = [re.escape(lit.atom.rsplit(".", 1)[-1].encode()) for lit in asked]
    return bool(words) and all(
        any(re.search(rb"\b" + word + rb"\b", piece.unit.source) for piece in view.pieces(path)) for word in words
    )


def _never_down(call: CallSite, pair: Pairing) -> TreeFault:
    assert pair.dec is not None
    inc, dec = pair.inc, pair.dec
    message = (
        f"{call.function or call.file} brings objects up through {inc.function}, which increments static key "
        f"{inc.key}, but nothing in {call.file} takes them down through {dec.function}"
    )
    trace = (step(inc), Step(call.file, call.line, f"{call.function} calls {inc.function}"), step(dec))
    return TreeFault(
        "unpaired", "medium", message, inc.path, inc.line, inc.column, inc.function, inc.key, trace, inc.config,
        detail=f"released elsewhere {call.file}",
    )  # fmt: skip
