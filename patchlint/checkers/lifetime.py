"""Objects used after the reference that kept them was dropped, or after they were freed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from patchlint.cfg import render
from patchlint.checkers import borrowed
from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evaluated import calls_in, nodes_in
from patchlint.checkers.function_fault import FunctionFault, decisions, lower, step
from patchlint.checkers.protection import lock_promised
from patchlint.dataflow import Event, Mark, PathReport, Released, Site, marks
from patchlint.effects import Family
from patchlint.ir import Assign, Member
from patchlint.model import Confidence

CHECKER: Final = "pairing"

_TELLS: Final = re.compile(
    r"^(?:pr_|dev_|netdev_|net_|v?printk|d?printk|dout|DBG|seq_|IS_ERR|PTR_ERR|ERR_PTR|WARN|BUG|kasan_|kmemleak_)|_(?:dbg|err|warn|info)$"
    r"|(?:^|_)(?:set|assign|init|INIT)(?:_|$)|(?:^|_)k?v?(?:free|put|release|drop|destroy)$|^(?:k?v?free|put)_"
)
"""Calls that print a pointer or look at its value only, or give it up once more (which another fault tells)."""

_REFERS: Final = re.compile(r"(?:^|_)(?:get|hold|ref|grab|pin|claim|use|open|attach|register)(?:_|$|/)")
"""Names of unmodelled pairs that may be references."""

_GRACE: Final = frozenset(("rcu", "rcu_bh", "rcu_sched", "atomic", "irq", "bh", "preempt"))
"""Contexts in which a CPU passes no quiescent state (Documentation/RCU/whatisRCU.rst)."""

_ENDS: Final = re.compile(
    r"(?:^|_)(?:release|free|destroy|remove|exit|put|unset|detach|fini|deinit|cleanup|kill|del|delete|disconnect|shutdown|"
    r"unregister|teardown|uninit|dtor|unbind)(?:_|$)"
)
"""Names of functions that end the life of what they are given."""


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Uses of dead objects on the paths of one variant, the first one after each end, and what makes objects die."""
    yield from borrowed.check(ctx, report)
    again = {event.since for event in report.events if event.kind == "released"}
    told: set[tuple[int, str]] = set()
    for event in report.events:
        if event.kind != "use" or event.family not in ("freed", "dropped") or (event.since, event.subject) in told:
            continue
        if event.since in again:  # told as dropped twice, or there was more than one reference
            continue
        family = _family(ctx, report, event)
        sure = _sure(ctx, report, event) if family is not None else None
        if family is not None and sure is not None:
            told.add((event.since, event.subject))
            yield _fault(ctx, event, family, sure)


def _family(ctx: FunctionContext, report: PathReport, event: Event) -> Family | None:
    """What the object was a hold of: told by the release, or by the call that consumed it.

    A reference that a call takes over goes on keeping the object; consumed memory is another's.
    """
    ended = _ended(report, event)
    if ended is not None:
        return ctx.callees.family(ended.family)
    for name in _ending(ctx, event):
        summary = ctx.callees.summary(name)
        for effect in summary.effects if summary is not None else ():
            family = ctx.callees.family(effect.resource) if effect.frees else None
            if family is not None and family.kind == "mem":
                return family
    return None


def _ending(ctx: FunctionContext, event: Event) -> list[str]:
    """The functions called where what the event speaks of was ended."""
    return [call.name for call in calls_in(ctx.function) if call.pos == event.since and call.name]


def _ended(report: PathReport, event: Event) -> Released | None:
    """The release that the event goes back to, one that ended a hold of this function if there is such."""
    here = [r for r in report.releases if r.pos == event.since]
    return next((r for r in here if r.matched), here[0] if here else None)


def _sure(ctx: FunctionContext, report: PathReport, event: Event) -> Confidence | None:
    """How sure it is that the object may be gone; None when it may well be there."""
    passed = event.detail == "pass"
    if passed and (_TELLS.search(event.name) or _unused(ctx, event)):
        return None
    ended = _ended(report, event)
    if event.family == "freed":
        if _put_off(ctx, event):
            return None
        sure: Confidence = "medium" if passed else "high"
        return lower(sure, 2) if _by_body(ctx, event) else sure
    if ended is None or (passed and lock_promised(ctx, report)) or _may_be_kept(report, event):
        return None
    if ctx.mode == "tree" and (_by_body(ctx, event) or not ended.matched):
        return "low"  # what is dropped is perhaps one reference of several
    if not ended.matched:
        return _found_dropped(ctx, report, event, ended) or _field_dropped(ctx, report, event, ended)
    site = report.sites.get((ended.site, ended.family))
    if site is None or site.by == "arg":
        return None
    return "low" if ctx.mode == "tree" and _shown_around(ctx, site, ended) else "medium"


