"""RCU-protected loads that no section protects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.function_fault import FunctionFault, decisions, step
from patchlint.checkers.protection import protects
from patchlint.checkers.sleeping import may_sleep
from patchlint.dataflow import Event, PathReport, marks
from patchlint.model import Step

CHECKER: Final = "rcu"
_CONTRACTS: Final = ("__acquires", "__releases", "__must_hold")


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Loads outside of every section, in functions that themselves show that no caller can have opened one."""
    if report.asserted or any(word in _CONTRACTS for word, _ in ctx.function.annotations):
        return
    if any(protects(ctx, name) for name in ctx.held_by_callers) or _steps_out(ctx, report):
        return
    loads = [event for event in report.events if event.kind == "load" and "check" not in event.name]
    bare = [event for event in loads if not any(protects(ctx, hold.family) for hold in event.holds)]
    for event in bare:
        shown = _shown(ctx, report, event)
        if shown is not None:
            yield _fault(ctx, event, shown)


def _steps_out(ctx: FunctionContext, report: PathReport) -> bool:
    """Its caller's section is left for a while, perhaps to sleep, and entered again for the way back."""
    left = {event.family for event in report.events if event.kind == "underflow" and protects(ctx, event.family)}
    return any(hold.family in left for exit_ in report.exits for hold in exit_.holds)


def _shown(ctx: FunctionContext, report: PathReport, load: Event) -> Step | None:
    """What shows that the function is not called inside a section: it sleeps, or opens the section itself, too late.

    One that closes what it did not open is called inside.
    """
    for event in report.events:
        if event.kind == "call" and not event.family and may_sleep(report, event) and _by_model(ctx, event):
            return step(ctx, event.pos, f"no caller can have opened a section: {event.name}() may sleep")
    if any(event.kind == "underflow" and protects(ctx, event.family) for event in report.events):
        return None
    for site in report.sites.values():
        family = ctx.callees.family(site.family)
        if family is not None and family.group == "rcu" and site.pos > load.pos and not site.where:
            return step(ctx, site.pos, f"the section is opened only here by {site.call}()")
    return None


def _by_model(ctx: FunctionContext, event: Event) -> bool:
    summary = ctx.callees.summary(event.name)
    return summary is not None and summary.origin == "model"


def _fault(ctx: FunctionContext, event: Event, shown: Step) -> FunctionFault:
    steps = (
        *decisions(ctx, marks(event.trail), ctx.function.start),
        step(ctx, event.pos, f"'{event.subject}' is loaded by {event.name}() with no read-side section open"),
        shown,
    )
    message = f"'{event.subject}' is loaded by {event.name}() outside of any RCU read-side section"
    return FunctionFault(
        CHECKER, "no-section", "", event.pos, event.subject, message, steps, "medium", event.name
    )
