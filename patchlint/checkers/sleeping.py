"""Calls that may sleep where sleeping is not allowed: in an RCU section, with a spinlock held, interrupts off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evidence import callee_may_end
from patchlint.checkers.function_fault import FunctionFault, decisions, step
from patchlint.dataflow import Event, PathReport, marks
from patchlint.model import Confidence, Step

CHECKER: Final = "context"
KINDS: Final = ("lock", "rcu")
"""Sorts of context, each with a rule of its own; a call that is wrong in both is reported once, for the first."""

SLEEPING: Final = frozenset((
    "GFP_KERNEL", "GFP_KERNEL_ACCOUNT", "GFP_USER", "GFP_HIGHUSER", "GFP_HIGHUSER_MOVABLE", "GFP_NOFS", "GFP_NOIO",
    "GFP_TRANSHUGE", "__GFP_DIRECT_RECLAIM", "__GFP_RECLAIM", "M_WAITOK",
))  # fmt: skip
"""Allocation flags that allow to sleep."""
_FAULTS_OFF: Final = ("pagefault", "kunmap_atomic")
"""Families of holds under which an access to user memory fails instead of sleeping."""


class _Where(NamedTuple):
    """Why a place must not sleep: the sort of context and the hold (or the callers) that make it so."""

    kind: str
    label: str
    pos: int
    """Where it was taken; 0 when callers hold it."""
    call: str
    by_body: bool = False
    """The call that took it is known from its body only."""


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Faults of context on the paths of one variant."""
    for event in report.events:
        if event.kind not in ("call", "given") or not may_sleep(report, event):
            continue
        where = _where(ctx, report, event)
        if where is not None:
            yield _fault(ctx, event, where)


def may_sleep(report: PathReport, event: Event) -> bool:
    """Whether the call sleeps for certain, as far as its allocation flags or its pause tell."""
    if event.obj < 0:
        return event.detail == "yes"
    key = report.keys[event.obj]
    if key[0] == "c":
        return bool(key[1])  # a pause between two looks, in place of flags
    words = _flags(report, event.obj)
    return words is not None and bool(words & SLEEPING)


def _flags(report: PathReport, value: int) -> frozenset[str] | None:
    """Names or-ed together in ``value``; None when a part of it is no constant, or one is masked out."""
    key = report.keys[value]
    if key[0] == "n":
        return frozenset((str(key[1]),))
    if key[0] == "c":
        return frozenset()
    if key[0] == "op" and key[1] == "|":
        left, right = _flags(report, int(str(key[2]))), _flags(report, int(str(key[3])))
        return None if left is None or right is None else left | right
    return None


def _where(ctx: FunctionContext, report: PathReport, event: Event) -> _Where | None:
    for kind in KINDS:
        rule = ctx.ruleset.speaking_of(CHECKER, "sleeps", kind)
        contexts = rule.parameters.get("contexts", ()) if rule is not None else ()
        if isinstance(contexts, tuple):
            found = _held(ctx, report, event, kind, contexts) or _by_callers(ctx, report, kind, contexts)
            if found is not None:
                return found
    return None


def _held(
    ctx: FunctionContext, report: PathReport, event: Event, kind: str, contexts: tuple[str, ...]
) -> _Where | None:
    """The last hold that makes the context one of ``contexts``."""
    families = [(hold, ctx.callees.family(hold.family)) for hold in event.holds]
    if any(hold.family in _FAULTS_OFF for hold in event.holds) and "user" in event.name:
        return None
    if event.name in ctx.ruleset.models.table("context").get("drops_lock", ()):
        return None
    ended = _ended(ctx, event.name)
    path = marks(event.trail)
    for hold, family in reversed(families):
        if callee_may_end(ctx, hold, path):
            continue
        site = None if hold.family in ended else report.sites.get((hold.site, hold.family))
        if family is not None and family.context in contexts and hold.cond < 0 and site is not None:
            doubtful = bool(site.where) or _let_go_of(ctx, report, hold.site) or callee_may_end(ctx, hold, path)
            return _Where(kind, family.label, site.pos, site.call, doubtful)
    return None


def _let_go_of(ctx: FunctionContext, report: PathReport, site: int) -> bool:
    """What is taken at ``site`` is taken again while it seems to be held: some callee lets go of it."""
    return ctx.mode == "tree" and any(event.kind == "again" and event.since == site for event in report.events)


def _ended(ctx: FunctionContext, name: str) -> frozenset[str]:
    """Families whose holds the callee ends itself, perhaps before it sleeps."""
    summary = ctx.callees.summary(name)
    effects = summary.effects if summary is not None else ()
    return frozenset(effect.resource for effect in effects if effect.action == "release")


def _by_callers(
    ctx: FunctionContext, report: PathReport, kind: str, contexts: tuple[str, ...]
) -> _Where | None:
    """A context that every caller sets and this function never leaves; starting the kernel is no such context."""
    if _at_start(ctx):
        return None
    for name in sorted(ctx.held_by_callers):
        family = ctx.callees.family(name)
        if family is None or family.context not in contexts:
            continue
        if not any(released.family == name for released in report.releases):
            return _Where(kind, family.label, 0, "")
    return None


def _at_start(ctx: FunctionContext) -> bool:
    """Code that runs once, before the scheduler does, with interrupts off."""
    head, _, _ = ctx.source[ctx.function.start : ctx.function.end].partition(b"{")
    return b"__init" in head


def _fault(ctx: FunctionContext, event: Event, where: _Where) -> FunctionFault:
    flags = f"{event.name}() with {event.detail}" if event.obj >= 0 else f"{event.name}()"
    path = marks(event.trail)
    taken = step(ctx, where.pos, f"{where.label} taken here by {where.call}()") if where.pos else (
        step(ctx, ctx.function.start, f"every caller holds a {where.label}"))  # fmt: skip
    steps = [taken, *decisions(ctx, path, where.pos), step(ctx, event.pos, f"{flags} may sleep"), *_inside(ctx, event)]
    context = where.call and f"with the {where.label} held that {where.call}() took"
    message = f"{flags} may sleep {context or f'in a function that is always called with a {where.label} held'}"
    detail = "|".join((where.kind, event.name, event.detail))
    return FunctionFault(
        CHECKER, "sleeps", where.kind, event.pos, event.name, message, tuple(steps), _sure(ctx, event, where), detail
    )


def _inside(ctx: FunctionContext, event: Event) -> Iterator[Step]:
    """Where the callee that was found to sleep stands."""
    file, _, line = event.subject.rpartition(":")
    if file and line.isdigit() and _by_body(ctx, event):
        yield Step(file, int(line), f"{event.name}() reaches a call that sleeps")


def _by_body(ctx: FunctionContext, event: Event) -> bool:
    summary = ctx.callees.summary(event.name)
    return summary is not None and summary.origin == "body"


def _sure(ctx: FunctionContext, event: Event, where: _Where) -> Confidence:
    """A model is taken at its word; a body that reaches a sleeping call may be told not to by what it is given.

    What a callee's body was seen to take it may give back in ways that were not seen.
    """
    if where.by_body or (not where.pos and ctx.mode == "tree"):
        return "low"
    if event.kind == "given" or _by_body(ctx, event) or not where.pos:
        return "medium"
    return "high"
