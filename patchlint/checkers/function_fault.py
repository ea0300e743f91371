"""Faults of one function, before a rule has named them, and the path that proves each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from patchlint.checkers.context import FunctionContext
from patchlint.dataflow import Mark
from patchlint.model import CONFIDENCES, Confidence, Finding, Step

_MAX_STEPS = 14


@dataclass(frozen=True, slots=True)
class FunctionFault:
    """What a checker found, in its own words; ``fault`` and ``kind`` choose the rule."""

    checker: str
    fault: str
    kind: str
    pos: int
    subject: str
    message: str
    trace: tuple[Step, ...]
    confidence: Confidence
    detail: str
    """What tells two faults of one sort, kind and subject apart; survives unrelated edits."""
    config: tuple[str, ...] = ()
    family: str = ""
    """The family of what is at fault; "" where the fault is of none."""
    since: tuple[int, str] | None = None
    """What it goes back to (a place and the thing); of several faults that go back to one, the first is told."""


def step(ctx: FunctionContext, pos: int, what: str) -> Step:
    """A step at a place of the function's own file."""
    return Step(ctx.path, ctx.file_line(pos), what)


def decisions(ctx: FunctionContext, path: Iterable[Mark], since: int) -> list[Step]:
    """The branches taken after the place ``since`` was passed for the last time, as steps."""
    steps: list[Step] = []
    for mark in path:
        if mark.pos == since and mark.kind in ("acquire", "release", "turn", "call"):
            steps = []
            continue
        text = _told(mark)
        if text:
            steps.append(step(ctx, mark.pos, text))
    return _shortened(steps)


def _told(mark: Mark) -> str:
    if mark.kind == "if":
        return f"{mark.text} is {'true' if mark.truth else 'false'}"
    if mark.kind == "case":
        return mark.text
    if mark.kind == "turn":
        return f"one more turn of {mark.text}"
    if mark.kind == "end":
        return f"{mark.text} ends"
    if mark.kind == "store":
        return f"stored in {mark.text}"
    if mark.kind == "choice":
        return mark.text
    return ""


def _shortened(steps: list[Step]) -> list[Step]:
    """At most ``_MAX_STEPS``: repeated turns once, then the first and the last."""
    kept: list[Step] = []
    for one in steps:
        if one not in kept:
            kept.append(one)
    if len(kept) > _MAX_STEPS:
        kept = kept[: _MAX_STEPS // 2] + kept[-_MAX_STEPS // 2 :]
    return kept


def last_branch(path: Iterable[Mark]) -> str:
    """The condition that decided last, as text: tells exits apart across edits."""
    text = ""
    for mark in path:
        if mark.kind in ("if", "case"):
            text = f"{mark.text}={mark.truth}"
    return text


def lower(confidence: Confidence, by: int = 1) -> Confidence:
    """``confidence`` some grades down."""
    return CONFIDENCES[max(0, CONFIDENCES.index(confidence) - by)]


def to_finding(ctx: FunctionContext, fault: FunctionFault) -> Finding | None:
    """The finding that the rule for this fault makes of it; None when no rule speaks of it."""
    rule = ctx.ruleset.speaking_of(fault.checker, fault.fault, fault.kind, fault.family)
    if rule is None:
        return None
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity,
        confidence=min(fault.confidence, rule.confidence, key=CONFIDENCES.index),
        message=fault.message,
        file=ctx.path,
        line=ctx.file_line(fault.pos),
        column=ctx.lines.column(fault.pos),
        function=ctx.function.name,
        subject=fault.subject,
        trace=fault.trace,
        config=fault.config,
        key="|".join((rule.id, ctx.function.name, fault.subject, fault.fault, fault.detail)),
    )