def _unused(ctx: FunctionContext, event: Event) -> bool:
    """The callee, a macro most often, does not speak of what it is given."""
    summary = ctx.callees.summary(event.name)
    return summary is not None and any(
        arg.pos == event.pos and at in summary.unused
        for call in calls_in(ctx.function) if call.name == event.name for at, arg in enumerate(call.args)
    )  # fmt: skip


def _shown_around(ctx: FunctionContext, site: Site, ended: Released) -> bool:
    """While it was held the object was given to a call that may have taken a reference of its own."""
    for call in calls_in(ctx.function):
        if not site.pos < call.pos < ended.pos:
            continue
        summary = ctx.callees.summary(call.name) if call.name else None
        for arg in call.args:
            if (summary is None or summary.origin == "body") and render(arg) == site.subject:
                return True
    return False


def _may_be_kept(report: PathReport, event: Event) -> bool:
    """Whether some pair that may be a reference is still open on the object."""
    roots = report.roots
    return any(
        roots[hold.obj] == roots[event.obj] and _REFERS.search(hold.family) and "lock" not in hold.family
        for hold in event.holds
    )


def _put_off(ctx: FunctionContext, event: Event) -> bool:
    """It is freed after a grace period, which does not end as long as the function keeps what it is in atomic."""
    deferred = ctx.ruleset.models.table("rcu").get("deferred_free", ())
    if not any(name in deferred for name in _ending(ctx, event)):
        return False
    families = (ctx.callees.family(hold.family) for hold in event.holds)
    return any(family is not None and family.context in _GRACE for family in families)


def _by_body(ctx: FunctionContext, event: Event) -> bool:
    """Whether the end is that of a part, perhaps: what a callee frees was told from its body."""
    summaries = map(ctx.callees.summary, _ending(ctx, event))
    return any(summary is not None and summary.origin == "body" for summary in summaries)


def _found_dropped(ctx: FunctionContext, report: PathReport, event: Event, ended: Released) -> Confidence | None:
    """What a call gave back was dropped, as this function does on other paths too: the reference was its own."""
    found = report.keys[ended.obj][0] == "s" and event.obj == ended.obj
    others = [r.pos for r in report.releases if (r.obj, r.family) == (ended.obj, ended.family) and r.pos != ended.pos]
    if any(b";" not in ctx.source[pos : event.pos] for pos in others if pos <= event.pos):
        return None  # dropped once more right there: there was more than one reference
    return "medium" if found and others else None


def _field_dropped(ctx: FunctionContext, report: PathReport, event: Event, ended: Released) -> Confidence | None:
    """A structure's own reference was dropped: its pointer was cleared afterwards, or all of this is its end."""
    address = report.keys[ended.obj]
    field = report.keys[int(str(address[1]))] if address[0] == "ld" else ()
    if not field or field[0] != "f" or event.obj != ended.obj:
        return None
    cleared = (
        node.pos
        for node in nodes_in(ctx.function)
        if isinstance(node, Assign) and isinstance(node.target, Member) and node.target.field == field[2]
        and render(node.value) in ("NULL", "0")
    )  # fmt: skip
    if any(event.since < pos < event.pos for pos in cleared):
        return "medium"
    return "medium" if event.subject == ended.subject and _ENDS.search(ctx.function.name) else None


def _fault(ctx: FunctionContext, event: Event, family: Family, sure: Confidence) -> FunctionFault:
    path: list[Mark] = marks(event.trail)
    subject = event.subject or event.name
    word = "freed" if event.family == "freed" else "dropped"
    use = f"passed to {event.name}()" if event.detail == "pass" else "used"
    steps = (
        step(ctx, event.since, f"{family.label} {word} here"),
        *decisions(ctx, path, event.since),
        step(ctx, event.pos, f"'{subject}' is {use} here"),
    )
    message = f"'{subject}' is {use} after its {family.label} was {word}"
    return FunctionFault(
        CHECKER, "use-after", family.kind, event.pos, subject, message, steps, sure, f"{family.name}|{event.name}",
        family=family.name,
    )
