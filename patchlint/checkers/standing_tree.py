"""How sure a leak is in code that stands in the tree: it has been used, so what looks odd often has its reason.

A patch is judged by what it changes; a whole tree only by what a function says of itself.  What is told here lowers
the confidence of findings or takes them back, each for a reason that reading real ones has shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evidence import contradicts_itself, marks_since, walks_around
from patchlint.checkers.unwinding import SHOWN
from patchlint.dataflow import Exit, Hold, Mark, PathReport, Site, Value
from patchlint.effects import Family
from patchlint.model import CONFIDENCES, Confidence


class Evidence(NamedTuple):
    """What the function's other exits say of the hold."""

    error: bool
    """The path reports failure."""
    contrast: bool
    """Another path surely ends the hold."""
    alike: bool
    """One with the same class of result does, and it is no failure."""


def graded(
    ctx: FunctionContext, report: PathReport, exit_: Exit, hold: Hold, site: Site, family: Family,
    path: list[Mark], evidence: Evidence, sure: Confidence,
) -> Confidence | None:  # fmt: skip
    """``sure``, lowered by what speaks for the code; None where the hold is kept by design."""
    if site.by == "given" and hold.stored:
        return None
    if _kept_by_result(ctx, exit_) or _of_nothing(site, path) or _goes_with_result(exit_, site, family):
        return None
    if site.call in ctx.ruleset.models.table("unpaired").get("starts", ()):
        return None
    if SHOWN in site.flags and _object_put(ctx, report, hold, site, path):
        return None
    if _doubtful(ctx, report, exit_, hold, site, family, path, evidence):
        return "low"
    if contradicts_itself(ctx, report, path) or not _kept_in_hand(site) or _helper_may_unlock(hold, family, path):
        return "low"
    alone = not evidence.contrast and not evidence.error
    if hold.owned and site.by != "given" and alone and (family.kind == "mem" or site.where or hold.stored):
        return "low"
    if SHOWN in site.flags and site.where:
        return "low"  # what its body does is known, and it is no taking
    if site.by == "given" and family.name not in ctx.ruleset.models.table("handed").get("consumed", ()):
        return "low"
    if SHOWN in site.flags or site.where or (hold.owned and site.by != "loop" and not evidence.error):
        # Taken inside a callee, or kept with a result that is no failure: there may be an agreement about it.
        return min(sure, "medium", key=CONFIDENCES.index)
    return sure


def _doubtful(
    ctx: FunctionContext, report: PathReport, exit_: Exit, hold: Hold, site: Site, family: Family,
    path: list[Mark], evidence: Evidence,
) -> bool:  # fmt: skip
    """What the path does not settle: who has it on success, what else decides, which of several it is."""
    if hold.owned and evidence.contrast and not evidence.error and not evidence.alike:
        return True  # only failures end it: on success it stays for whoever finds it
    if site.where and not evidence.contrast:
        return True  # told from a body, and nothing here ends it
    if hold.owned and "[" in site.subject:
        return True  # an element: a counter may tell how many there are
    since = marks_since(path, hold.site)
    return (
        walks_around(report, exit_, hold)
        or _ends_another(report, family, since)
        or _counted_twice(report, hold, site, path)
        or (family.kind == "lock" and _last_word(ctx, exit_))
    )


def _ends_another(report: PathReport, family: Family, since: Sequence[Mark]) -> bool:
    """Something of the same family is ended that was not taken here: perhaps this, under another name."""
    ended = {m.pos for m in since if m.kind == "release" and m.site < 0}
    alike = {family.name, *family.compatible}
    return any(r.pos in ended and r.family in alike and not r.matched for r in report.releases)


def _counted_twice(report: PathReport, hold: Hold, site: Site, path: Sequence[Mark]) -> bool:
    """One object was counted up at several places, and down: who is to end the other count is not told."""
    others = {s.pos for s in report.sites.values() if s.subject == site.subject and s.pos != site.pos}
    taken = any(m.kind == "acquire" and m.pos in others for m in path)
    return hold.owned and taken and any(m.kind == "release" and m.site in others for m in path)


def _last_word(ctx: FunctionContext, exit_: Exit) -> bool:
    """What is returned is the result of a call that may well let go of the lock: no model says what it does."""
    call = re.match(r"(\w+)\(.*\)$", exit_.text)
    summary = ctx.callees.summary(call[1]) if call is not None and not call[1].isupper() else None
    return call is not None and not call[1].isupper() and (summary is None or summary.origin != "model")


def _object_put(ctx: FunctionContext, report: PathReport, hold: Hold, site: Site, path: list[Mark]) -> bool:
    """A reference to the object that was set up is dropped instead: its end undoes what belongs to it."""
    ended = {m.pos for m in marks_since(path, hold.site) if m.kind == "release"}
    around = _around(report, hold.obj)
    for release in report.releases:
        family = ctx.callees.family(release.family)
        same = release.obj in around or re.match(rf"{re.escape(release.subject)}\b", site.subject) is not None
        if release.pos in ended and same and family is not None and family.kind == "ref":
            return True
    return False


def _around(report: PathReport, value: Value) -> set[Value]:
    """The objects that ``value`` is in, or was read from."""
    found = {value}
    while report.keys[value][0] in ("f", "e", "in", "ld"):
        value = report.keys[value][1]
        found.add(value)
    return found


def _kept_by_result(ctx: FunctionContext, exit_: Exit) -> bool:
    """Results that by convention say that something is still held."""
    return exit_.text in ctx.ruleset.models.table("handed").get("kept_on", ())


def _of_nothing(site: Site, path: Sequence[Mark]) -> bool:
    """What was got is a structure, by value, whose pointer turned out to be NULL: ``if (!f.file)``."""
    subject = re.escape(site.subject)
    return site.by == "result" and any(
        m.kind == "if" and not m.truth and re.fullmatch(rf"{subject}\.\w+", m.text) is not None for m in path
    )


def _goes_with_result(exit_: Exit, site: Site, family: Family) -> bool:
    """The function returns what it holds inside of another value, or the object that it has locked."""
    subject = site.subject.lstrip("&*")
    if not subject.isidentifier() or family.kind == "rcu":
        return False
    if family.kind == "lock":
        return exit_.text == subject
    if site.by != "result" or re.search(r"\w\(", exit_.text):
        return False
    return re.search(rf"\W{subject}\b|\b{subject}\W", exit_.text) is not None


def _kept_in_hand(site: Site) -> bool:
    """The result was put into a variable; one that is tested on the spot is another's by the sound of it."""
    return site.by != "result" or not site.where or "(" not in site.subject


def _helper_may_unlock(hold: Hold, family: Family, path: Sequence[Mark]) -> bool:
    """A helper that sounds like undoing was called with the lock held: it may well drop it."""
    at = max((i for i, m in enumerate(path) if m.kind == "acquire" and m.pos == hold.site), default=0)
    return family.kind == "lock" and any(m.kind == "undo" for m in path[at:])
