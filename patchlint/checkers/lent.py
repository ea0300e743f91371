"""The caller's reference dropped in place of one's own: a variable that is either what was made here or a parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.function_fault import FunctionFault, decisions, step
from patchlint.dataflow import Event, PathReport, marks
from patchlint.effects import Family

CHECKER: Final = "pairing"
_MADE: Final = ("s", "phi")
"""Values that calls give; where paths are joined, what may be one: the walk that keeps them apart decides."""


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Drops of what the function itself got from a call on one path, and of a parameter on another.

    A function that drops its parameter elsewhere too has been given the reference: then all is as its caller knows.
    """
    for event in report.events:
        family = ctx.callees.family(event.family) if event.kind == "underflow" else None
        if family is not None and family.kind == "ref" and _is_lent(ctx, report, event):
            yield _fault(ctx, event, family)


def _is_lent(ctx: FunctionContext, report: PathReport, event: Event) -> bool:
    key = report.keys[event.obj]
    if key[0] != "p" or event.subject == ctx.function.params[key[1]].name:
        return False
    own = any(r.pos == event.pos and (r.matched or report.keys[r.obj][0] in _MADE) for r in report.releases)
    given = any(r.pos != event.pos and r.obj == event.obj for r in report.releases)
    return own and not given


def _fault(ctx: FunctionContext, event: Event, family: Family) -> FunctionFault:
    steps = (
        *decisions(ctx, marks(event.trail), ctx.function.start),
        step(ctx, event.pos, f"{event.name}() drops what the caller holds: '{event.subject}' is the parameter here"),
    )
    message = f"{family.label} '{event.subject}' is the caller's on this path, which {event.name}() drops all the same"
    return FunctionFault(
        CHECKER, "double", family.kind, event.pos, event.subject, message, steps, "medium", f"{family.name}|lent",
        family=family.name,
    )  # fmt: skip
