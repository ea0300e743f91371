"""How sure a leak is in code that stands in the tree: it has been used, so what looks odd often has its reason.

A patch is judged by what it changes; a whole tree only by what a function says of itself.  What is told here lowers
the confidence of findings or takes them back, each for a reason that reading real ones has shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.contradiction import contradicts_itself
from patchlint.checkers.evidence import (
    PLAIN_MEMORY,
    earlier_turn,
    in_some_callee,
    made_when_missing,
    marks_since,
)
from patchlint.checkers.unwinding import ELSEWHERE, SHOWN
from patchlint.checkers.ways_around import empty_handed, walks_around
from patchlint.dataflow import Exit, Hold, Mark, PathReport, Site, Value
from patchlint.effects import ANY, NEG, POS, Family
from patchlint.model import Confidence

_FOR_CALLER: Final = re.compile(r"(?:^|_)(?:\w*lock|get|start|begin|enter|grab|reserve|acquire)(?:_|$|\d)")
"""Names of functions that may leave with something taken, for whoever called them."""
_BELIEVED: Final = 6
"""Decisions that a path may rest on: with each the chance grows that two of them contradict each other."""


class Evidence(NamedTuple):
    """What the function's other exits say of the hold."""

    error: bool
    """The path reports failure."""
    contrast: bool
    """Another path surely ends the hold."""
    alike: bool
    """One with the same class of result does, and it is no failure."""


class Standing(NamedTuple):
    """A hold left open at an exit, in code that stands in the tree."""

    ctx: FunctionContext
    report: PathReport
    exit: Exit
    hold: Hold
    site: Site
    family: Family
    path: list[Mark]
    evidence: Evidence


def graded(leak: Standing, sure: Confidence) -> Confidence | None:
    """``sure``, lowered by what speaks for the code; None where the hold is kept by design."""
    ctx, site, hold, family = leak.ctx, leak.site, leak.hold, leak.family
    if _by_design(leak):
        return None
    if _doubtful(leak) or _hangs_on_others(leak):
        return "low"
    if contradicts_itself(ctx, leak.report, leak.path) or not _kept_in_hand(site):
        return "low"
    if _helper_may_unlock(hold, family, leak.path):
        return "low"
    if SHOWN in site.flags and site.where:
        return "low"  # what its body does is known, and it is no taking
    if site.by == "given" and family.name not in ctx.ruleset.models.table("handed").get("consumed", ()):
        return "low"
    return "medium" if sure == "high" and not _plain(leak) else sure


def _plain(leak: Standing) -> bool:
    """Nobody but the function itself can have ended it: it stays in hand, and the way is short enough to be believed.

    Of a hundred and sixty findings that were judged by reading, those were wrong least often (``bench/tree.py``).
    """
    hold, since = leak.hold, marks_since(leak.path, leak.hold.site)
    handed_on = any(site == hold.site for site, _ in leak.report.kept) or any(m.kind == "undo" for m in since)
    loose = hold.stored or hold.lost or hold.doubt or handed_on or _of_two_turns(leak)
    guessed = leak.exit.guessed or not leak.evidence.contrast or not leak.site.flags.isdisjoint((SHOWN, "weak"))
    short = sum(m.kind == "if" for m in since) <= _BELIEVED
    if loose or guessed or _with_callees(leak):
        return False
    return short and (leak.evidence.error or _ends_with_call(leak))


def _ends_with_call(leak: Standing) -> bool:
    """What goes out of use when a function returns, whether it failed or not; what else success leaves may be meant."""
    handed, family = leak.ctx.ruleset.models.table("handed"), leak.family
    if family.name in handed.get("by_others", ()):
        return False
    return family.kind not in ("mem", "pair") or family.name in handed.get("travels", ())


def _of_two_turns(leak: Standing) -> bool:
    """Taken twice at one place of a loop: what is left may be what an earlier turn has put somewhere."""
    return sum(m.kind == "acquire" and m.pos == leak.hold.site for m in leak.path) > 1


