"""Paths that go around a release: what they ask on the way may tell that nothing is held there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evidence import marks_since
from patchlint.checkers.teardown import arguments
from patchlint.dataflow import Exit, Hold, Mark, PathReport, Site, marks

_PLACE: Final = re.compile(r"[A-Za-z_]\w*(?:(?:->|\.)\w+)*")


def walks_around(report: PathReport, exit_: Exit, hold: Hold) -> bool:
    """The path passes ``if (flag) release(x);`` with the flag unset, which may well tell that none is due.

    Not ``if (bad) { release(x); return; }``: that is another way out.
    """
    asked = {m.pos for m in marks_since(marks(exit_.trail), hold.site) if m.kind == "if"}
    places = {r.pos for r in report.releases if r.site == hold.site and r.exact}
    return any(branch in asked and release in places for branch, release in report.jumped_over)


def of_nothing(site: Site, path: Sequence[Mark]) -> bool:
    """What was got is a structure, by value, whose pointer turned out to be NULL: ``if (!f.file)``."""
    pointer = rf"{re.escape(site.subject)}\.\w+"
    return site.by == "result" and any(
        m.kind == "if" and re.fullmatch(rf"{pointer} == NULL" if m.truth else rf"{pointer}(?: != NULL)?", m.text)
        for m in path
    )


def asks_the_structure(report: PathReport, exit_: Exit, hold: Hold, site: Site) -> bool:
    """The way around the release asks another field of the structure that the pointer is in: ``if (b.size)``."""
    base = re.match(r"(.+)(?:\.|->)\w+$", site.subject)
    if base is None:
        return False
    sibling = re.compile(rf"{re.escape(base[1])}(?:\.|->)\w+$")
    return _asked_around(
        report, exit_, hold, lambda text: sibling.match(text) is not None and _asked(text) != site.subject
    )


def asks_what_was_given(ctx: FunctionContext, report: PathReport, exit_: Exit, hold: Hold, site: Site) -> bool:
    """The way around the release asks what the taking call was given: ``get(id)``, ``if (id >= 0) put(p)``."""
    names = {arg for arg in _given(ctx, site) if _PLACE.fullmatch(arg)} - {site.subject}  # it goes by that name now
    return _asked_around(report, exit_, hold, lambda text: _asked(text) in names)


def empty_handed(ctx: FunctionContext, site: Site, since: Sequence[Mark]) -> bool:
    """Beside what was got the call filled in something else, a size, that turned out to be 0."""
    if site.by != "out":
        return False
    sizes = {arg[1:] for arg in _given(ctx, site) if arg.startswith("&")} - {site.subject}
    zero = {(size, False) for size in sizes} | {(f"{size} == 0", True) for size in sizes}
    return any(m.kind == "if" and (m.text, m.truth) in zero for m in since)


def _given(ctx: FunctionContext, site: Site) -> Sequence[str]:
    """What the taking call was given, in words."""
    at = site.pos + len(site.call)
    return (arguments(ctx.source, at + 1) if ctx.source[at : at + 1] == b"(" else None) or ()


def _asked_around(report: PathReport, exit_: Exit, hold: Hold, concerns: Callable[[str], bool]) -> bool:
    """The path asks something that ``concerns`` the hold, and a release stands between that and the way out."""
    asked = [m.pos for m in marks_since(marks(exit_.trail), hold.site) if m.kind == "if" and concerns(m.text)]
    return any(pos < r.pos < exit_.pos for pos in asked for r in report.releases if r.site == hold.site and r.exact)


def _asked(text: str) -> str:
    """The thing that a condition compares."""
    return text.lstrip("!").partition(" ")[0]
