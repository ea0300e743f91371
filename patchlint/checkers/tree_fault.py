"""Faults that span functions, before a rule has named them."""

from __future__ import annotations

from dataclasses import dataclass

from patchlint.model import CONFIDENCES, Confidence, Finding, Severity, Step
from patchlint.ruleset import Rule, Ruleset


@dataclass(frozen=True, slots=True)
class TreeFault:
    """What a checker found, in its own words; ``fault`` is the word that a rule asks for."""

    fault: str
    confidence: Confidence
    message: str
    path: str
    line: int
    column: int
    function: str
    subject: str
    trace: tuple[Step, ...] = ()
    config: tuple[str, ...] = ()
    severity: Severity | None = None
    detail: str = ""
    """What tells two faults of one kind, subject and function apart."""


def finding(fault: TreeFault, rule: Rule) -> Finding:
    """The finding that ``rule`` makes of a fault: never surer than the rule is."""
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=fault.severity or rule.severity,
        confidence=min(fault.confidence, rule.confidence, key=CONFIDENCES.index),
        message=fault.message,
        file=fault.path,
        line=fault.line,
        column=fault.column,
        function=fault.function,
        subject=fault.subject,
        trace=fault.trace,
        config=fault.config,
        key="|".join((rule.id, fault.path, fault.function, fault.subject, fault.fault, fault.detail)),
    )


def findings(
    faults: tuple[TreeFault, ...], checker: str, ruleset: Ruleset, kind: str = ""
) -> tuple[Finding, ...]:
    """Findings of all faults that some rule speaks of, one for each key."""
    made: dict[str, Finding] = {}
    for fault in faults:
        rule = ruleset.speaking_of(checker, fault.fault, kind)
        if rule is not None:
            found = finding(fault, rule)
            made.setdefault(found.key, found)
    return tuple(made.values())