def _with_callees(leak: Standing) -> bool:
    """A callee of which no model tells was given what a lock is in, or ends such a state: it may where it fails."""
    first, last, root = leak.site.pos, leak.exit.pos, leak.report.roots[leak.hold.obj]
    given = (root in values for pos, values in leak.report.passed.items() if first < pos < last)
    return (leak.family.kind == "lock" and any(given)) or in_some_callee(leak.family, leak.hold, leak.path)


def _by_design(leak: Standing) -> bool:
    site, exit_ = leak.site, leak.exit
    return (
        _kept_by_result(leak)
        or _goes_with_result(exit_, site, leak.family)
        or site.call in leak.ctx.ruleset.models.table("unpaired").get("starts", ())
        or ((SHOWN in site.flags or _set_up_inside(leak) or _begun_here(leak)) and _object_put(leak))
    )


def _doubtful(leak: Standing) -> bool:
    """What the function's other paths say leaves open who is to end the hold."""
    ctx, hold, site, evidence = leak.ctx, leak.hold, leak.site, leak.evidence
    alike = evidence.alike and (leak.family.kind != "pair" or leak.exit.mask == 0)
    if hold.owned and evidence.contrast and not evidence.error and not alike:
        return True  # only failures end it: on success it stays for whoever finds it
    if not evidence.contrast and (site.where or (hold.owned and not evidence.error)):
        return True  # told from a body or kept on success, and nothing here ends it
    if ELSEWHERE in site.flags or (hold.owned and (hold.stored or "[" in site.subject)):
        return True  # who finds it may end it; a counter may tell how many elements there are
    if empty_handed(ctx, site, marks_since(leak.path, hold.site)):
        return True
    if not site.subject.isidentifier() and made_when_missing(ctx, site, leak.path):
        return True  # a flag beside it tells whoever comes next that it is there
    if _of_two_turns(leak) and any(
        m.kind == "release" and m.site == hold.site for m in marks_since(leak.path, hold.site)
    ):
        return True  # this turn's is ended, those of earlier ones stay
    if _asked_again(leak) or (not evidence.contrast and earlier_turn(leak.report, hold, leak.path)):
        return True
    if leak.family.kind == "pair" and not evidence.contrast and not _ended_in_file(leak):
        return True  # who made it so leaves it so
    if hold.lost and not _plainly_freed(leak):
        return True  # what ends the thing that holds it may well end it too
    if leak.family.kind == "lock" and evidence.error and _kept_by_success(leak):
        return True
    if leak.family.kind in ("lock", "rcu") and not evidence.error and _FOR_CALLER.search(leak.ctx.function.name):
        return True
    return _never_unwinds(leak.ctx, leak.report)


def _ended_in_file(leak: Standing) -> bool:
    """Whether anything in the file calls what ends such a hold."""
    source = leak.ctx.source
    return any(re.search(rb"\b%s\(" % name.encode(), source) for name in leak.family.releases)


def _plainly_freed(leak: Standing) -> bool:
    ended = {m.pos for m in marks_since(leak.path, leak.hold.site) if m.kind == "release"}
    return any(r.pos in ended and r.family in PLAIN_MEMORY for r in leak.report.releases)


def _kept_by_success(leak: Standing) -> bool:
    """Ways out that are no failure keep it too: it is for somebody else to end."""
    return any(
        e.mask not in (NEG, NEG | POS) and any(h.site == leak.hold.site for h in e.holds) for e in leak.report.exits
    )


def _hangs_on_others(leak: Standing) -> bool:
    """What the path does not settle: a switch without a default, a flag, another name, a callee that is returned."""
    since = marks_since(leak.path, leak.hold.site)
    return (
        any(m.kind == "case" and not m.truth for m in since)
        or walks_around(leak.report, leak.exit, leak.hold)
        or _ends_another(leak.report, leak.family, since)
        or _counted_twice(leak)
        or _last_word(leak.ctx, leak.exit, leak.family)
    )


def _asked_again(leak: Standing) -> bool:
    """What the last turn of a loop asked for was not got: this is of an earlier one."""
    since, asked = marks_since(leak.path, leak.hold.site), leak.site.subject
    absent = {(asked, False), (f"{asked} == NULL", True), (f"IS_ERR({asked})", True)}
    return any(m.kind == "if" and (m.text, m.truth) in absent for m in since)


