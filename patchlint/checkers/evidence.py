"""What a function's paths say for or against a hold's being forgotten: who else may end it, who did, what was freed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.exits import is_error
from patchlint.checkers.teardown import TornDown, last_word
from patchlint.checkers.unwinding import ELSEWHERE, SHOWN
from patchlint.dataflow import Exit, Hold, Key, Mark, PathReport, Released, Site, marks
from patchlint.effects import Family

COUNTED: Final = ("clk", "pm")
"""Sorts of state that a failing function must set back itself; registrations are often left to the caller's undoing."""
_MAKES: Final = re.compile(r"(?:^|_)(?:register|create|add)(?:_|$)")
_HEAD: Final = 300
"""Bytes of a function's head that are looked at."""
_ARRANGES: Final = re.compile(r"_add_action(?:_or_reset)?\(")
"""Has a function of the driver called when the device goes away."""
_WORD: Final = re.compile(rb"\w+")
_LONG_NAME: Final = re.compile(r"(?:\w+(?:->|\.))+(\w+)")
_FAILED: Final = re.compile(
    r"IS_ERR(?:_OR_NULL)?\(|(?:\w+[_.>])?(?:err|error|r|res|result|ret|rc|rv|rval|retval|status)(?: < 0)?$"
)
"""Tests that, when true, say that a call failed."""
PLAIN_MEMORY: Final = ("kmalloc", "kvmalloc", "vmalloc")


def managed_families(ctx: FunctionContext) -> frozenset[str]:
    """Families that end with the device, because the function calls what manages them (``pcim_enable_device``)."""
    table = ctx.ruleset.models.table("managed")
    text = ctx.source[ctx.function.start : ctx.function.end]
    called = any(re.search(rb"\b" + name.encode() + rb"\b", text) for name in table.get("by", ()))
    return frozenset(table.get("families", ()) if called else ())


def helper_may_undo(
    ctx: FunctionContext, report: PathReport, hold: Hold, site: Site, family: Family, path: list[Mark]
) -> bool:
    """A helper that sounds like undoing was called since: what it does to things found through others is not known.

    One that also comes after a release of the same hold does something else, and so does one that a teardown function
    of the file calls beside such a release, or that comes before a release of what goes with a pointer.
    """
    if family.kind not in ("pair",) and not hold.stored and not hold.lost and not hold.doubt:
        return False
    since = marks_since(path, hold.site)
    if site.by == "loop" and not any(m.kind == "store" for m in since):
        return False  # a callee that keeps it keeps a reference of its own: the macro drops this one in its next turn
    ended = {m.pos for m in since if m.kind == "release"}
    others = {r.pos for r in report.releases if r.matched and r.exact and r.site != hold.site}
    if any(r.pos in ended - others and r.family == hold.family and not r.matched and not _other_number(report, r, hold)
           for r in report.releases):
        return True  # the same sort of thing is given back, found in another way
    if hold.lost and any(m.kind == "release" and _by_body(ctx, m.text) for m in since):
        return True  # it frees the memory that holds this, and knows what is in there
    released = [r.pos for r in report.releases if r.site == hold.site and r.exact]
    return any(
        m.kind == "undo" and not any((pos, m.pos) in report.followed for pos in released)
        and (family.kind == "pair" or (m.pos, hold.site) not in report.outlived)
        and not _beside(ctx, m.text, site.call, family)
        for m in since
    )  # fmt: skip


def _other_number(report: PathReport, ended: Released, hold: Hold) -> bool:
    """Both are named or given as a number: then they are two things."""
    return all(report.keys[obj][0] in ("c", "n") for obj in (ended.obj, hold.obj))


def _by_body(ctx: FunctionContext, name: str) -> bool:
    """What a call of ``name`` does was read from its body."""
    summary = ctx.callees.summary(name)
    return summary is not None and summary.origin == "body"


