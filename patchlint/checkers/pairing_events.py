"""Releases that end nothing, and takings of what is held already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evidence import marks_since
from patchlint.checkers.function_fault import FunctionFault, decisions, last_branch, lower, step
from patchlint.dataflow import Event, Mark, PathReport, marks
from patchlint.effects import Family

SECTIONS: Final = ("lock", "rcu")
"""Kinds of hold that end where they began, whatever the result."""


def events(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """What is dropped twice, closed in another way than it was opened, or taken anew while it is held."""
    for event in report.events:
        family = ctx.callees.family(event.family) or ctx.callees.family(_family_at(report, event.since))
        if family is None:
            continue
        path = marks(event.trail)
        subject = event.subject or event.name
        if event.kind == "released":
            word = "freed" if event.detail == "freed" else "dropped"
            steps = [step(ctx, event.since, f"{word} here"), *decisions(ctx, path, event.since),
                     step(ctx, event.pos, f"{word} again by {event.name}()")]  # fmt: skip
            if event.detail == "dropped" and (_from_elsewhere(report, event) or not _got_here(report, event.since)):
                continue
            yield FunctionFault(
                "pairing", "double", family.kind, event.pos, subject,
                f"{family.label} '{subject}' is {word} twice on this path", tuple(steps),
                "high" if event.detail == "freed" else "medium", f"{family.name}|{event.name}|{last_branch(path)}",
                family=family.name,
            )  # fmt: skip
        elif event.kind == "underflow":
            yield from _underflow(ctx, report, event.pos, event, family, path)
        elif event.kind == "again" and ctx.mode == "changed":
            yield from _taken_again(ctx, report, event, family, path)


def _taken_again(
    ctx: FunctionContext, report: PathReport, event: Event, family: Family, path: list[Mark]
) -> Iterator[FunctionFault]:
    """A lock taken anew that nothing since sounds like having let go of; where that was so before, it shows."""
    site = report.sites.get((event.since, event.family))
    undone = (m.text for m in marks_since(path, event.since) if m.kind == "undo")
    if site is None or any(_may_let_go(ctx, name) for name in undone):
        return
    subject = site.subject or site.call
    steps = (step(ctx, event.since, f"{family.label} taken here by {site.call}()"), *decisions(ctx, path, event.since),
             step(ctx, event.pos, f"{event.name}() waits for itself"))  # fmt: skip
    yield FunctionFault(
        "pairing", "leak", family.kind, event.pos, subject,
        f"{family.label} '{subject}' from {site.call}() is not released before {event.name}() takes it again", steps,
        "medium", f"{family.name}|{event.name}|again", family=family.name,
    )  # fmt: skip


def _may_let_go(ctx: FunctionContext, name: str) -> bool:
    """Whether a function that sounds like undoing may let go of its caller's lock: its body, if known, would say so."""
    summary = ctx.callees.summary(name)
    return summary is None or summary.origin != "body" or bool(summary.may_end) or "lock" in name


def _underflow(
    ctx: FunctionContext, report: PathReport, pos: int, event: Event, family: Family, path: list[Mark]
) -> Iterator[FunctionFault]:
    if family.kind not in SECTIONS:
        return
    if event.detail:
        held = ctx.callees.family(event.detail)
        opened = report.sites.get((event.since, event.detail))
        if held is None or opened is None:
            return
        if any(s.family == event.family and s.subject == opened.subject for s in report.sites.values()):
            return  # let go of for a while and taken again, interrupts staying off
        steps = (step(ctx, event.since, f"{held.label} opened by {opened.call}()"), *decisions(ctx, path, event.since),
                 step(ctx, pos, f"closed by {event.name}()"))  # fmt: skip
        yield FunctionFault(
            "pairing", "mismatch", family.kind, pos, opened.subject or opened.call,
            f"{held.label} opened by {opened.call}() is closed by {event.name}()", steps, "high",
            f"{held.name}|{event.name}", family=held.name,
        )  # fmt: skip
        return
    closed = [m for m in path if m.kind == "release" and m.text == event.name]
    if ctx.mode == "tree" and family.kind == "lock":
        same = {r.pos for r in report.releases if r.subject == event.subject}
        closed = [m for m in closed if m.pos in same]
    again = any(r.pos == pos and r.matched for r in report.releases)
    if (len(closed) > 1 and again) or (closed and any(m.kind == "acquire" for m in path)):
        first = closed[0].pos
        if first == pos and len(closed) < 2:
            return
        steps = (step(ctx, first, f"released by {event.name}()"), *decisions(ctx, path, first),
                 step(ctx, pos, f"released again by {event.name}()"))  # fmt: skip
        yield FunctionFault(
            "pairing", "double", family.kind, pos, event.subject or event.name,
            f"{family.label} '{event.subject or event.name}' is released twice on this path", steps,
            "medium" if again else lower("medium"), f"{family.name}|{event.name}|{last_branch(path)}",
            family=family.name,
        )  # fmt: skip


def _family_at(report: PathReport, pos: int) -> str:
    return next((r.family for r in report.releases if r.pos == pos), "")


def _from_elsewhere(report: PathReport, event: Event) -> bool:
    """Not this function's own: it may carry a reference besides the one that was taken and dropped here."""
    key = report.keys[report.roots[event.obj]]
    return key[0] != "s" or not any(site.pos == key[1] for site in report.sites.values())


def _got_here(report: PathReport, pos: int) -> bool:
    """The release at ``pos`` ended a hold that this function took."""
    return any(r.pos == pos and r.matched for r in report.releases)
