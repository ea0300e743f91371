"""Acquire and release: what is held when a path leaves, dropped twice.

The strongest evidence is the function itself: another path that releases what this one does not
(PRECISION.md). Where a function leaves with something held on all paths of one class of result, that is its contract.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.contradiction import contradicts_itself
from patchlint.checkers.doubts import taken_on_success
from patchlint.checkers.evidence import (
    COUNTED,
    Outcomes,
    callee_may_end,
    discarded,
    drops_another,
    earlier_turn,
    fails_silently,
    given_back_at_end,
    goes_with_result,
    handed_back,
    helper_may_undo,
    kept_in_loop,
    known_here_only,
    left_in_managed_memory,
    left_to_caller,
    left_with_device,
    lone,
    made_when_missing,
    managed_families,
    memory_freed,
    of_each_turn,
    released,
    still_registered,
    tail_call,
    undoes_earlier,
    undone_in_loop,
)
from patchlint.checkers.exits import alike, fails_alike, is_error, leaving
from patchlint.checkers.function_fault import (
    FunctionFault,
    decisions,
    last_branch,
    step,
)
from patchlint.checkers.handed import judge_handed
from patchlint.checkers.lending import borne_out, is_lent
from patchlint.checkers.pairing_events import SECTIONS, events
from patchlint.checkers.standing_tree import Evidence, Standing, graded
from patchlint.checkers.unwinding import SHOWN
from patchlint.checkers.ways_around import asks_the_structure, asks_what_was_given, of_nothing, walks_around
from patchlint.dataflow import Exit, Hold, Mark, PathReport, Site, marks
from patchlint.effects import NEG, POS, ZERO, Family
from patchlint.model import Confidence, Step

_TAKES_FOR_CALLER: Final = re.compile(
    r"(?:^|_)(?:\w*lock|locked|acquire|start|begin|enter|claim|suspend|freeze|grab|hold|pin|pause|quiesce)(?:_|$|\d)"
)


class Leak(NamedTuple):
    """A hold left open at an exit, with what speaks for its being a fault."""

    exit: Exit
    hold: Hold
    site: Site
    family: Family
    contrast: bool
    """Another path that took the same ends it before it leaves."""


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Faults of pairing on the paths of one variant."""
    yield from _leaks(ctx, report)
    yield from events(ctx, report)


# ---------------------------------------------------------------------- leaks