def _beside(ctx: FunctionContext, helper: str, taker: str, family: Family) -> bool:
    """Some teardown function of the file calls ``helper`` as well as a release of the family.

    Then it does something else, unless by its name it is what undoes ``taker``.
    """
    if helper in ctx.ruleset.models.counterpart(taker):
        return False
    for teardown in ctx.teardowns:
        names = {call.name for call in teardown.calls}
        if helper in names and not names.isdisjoint(family.releases):
            return True
    return False


def given_back_at_end(
    ctx: FunctionContext, report: PathReport, hold: Hold, site: Site, family: Family, path: list[Mark]
) -> bool:
    """The file's teardown gives back what this function takes and keeps: it owes that where it fails.

    It does so if it is called from outside, by whoever then forgets it, or unwinds what it took before.
    """
    if released(report, hold) or earlier_turn(report, hold, path) or made_when_missing(ctx, site, path):
        return False
    if ELSEWHERE in site.flags and _undone_by_hand(report, hold, site, path):
        return False
    if not (entered_from_outside(ctx) or undoes_earlier(ctx, report, path, site.pos)):
        return False
    return ELSEWHERE in site.flags or any(
        _gives_back(ctx, call, family, report.keys[hold.obj], last_word(site.subject))
        for teardown in ctx.teardowns if site.call not in teardown.arranged_by for call in teardown.calls
    )  # fmt: skip


def made_when_missing(ctx: FunctionContext, site: Site, path: list[Mark]) -> bool:
    """``if (!d->buf) d->buf = alloc()``, or ``if (!d->ready) { ...; d->ready = true; }``: who comes next finds it.

    Instead of a flag the thing itself may tell, under another name.
    """
    absent = [m.text for m in path if m.kind == "if" and not m.truth and m.pos < site.pos]
    asked = max((m.pos for m in path if m.kind == "if"), default=0)
    since = ctx.source[site.pos : max(site.pos, asked)]  # up to the last decision, so that a jump is not taken for it
    flags = (re.escape(word.encode()) for word in absent if _LONG_NAME.fullmatch(word))
    told = rb"(?:true|1|%s)" % re.escape(site.subject.encode())
    return site.subject in absent or any(re.search(rb"%s\s*[=,]\s*%s\s*[;)]" % (flag, told), since) for flag in flags)


def _undone_by_hand(report: PathReport, hold: Hold, site: Site, path: list[Mark]) -> bool:
    """Something found through the same thing was given back since: what the counterpart does, step by step."""
    since = {m.pos for m in marks_since(path, hold.site) if m.kind == "release"}
    word = re.compile(rf"\b{re.escape(last_word(site.subject))}\b")
    return any(r.pos in since and not r.matched and word.search(r.subject) is not None for r in report.releases)


def of_each_turn(report: PathReport, hold: Hold, path: list[Mark]) -> bool:
    """Taken in an earlier turn of a loop whose turns give back their own only: what came before is to stay."""
    if not earlier_turn(report, hold, path):
        return False
    here = [r.pos for r in report.releases if r.site == hold.site]
    return any(hold.site in turns and all(pos in turns for pos in here) for turns in report.loops)


def _gives_back(ctx: FunctionContext, call: TornDown, family: Family, held: Key, word: str) -> bool:
    """Whether a teardown's call ends such a hold on the thing called ``word``, itself or in its body."""
    if call.name in family.releases:
        return not call.words or word in call.words
    summary = ctx.callees.summary(call.name)
    for effect in summary.effects if summary is not None else ():
        place = effect.place
        if effect.action == "release" and effect.resource == family.name:
            if place.root == "global":
                return held == ("&g", place.path)
            return call.words[place.index : place.index + 1] == (word,)
    return False


def entered_from_outside(ctx: FunctionContext) -> bool:
    """A module's start, or an operation: who calls it has nothing of it to undo when it fails."""
    if ctx.is_callback in ctx.ruleset.models.table("teardown").get("after_failure", ()):
        return False
    head = ctx.source[ctx.function.start : ctx.function.start + _HEAD].partition(b"(")[0]
    return bool(ctx.is_callback) or b" __init " in head


