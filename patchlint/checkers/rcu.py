"""Pointers that RCU protects: what may be followed, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.function_fault import FunctionFault, decisions, marks, step
from patchlint.dataflow import Event, PathReport

CHECKER: Final = "rcu"


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Faults of RCU-protected pointers on the paths of one variant."""
    followed: set[int] = set()
    for event in report.events:
        if event.kind == "use" and event.family == "rcu-access" and event.since not in followed:
            followed.add(event.since)
            yield _access(ctx, event)


def _access(ctx: FunctionContext, event: Event) -> FunctionFault:
    path = marks(event.trail)
    steps = (
        step(ctx, event.since, "rcu_access_pointer() promises nothing about what the pointer points to"),
        *decisions(ctx, path, event.since),
        step(ctx, event.pos, f"'{event.subject}' is followed here"),
    )
    message = f"'{event.subject}' comes from rcu_access_pointer(), which gives a value to compare, and is followed"
    return FunctionFault(
        CHECKER, "access-pointer", "", event.pos, event.subject, message, steps, "high", event.name
    )
