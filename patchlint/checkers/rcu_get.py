"""References to objects that may be on their way out: the form that can fail must be used, and its result looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evaluated import statements
from patchlint.checkers.function_fault import FunctionFault, decisions, step
from patchlint.checkers.protection import is_lock, lock_promised
from patchlint.dataflow import Event, PathReport, marks
from patchlint.ir import Evaluate

CHECKER: Final = "rcu"

_COUNTS: Final = re.compile(r"ref|usage|users|kobj|(?:^|\W)(?:cnt|count|use)\b", re.IGNORECASE)
"""Names of members that count references; other atomics are statistics."""
_PLAIN: Final = frozenset(("atomic_inc", "refcount_inc"))


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Gets that may wake the dead, and gets whose failure nobody sees."""
    words = ctx.ruleset.models.table("rcu")
    sure = frozenset(words.get("unconditional_get", ()))
    for event in report.events:
        if event.kind == "held" and event.family == "rcu" and event.name in sure and _unprotected(ctx, report, event):
            yield _unconditional(ctx, event)
    yield from _ignored(ctx, frozenset(words.get("conditional_get", ())))


def _unprotected(ctx: FunctionContext, report: PathReport, event: Event) -> bool:
    """Whether nothing but the RCU section keeps the object findable: no lock, no promise of the caller's."""
    if event.name in _PLAIN and not _COUNTS.search(event.subject):
        return False
    if _dropped_later(ctx, event.name):
        return False
    return not lock_promised(ctx, report) and not any(is_lock(ctx, hold.family) for hold in event.holds)


def _dropped_later(ctx: FunctionContext, name: str) -> bool:
    """The last reference of these objects is dropped when no reader is left: none sees a count of 0."""
    summary = ctx.callees.summary(name)
    families = (ctx.callees.family(e.resource) for e in summary.effects) if summary is not None else ()
    return any(family is not None and not ctx.file.deferred.isdisjoint(family.releases) for family in families)


def _unconditional(ctx: FunctionContext, event: Event) -> FunctionFault:
    steps = (
        step(ctx, event.since, "found here under RCU: its last reference may already be gone"),
        *decisions(ctx, marks(event.trail), event.since),
        step(ctx, event.pos, f"{event.name}() counts up whatever the count is"),
    )
    message = f"{event.name}() on '{event.subject}', which was found under RCU and whose count may already be zero"
    return FunctionFault(
        CHECKER, "unconditional-get", "", event.pos, event.subject, message, steps, "medium", event.name
    )


def _ignored(ctx: FunctionContext, conditional: frozenset[str]) -> Iterator[FunctionFault]:
    text = ctx.source[ctx.function.start : ctx.function.end]
    if not any(word.encode() in text for word in conditional):
        return
    for stmt in statements(ctx.function):
        call = stmt.expr if isinstance(stmt, Evaluate) else None
        name = getattr(call, "name", "")
        if call is not None and name in conditional:
            message = f"the result of {name}() is ignored: the reference may not have been taken"
            steps = (step(ctx, call.pos, f"{name}() may fail"),)
            yield FunctionFault(CHECKER, "ignored-get", "", call.pos, name, message, steps, "medium", name)