def left_in_managed_memory(
    ctx: FunctionContext, report: PathReport, hold: Hold, site: Site, path: list[Mark]
) -> bool:
    """All that knows of it is memory that goes away by itself when the device's setup fails.

    Not where something was given back since that was found through the same memory, nor where calls are arranged.
    """
    table = ctx.ruleset.models.table("managed")
    text = ctx.source[ctx.function.start : ctx.function.end].decode("utf-8", "replace")
    var = re.match(r"(\w+)->", site.subject)
    makers = "|".join(table.get("memory", ()))
    if var is None or not re.search(rf"\b{var[1]} = (?:{makers})\(", text) or _ARRANGES.search(text):
        return False
    since = {m.pos for m in marks_since(path, hold.site) if m.kind == "release"}
    return not any(
        r.pos in since and not r.matched and re.search(rf"\b{var[1]}\b", r.subject) for r in report.releases
    )


def left_with_device(ctx: FunctionContext, report: PathReport, hold: Hold, path: list[Mark]) -> bool:
    """All that knows of it is the device whose setup fails: the driver core then forgets what the driver kept there.

    See ``device_unbind_cleanup()`` in drivers/base/dd.c.  Places behind the path's last decision were not passed.
    """
    table = ctx.ruleset.models.table("driver_data")
    if ctx.is_callback not in table.get("setup", ()):
        return False
    decided = max((m.pos for m in path if m.kind == "if"), default=0)
    kept = (_WORD.match(ctx.source, pos) for site, pos in report.kept if site == hold.site and pos < decided)
    setters = [word is not None and word[0].decode() in table.get("set", ()) for word in kept]
    return bool(setters) and all(setters)


def callee_may_end(ctx: FunctionContext, hold: Hold, path: list[Mark]) -> bool:
    """A callee since leaves a lock or section of this sort, on an object that its body finds for itself.

    What is left of the turns of a loop may be of the first: then a callee in any of them may have ended it.
    """
    family = ctx.callees.family(hold.family)
    return family is not None and family.kind != "pair" and in_some_callee(family, hold, path)


def in_some_callee(family: Family, hold: Hold, path: list[Mark]) -> bool:
    """Some callee since ends such a thing, which may be this one."""
    ends = {hold.family, *family.compatible}
    first = next((i for i, m in enumerate(path) if m.kind == "acquire" and m.pos == hold.site), 0)
    return any(m.kind == "may-end" and m.text in ends for m in path[first:])


def kept_in_loop(report: PathReport, hold: Hold, path: list[Mark]) -> bool:
    """The path passes a loop, with no turn, whose turns put what is held where it stays."""
    at = {pos for site, pos in report.kept if site == hold.site}
    inside = [turns for turns in report.loops if hold.site not in turns and not at.isdisjoint(turns)]
    return any(m.pos in turns for m in marks_since(path, hold.site) for turns in inside)


def released(report: PathReport, hold: Hold) -> bool:
    """Some path of the function surely ends what was taken at the same place."""
    return any(r.site == hold.site and r.exact and r.held == hold.family for r in report.releases)


def drops_another(report: PathReport, hold: Hold, path: list[Mark]) -> bool:
    """The path gives back another reference on the same thing, which was made here: it undoes, and miscounts."""
    root = report.roots[hold.obj]
    dropped = {(m.pos, m.site) for m in marks_since(path, hold.site) if m.kind == "release" and m.site != hold.site}
    return report.keys[root][0] == "s" and any(
        (r.pos, r.site) in dropped and r.exact and r.family == hold.family and report.roots[r.obj] == root
        for r in report.releases
    )


def marks_since(path: list[Mark], site: int) -> list[Mark]:
    """What happened after ``site`` was passed for the last time."""
    at = max((i for i, m in enumerate(path) if m.kind == "acquire" and m.pos == site), default=0)
    return path[at + 1 :]