def _never_unwinds(ctx: FunctionContext, report: PathReport) -> bool:
    """Code that starts the kernel and gives nothing back: what fails there is not repaired."""
    head = ctx.source[ctx.function.start : ctx.function.end].partition(b"{")[0]
    return b"__init" in head and not report.releases


def _ends_another(report: PathReport, family: Family, since: Sequence[Mark]) -> bool:
    """Something of the same family is ended that was not taken here: perhaps this, under another name."""
    ended = {m.pos for m in since if m.kind == "release" and m.site < 0}
    alike = {family.name, *family.compatible}
    return any(r.pos in ended and r.family in alike and not r.matched for r in report.releases)


def _counted_twice(leak: Standing) -> bool:
    """One object was counted up at several places, and down: who is to end the other count is not told."""
    site, sites = leak.site, leak.report.sites.values()
    others = {one.pos for one in sites if one.subject == site.subject and one.pos != site.pos}
    taken = any(m.kind == "acquire" and m.pos in others for m in leak.path)
    return leak.hold.owned and taken and any(m.kind == "release" and m.site in others for m in leak.path)


def _last_word(ctx: FunctionContext, exit_: Exit, family: Family) -> bool:
    """What is returned is the result of a call: whether it fails, and what of this it undoes then, is not known."""
    call = re.match(r"(\w+)\(.*\)$", exit_.text)
    if call is None or call[1].isupper():
        return False
    summary = ctx.callees.summary(call[1])
    if family.kind == "lock":
        return summary is None or summary.origin != "model"
    return summary is None or summary.result == ANY


def _set_up_inside(leak: Standing) -> bool:
    """A part of an object was set up, and is not itself what a count is dropped of."""
    obj = leak.hold.obj
    return leak.family.kind == "pair" and leak.site.by == "arg" and all(r.obj != obj for r in leak.report.releases)


def _begun_here(leak: Standing) -> bool:
    """The state is that of an object which the function itself has begun: when that ends, so does its state."""
    ended = (r for r in leak.report.releases if r.obj == leak.hold.obj)
    sites = (leak.report.sites.get((r.site, r.held)) for r in ended)
    return leak.family.kind == "pair" and any(site is not None and "named" in site.flags for site in sites)


def _object_put(leak: Standing) -> bool:
    """A reference to the object that was set up is dropped instead: its end undoes what belongs to it."""
    ended = {m.pos for m in marks_since(leak.path, leak.hold.site) if m.kind == "release"}
    around = _around(leak.report, leak.hold.obj)
    for release in leak.report.releases:
        family = leak.ctx.callees.family(release.family)
        named = re.match(rf"{re.escape(release.subject)}\b", leak.site.subject) is not None
        same = release.obj in around or named
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


def _kept_by_result(leak: Standing) -> bool:
    """Results that by convention say that something is still held, perhaps under the name of a variable."""
    words = leak.ctx.ruleset.models.table("handed").get("kept_on", ())
    asked = {mark.text for mark in leak.path if mark.kind == "if" and mark.truth}
    return leak.exit.text in words or any(f"{leak.exit.text} == {word}" in asked for word in words)


def _goes_with_result(exit_: Exit, site: Site, family: Family) -> bool:
    """The function returns what it holds inside of another value."""
    subject = site.subject.lstrip("&*")
    if not subject.isidentifier() or family.kind in ("rcu", "lock"):
        return False
    if site.by != "result" or re.search(r"\w\(", exit_.text):
        return False
    return re.search(rf"\W{subject}\b|\b{subject}\W", exit_.text) is not None


def _kept_in_hand(site: Site) -> bool:
    """The result was put into a variable; one that is tested on the spot is another's by the sound of it."""
    return site.by != "result" or not site.where or "(" not in site.subject


def _helper_may_unlock(hold: Hold, family: Family, path: list[Mark]) -> bool:
    """A helper that sounds like undoing was called with the lock held: it may well drop it."""
    return family.kind == "lock" and any(m.kind == "undo" for m in marks_since(path, hold.site))