def _leaks(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    outcomes = Outcomes(report)
    managed = managed_families(ctx)
    for exit_ in report.exits:
        if exit_.vague and not exit_.holds:
            continue
        path = outcomes.paths[id(exit_)]
        for hold in exit_.holds:
            site = report.sites.get((hold.site, hold.family))
            family = ctx.callees.family(hold.family)
            if site is None or family is None or hold.scope > 0 or family.name in managed:
                continue
            passed, closed = outcomes.of(hold.site)
            ended = [e for e in closed if not _again(e, hold, family)]
            if helper_may_undo(ctx, report, hold, site, family, path):
                continue
            if callee_may_end(ctx, hold, path) or (hold.doubt and taken_on_success(ctx, report, outcomes, hold, path)):
                continue
            if not borne_out(ctx, exit_, hold, path, [(e, outcomes.paths[id(e)]) for e in ended]):
                continue
            if family.sort not in COUNTED and tail_call(ctx, exit_, hold, site):
                continue
            if undone_in_loop(report, hold, site, path):
                continue
            confidence = _judge(ctx, report, exit_, hold, site, family, path, passed, ended)
            if confidence == "high" and is_lent(hold, path):
                confidence = "medium"
            if confidence is not None and contradicts_itself(ctx, report, path):
                confidence = "low"
            if confidence is not None and ctx.mode == "tree":
                others = [e for e in ended if not _swaps(report, e, hold, path)]
                evidence = _evidence(ctx, report, exit_, hold, others, swapped=bool(ended) and not others)
                confidence = graded(Standing(ctx, report, exit_, hold, site, family, path, evidence), confidence)
            if confidence is not None:
                leak = Leak(exit_, hold, site, family, bool(ended))
                yield _leak_fault(ctx, leak, path, confidence, ended)


def _again(exit_: Exit, hold: Hold, family: Family) -> bool:
    """The section was closed and opened once more before the path leaves."""
    return family.kind in SECTIONS and any((h.family, h.obj) == (hold.family, hold.obj) for h in exit_.holds)


def _swaps(report: PathReport, exit_: Exit, hold: Hold, path: list[Mark]) -> bool:
    """What is ended there leaves another reference on the same thing behind, which ``path`` never took."""
    gone = {r.obj for r in report.releases if r.site == hold.site}
    here = {m.pos for m in path if m.kind == "acquire"}
    return any(h.family == hold.family and h.obj in gone and h.site not in here for h in exit_.holds)


def _evidence(
    ctx: FunctionContext, report: PathReport, exit_: Exit, hold: Hold, ended: list[Exit], *, swapped: bool
) -> Evidence:
    fails = fails_silently(exit_, hold)
    same = any(alike(e, exit_) and not is_error(ctx, e) and fails_silently(e, hold) <= fails for e in ended)
    contrast = released(report, hold) or any(r.obj == hold.obj and r.family == hold.family for r in report.releases)
    return Evidence(is_error(ctx, exit_), contrast and not swapped, same)


def _judge(
    ctx: FunctionContext, report: PathReport, exit_: Exit, hold: Hold, site: Site, family: Family, path: list[Mark],
    passed: list[Exit], ended: list[Exit],
) -> Confidence | None:  # fmt: skip
    """How sure it is that leaving with ``hold`` is wrong; None when it may well be right."""
    if "weak" in site.flags and not (is_error(ctx, exit_) and released(report, hold)):
        return None
    if memory_freed(ctx, report, hold, site, family, path):
        return "medium"
    if family.kind in SECTIONS:
        return _judge_section(ctx, report, exit_, site, family, passed, ended)
    if site.by == "given" and (hold.stored or walks_around(report, exit_, hold)):
        return None  # it was put where others find it, or a flag tells whose it is
    if site.by == "given":
        return judge_handed(ctx, site, exit_, path, [(e, marks(e.trail)) for e in ended])
    if site.by == "loop":
        return "high" if exit_.mask != POS else "medium"
    if hold.owned:
        return _judge_owned(ctx, report, exit_, hold, site, family, path, ended)
    return _judge_state(ctx, report, exit_, hold, site, family, path, passed, ended)


def _by_contract(ctx: FunctionContext, family: Family, site: Site, report: PathReport) -> bool:
    """The function says that it is entered or left with this held."""
    for word, text in ctx.function.annotations:
        if word in ("__acquires", "__releases", "__must_hold", "__acquire", "__release", "__cond_acquires"):
            return True
        if word in ("__context__",) and text:
            return True
    if family.name in report.asserted or site.subject in report.asserted:
        return True
    return ctx.is_callback in ("start", "lock", "prepare_lock", "begin")


def _judge_section(
    ctx: FunctionContext, report: PathReport, exit_: Exit, site: Site, family: Family,
    passed: list[Exit], ended: list[Exit],
) -> Confidence | None:  # fmt: skip
    if _by_contract(ctx, family, site, report):
        return None
    if handed_back(report, site, family) or goes_with_result(exit_, site, family):
        return None
    if not ended:
        if site.where:
            return None
        if ctx.mode == "tree" or (ctx.mode == "new" and _TAKES_FOR_CALLER.search(ctx.function.name)):
            return None
        return "medium" if family.kind == "rcu" or ctx.mode == "changed" else "low"
    if any(alike(e, exit_) and not _holds_more(ctx, e, exit_) for e in ended):
        return "high"
    if is_error(ctx, exit_) and not all(is_error(ctx, e) for e in ended):
        return "high"
    if ctx.mode == "changed":
        return "medium"
    return "medium" if exit_.mask not in (POS, ZERO) and not all(is_error(ctx, e) for e in ended) else None


def _holds_more(ctx: FunctionContext, other: Exit, exit_: Exit) -> bool:
    """``other`` leaves with a section or lock held that ``exit_`` does not: by its result something is held anyway."""
    here = {hold.family for hold in exit_.holds}
    more = (ctx.callees.family(hold.family) for hold in other.holds if hold.family not in here)
    return any(family is not None and family.kind in SECTIONS for family in more)


def _judge_owned(
    ctx: FunctionContext, report: PathReport, exit_: Exit, hold: Hold, site: Site, family: Family, path: list[Mark],
    ended: list[Exit],
) -> Confidence | None:  # fmt: skip
    contrast = released(report, hold)
    error = is_error(ctx, exit_)
    if still_registered(ctx, report, exit_, hold) or of_nothing(site, path):
        return None
    if hold.stored:
        if error and left_in_managed_memory(ctx, report, hold, site, path):
            return "medium"
        if error and left_with_device(ctx, report, hold, path):
            return "medium"
        if earlier_turn(report, hold, path):
            return None
        if error and given_back_at_end(ctx, report, hold, site, family, path):
            return "medium"
        owed = contrast or ctx.mode == "changed" or drops_another(report, hold, path)
        return "medium" if error and owed and ctx.mode != "tree" else None
    kept = not error and not any(alike(e, exit_) and not is_error(ctx, e) for e in ended)
    if family.kind == "pair" and (not contrast or kept):
        owed = error and known_here_only(ctx, report, hold, site, path)
        return "medium" if owed or _in_hand(ctx, report, exit_, hold, site, family) else None
    if asks_what_was_given(ctx, report, exit_, hold, site):
        return None
    if asks_the_structure(report, exit_, hold, site) or (kept and discarded(site, path)):
        return None
    if kept_in_loop(report, hold, path) and not (error and not any(m.kind == "undo" for m in path)):
        return None
    lost = family.kind == "mem" and ctx.mode == "new" and not hold.doubt  # and nobody was given it
    skips = walks_around(report, exit_, hold) or _turned_on(report, exit_, hold)
    if exit_.mask == 0 and contrast and not lost and skips:
        return None  # ``if (register()) release(p);`` in a function without a result: kept, or else ...
    static = report.keys[report.roots[hold.obj]][0] == "&g"
    if site.by == "arg" and not contrast and static and hold.mask == NEG:
        return None  # a variable has nothing to free when its registration fails
    if site.by == "arg":
        if not contrast:
            owed = error and hold.cond >= 0 and hold.mask == NEG and not left_to_caller(ctx, report, hold)
            return "medium" if owed else None
        return "medium" if error or any(alike(e, exit_) for e in ended) else None
    return "high" if contrast and not kept and not hold.doubt and not walks_around(report, exit_, hold) else "medium"


def _in_hand(
    ctx: FunctionContext, report: PathReport, exit_: Exit, hold: Hold, site: Site, family: Family
) -> bool:
    """A handle in a variable of the function's own, of a patch to it, of which nothing is left but to give it back.

    Nothing was set by it that is to stay (a clock that was turned on), and nobody but models saw it.
    """
    if ctx.mode != "changed" or family.sort != "clk" or site.where or not site.subject.isidentifier():
        return False
    return not _turned_on(report, exit_, hold)


def _turned_on(report: PathReport, exit_: Exit, hold: Hold) -> bool:
    """Something else is left on the same object, which is what it is kept for: a device or clock that is enabled."""
    roots = report.roots
    return any(not h.owned and roots[h.obj] == roots[hold.obj] for h in exit_.holds)


def _judge_state(
    ctx: FunctionContext, report: PathReport, exit_: Exit, hold: Hold, site: Site, family: Family, path: list[Mark],
    passed: list[Exit], ended: list[Exit],
) -> Confidence | None:  # fmt: skip
    """A clock, a usage count, a registration: kept on success by design, undone on failure."""
    error = is_error(ctx, exit_) or fails_alike(exit_, ended)
    if error and all(is_error(ctx, e) for e in report.exits):
        return "low"  # what it returns says nothing of whether it failed
    if error and of_each_turn(report, hold, path):
        return None
    if not released(report, hold) and made_when_missing(ctx, site, path):
        return None
    if ended and error and SHOWN not in site.flags:
        return "medium" if site.where or walks_around(report, exit_, hold) else "high"
    if error and released(report, hold) and not walks_around(report, exit_, hold):
        return "medium"
    kept = any(not is_error(ctx, e) for e in passed)
    if error and kept and given_back_at_end(ctx, report, hold, site, family, path):
        return "medium"
    if SHOWN in site.flags:
        return None
    fails = fails_silently(exit_, hold)
    if any(e.mask == exit_.mask and not is_error(ctx, e) and fails_silently(e, hold) <= fails for e in ended):
        if walks_around(report, exit_, hold):
            return None
        return "medium" if family.sort in COUNTED else "low"
    if error and kept and not earlier_turn(report, hold, path):
        static = report.keys[report.roots[hold.obj]][0] == "&g" and family.sort == "reg"
        undoes = bool(report.releases) or (hold.cond >= 0 and lone(ctx, exit_))
        surely = static or (family.sort in COUNTED and undoes) or undoes_earlier(ctx, report, path, site.pos)
        return "medium" if surely and not site.where else "low"
    return None


def _leak_fault(
    ctx: FunctionContext, leak: Leak, path: list[Mark], confidence: Confidence, ended: list[Exit]
) -> FunctionFault:
    site, exit_, family = leak.site, leak.exit, leak.family
    verb = {"lock": "released", "rcu": "closed", "mem": "freed"}.get(family.kind, "released")
    verb = "dropped" if family.kind == "ref" else verb
    subject = site.subject or site.call
    way_out = leaving(exit_)
    taken = f"{family.label} taken here by {site.call}()"
    if site.by == "given":
        taken = f"{site.call}() is handed {family.label} '{subject}'"
    first = [step(ctx, site.pos, taken)]
    if site.where:
        first.append(_in_callee(ctx, site))
    steps = [*first, *decisions(ctx, path, site.pos), step(ctx, exit_.pos, f"{way_out} while it is still held")]
    other = next((e for e in ended), None)
    if other is not None:
        steps.append(step(ctx, other.pos, f"another path {verb} it before it leaves here"))
    message = f"{family.label} '{subject}' from {site.call}() is not {verb} on the path that {way_out}"
    if site.by == "given":
        message = f"{family.label} '{subject}' is freed on other paths of {site.call}() but not where it {way_out}"
    if site.by == "loop":
        message = f"{site.call}() holds a {family.label} for '{subject}' that is not {verb} when {way_out}"
    checker, fault = ("iterator", "early-exit") if site.by == "loop" else ("pairing", "leak")
    detail = "|".join((family.name, site.call, exit_.text, last_branch(path)))
    return FunctionFault(
        checker, fault, family.kind, exit_.pos, subject, message, tuple(steps), confidence, detail,
        family=family.name,
    )


def _in_callee(ctx: FunctionContext, site: Site) -> Step:
    """Where the callee takes it; lines of this function's own file count as in the real file."""
    file, _, text = site.where.rpartition(":")
    line = int(text) if text.isdigit() else 0
    if file == ctx.path and line:
        line = ctx.file_line(ctx.lines.start(line))
    return Step(file, line, f"{site.call}() takes it")