def tail_call(ctx: FunctionContext, exit_: Exit, hold: Hold, site: Site) -> bool:
    """``return register(thing)``: what becomes of the thing when that fails, the callee decides.

    Not where a model says what the callee does: then the hold depends on the result.  Nor is ``ERR_PTR(ret)`` a callee.
    """
    call = re.search(r"(\w+)\((.*)\)$", exit_.text)
    if call is None or (hold.cond >= 0 and hold.cond == exit_.value and not hold.doubt):
        return False
    if ctx.callees.macro(call[1]) is not None:
        return False
    subject = site.subject.lstrip("&*")
    given = (arg.strip().lstrip("&*") for arg in call[2].split(","))
    return any(arg and re.match(rf"{re.escape(arg)}(?!\w)", subject) for arg in given)


def undone_in_loop(report: PathReport, hold: Hold, site: Site, path: list[Mark]) -> bool:
    """A loop that gives back what a loop took was passed, with fewer turns than the engine can count.

    The taking loop may be a macro that the engine does not see through; then only a pair that is inferred counts.  What
    was put into an array piece by piece is given back by a loop as well.
    """
    if site.by == "loop":
        return False  # the taking loop is the macro, which keeps one at a time
    turns = report.loops
    here = [r for r in report.releases if r.site == hold.site]
    inside = [t for t in turns if any(r.pos in t for r in here)]
    pieces = any(not r.exact for r in here)
    if not inside or not (SHOWN in site.flags or pieces or any(hold.site in t for t in turns)):
        return False
    return any(m.pos in t for m in marks_since(path, hold.site) for t in inside if hold.site not in t)


def still_registered(ctx: FunctionContext, report: PathReport, exit_: Exit, hold: Hold) -> bool:
    """What stays registered belongs to its registration: that is what is left open."""
    for other in exit_.holds:
        family, site = ctx.callees.family(other.family), report.sites.get((other.site, other.family))
        registers = (family is not None and family.sort == "reg") or (site is not None and "registers" in site.flags)
        if registers and other != hold and report.roots[other.obj] == report.roots[hold.obj]:
            return True
    return False


def earlier_turn(report: PathReport, hold: Hold, path: list[Mark]) -> bool:
    """Taken in a turn of a loop that was followed by another: all turns are for whoever finds them, or for none."""
    at_once = sum(pos == hold.site for pos, _ in report.sites)  # one call may take several things
    if sum(m.kind == "acquire" and m.pos == hold.site for m in path) > at_once and not hold.owned:
        return True
    since = marks_since(path, hold.site)
    return any(m.pos in t and m.pos < hold.site for t in report.loops if hold.site in t for m in since)


class Outcomes:
    """What becomes of what is taken at a place, on all paths; worked out once, for a place may have many exits."""

    def __init__(self, report: PathReport) -> None:
        self._exits = report.exits
        self.paths = {id(exit_): marks(exit_.trail) for exit_ in report.exits}
        """What happens on the way to each exit."""
        self._known: dict[int, tuple[list[Exit], list[Exit]]] = {}

    def of(self, site: int) -> tuple[list[Exit], list[Exit]]:
        """Exits of the paths that take something at ``site``, and of those among them that end it."""
        if site not in self._known:
            passed = [e for e in self._exits if passes(self.paths[id(e)], site)]
            self._known[site] = passed, [e for e in passed if ends(self.paths[id(e)], site)]
        return self._known[site]


def passes(path: list[Mark], site: int) -> bool:
    """The path takes something at ``site``."""
    return any(m.pos == site and m.kind == "acquire" for m in path)


def ends(path: list[Mark], site: int) -> bool:
    """What was taken at ``site`` is released later on the path, and not taken there again."""
    ended = False
    for mark in path:
        if mark.kind == "acquire" and mark.pos == site:
            ended = False
        elif mark.kind == "release" and mark.site == site:
            ended = True
    return ended


