"""Pointers that RCU protects: what may be followed, and until when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from patchlint.cfg import walk
from patchlint.checkers import rcu_free, rcu_get, rcu_load, rcu_plain
from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evaluated import assigned, calls_in
from patchlint.checkers.function_fault import FunctionFault, decisions, step
from patchlint.checkers.protection import protects
from patchlint.dataflow import Event, Mark, PathReport, marks
from patchlint.ir import Name
from patchlint.model import Confidence

CHECKER: Final = "rcu"

_TAKES: Final = re.compile(
    r"(?:^|_)(?:get|hold|ref|refcount|grab|pin|lock|take|inc|clone|claim|acquire|try|tryget|use|busy|attach|enter)(?:_|$)"
)
"""Words in the name of a call that may take a reference to its argument."""
_TELLS: Final = re.compile(
    r"^(?:pr_|dev_|netdev_|net_|v?printk|seq_|trace_|ERR_PTR|IS_ERR|PTR_ERR|WARN)|_(?:dbg|err|warn|info)$"
    r"|(?:^|_)k?v?(?:free|rcu|put|release|destroy|drop|synchronize)(?:_|$)"
)
"""Calls that print a pointer, look at its value only, or give the object up."""

_ENDS: Final = re.compile(r"(?:^|_)(?:free|destroy|release|exit|fini|teardown|cleanup|uninit|kill|flush)(?:_|$)")
"""Names of functions that may run when no reader is left."""


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Faults of RCU-protected pointers on the paths of one variant."""
    yield from _followed(ctx, report)
    yield from rcu_free.check(ctx, report)
    yield from rcu_get.check(ctx, report)
    yield from rcu_load.check(ctx, report)
    yield from rcu_plain.check(ctx, report)


def _followed(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    for event in report.events:
        if event.kind == "use" and event.family == "rcu-access":
            yield _access(ctx, event)
        elif event.kind == "use" and event.family == "stale" and _outlives(ctx, report, event):
            yield _stale(ctx, event)


def _access(ctx: FunctionContext, event: Event) -> FunctionFault:
    path = marks(event.trail)
    steps = (
        step(ctx, event.since, "rcu_access_pointer() promises nothing about what the pointer points to"),
        *decisions(ctx, path, event.since),
        step(ctx, event.pos, f"'{event.subject}' is followed here"),
    )
    message = f"'{event.subject}' comes from rcu_access_pointer(), which gives a value to compare, and is followed"
    # Allowed where no reader is left (include/linux/rcupdate.h), which only the name can tell.
    sure: Confidence = "high"
    held = (*(hold.family for hold in event.holds), *ctx.held_by_callers)
    if ctx.mode == "tree" and any(protects(ctx, name) for name in held):
        sure = "low"  # the pointer cannot go: what is missing is only the order of loads
    elif _ENDS.search(ctx.function.name):
        sure = "low" if ctx.mode == "tree" else "medium"
    return FunctionFault(
        CHECKER, "access-pointer", "", event.pos, event.subject, message, steps, sure, event.name,
        since=(event.since, event.family),
    )  # fmt: skip


# ------------------------------------------------------- after the section


def _outlives(ctx: FunctionContext, report: PathReport, event: Event) -> bool:
    """Whether nothing but the section that ended can have kept the object alive."""
    if event.detail == "pass" and _TELLS.search(event.name):
        return False
    if report.asserted or any(protects(ctx, name) for name in ctx.held_by_callers):
        return False
    path = marks(event.trail)
    if any(_keeps(ctx, h.family) and _taken_before(path, h.site, event.since) for h in event.holds):
        return False
    section = (0, len(ctx.source)) if ctx.mode == "tree" else (_opened(ctx, report, event.since), event.since)
    return not _may_be_held(ctx, event.subject, section)


def _opened(ctx: FunctionContext, report: PathReport, ended: int) -> int:
    """Where the section that ends at ``ended`` begins, as the text has it."""
    families = ((site.pos, ctx.callees.family(site.family)) for site in report.sites.values())
    return max((pos for pos, family in families if pos < ended and family and family.kind == "rcu"), default=0)


def _keeps(ctx: FunctionContext, name: str) -> bool:
    """Whether what is held may keep the object alive; a reference to another one may do so in turn."""
    family = ctx.callees.family(name)
    return protects(ctx, name) or (family is not None and family.kind == "ref")


def _taken_before(path: list[Mark], site: int, ended: int) -> bool:
    """Whether the hold taken at ``site`` was there when the section ended."""
    taken = False
    for mark in path:
        if mark.pos == site and mark.kind == "acquire":
            taken = True
        elif mark.pos == ended and mark.kind == "release":
            return taken
    return taken


def _may_be_held(ctx: FunctionContext, subject: str, section: tuple[int, int]) -> bool:
    """Whether some call that by its name may take a reference is given the pointer, or what it was loaded from.

    A reference to the latter keeps what was found through it only if it is taken inside of ``section``.
    """
    root = re.match(r"\w+", subject)
    if root is None:
        return True
    values = (value for name, value in assigned(ctx.function) if name == root[0])
    owners = {inner.id for value in values for inner in walk(value) if isinstance(inner, Name)}
    for call in calls_in(ctx.function):
        if _may_take(ctx, call.name) and not _is_other(ctx, call.name):
            held = {root[0], *owners} if section[0] <= call.pos < section[1] else {root[0]}
            if any(isinstance(node, Name) and node.id in held for node in walk(call)):
                return True
    return False


def _may_take(ctx: FunctionContext, name: str) -> bool:
    """Whether a call may take a reference, by its name or by its body."""
    if _TAKES.search(name):
        return True
    summary = ctx.callees.summary(name) if name else None
    return summary is not None and summary.tries


def _is_other(ctx: FunctionContext, name: str) -> bool:
    """Whether the call is known to do something else: to look up under RCU, to take a lock."""
    summary = ctx.callees.summary(name)
    effects = summary.effects if summary is not None else ()
    return any(e.action == "tag" or (e.action == "acquire" and protects(ctx, e.resource)) for e in effects)


def _stale(ctx: FunctionContext, event: Event) -> FunctionFault:
    path = marks(event.trail)
    what = f"passed to {event.name}()" if event.detail == "pass" else "followed"
    steps = (
        step(ctx, event.since, "the RCU read-side section ends here"),
        *decisions(ctx, path, event.since),
        step(ctx, event.pos, f"'{event.subject}' is {what}"),
    )
    message = f"'{event.subject}' is {what} after the RCU section that protected it ended, with no reference taken"
    return FunctionFault(
        CHECKER, "outlives-section", "", event.pos, event.subject, message, steps,
        "medium" if event.detail == "pass" else "high", event.name, since=(event.since, event.subject),
    )  # fmt: skip