def memory_freed(
    ctx: FunctionContext, report: PathReport, hold: Hold, site: Site, family: Family, path: list[Mark]
) -> bool:
    """The memory around something registered, or counted and named, was freed with plain memory's release since."""
    if (family.kind != "pair" and "named" not in site.flags) or earlier_turn(report, hold, path):
        return False
    freed = {m.pos for m in marks_since(path, hold.site) if m.kind == "release"}
    return site.by in ("arg", "born") and any(
        r.pos in freed and report.roots[r.obj] == report.roots[hold.obj] and r.family in PLAIN_MEMORY
        and r.obj != hold.obj and report.keys[r.obj][0] == "s"
        for r in report.releases
    )  # fmt: skip


def handed_back(report: PathReport, site: Site, family: Family) -> bool:
    """The function drops a lock, or leaves a section, that is its caller's, and takes or enters it again."""
    before = (e for e in report.events if e.kind == "underflow" and e.family == family.name and e.pos < site.pos)
    return any(family.kind == "rcu" or (family.kind == "lock" and e.subject == site.subject) for e in before)


def goes_with_result(exit_: Exit, site: Site, family: Family) -> bool:
    """The function returns what it has locked, or the object that the lock is in, to a caller who unlocks it."""
    inside = re.match(rf"[&*(]*{re.escape(exit_.text)}(?:->|\.|$)", site.subject)
    return family.kind == "lock" and exit_.text.isidentifier() and inside is not None


def lone(ctx: FunctionContext, exit_: Exit) -> bool:
    """Nothing else that counts is left: a function that leaves several things on and undoes none has a counterpart."""
    left = (ctx.callees.family(hold.family) for hold in exit_.holds if not hold.owned)
    return sum(family is not None and family.sort in COUNTED for family in left) == 1


def known_here_only(ctx: FunctionContext, report: PathReport, hold: Hold, site: Site, path: list[Mark]) -> bool:
    """What the call gave was put nowhere and given to nobody: when the function fails, no one can end it any more.

    That this matters is shown by other functions that end such a thing, or by the path, which undoes what came before.
    """
    alone = site.by == "result" and hold.cond in (-1, hold.obj) and not (hold.doubt or hold.lost)
    return alone and (ELSEWHERE in site.flags or undoes_earlier(ctx, report, path, site.pos))


def undoes_earlier(ctx: FunctionContext, report: PathReport, path: list[Mark], site: int) -> bool:
    """The way out undoes what was taken before ``site``: it unwinds, and misses this one.

    In code that stands in the tree what success gives back at the same place as well is no unwinding.
    """
    since = marks_since(path, site)
    earlier = {m.pos for m in path[: len(path) - len(since)] if m.kind == "acquire"} - {site}
    undone = {m.pos for m in since if m.kind == "release" and m.site in earlier}
    if undone and ctx.mode == "tree":
        undone -= {m.pos for e in report.exits if not is_error(ctx, e) for m in marks(e.trail) if m.kind == "release"}
    return bool(undone)


def discarded(site: Site, path: Sequence[Mark]) -> bool:
    """Nobody looked at what the call gave: it was made to stay, or is what the call was given."""
    called = site.by == "result" and site.subject.startswith(f"{site.call}(")
    stays = bool(site.where) or _MAKES.search(site.call) is not None
    return called and stays and not any(mark.kind == "if" and f"{site.call}(" in mark.text for mark in path)


def fails_silently(exit_: Exit, hold: Hold) -> bool:
    """A call failed since, in a function without a result, which has no other way to tell failure."""
    since = marks_since(marks(exit_.trail), hold.site)
    return exit_.mask == 0 and any(m.kind == "if" and m.truth and _FAILED.match(m.text) for m in since)


def left_to_caller(ctx: FunctionContext, report: PathReport, hold: Hold) -> bool:
    """It is a part of what a caller in the kernel handed in, who ends the whole when he hears of the failure."""
    root = report.roots[hold.obj]
    part = hold.obj != root and report.keys[root][0] == "p"
    return part and ctx.mode != "changed" and not entered_from_outside(ctx)
