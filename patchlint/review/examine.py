"""Findings of one function in one state, each distinct question answered once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from patchlint.checkers import CheckResult, FunctionContext, Mode, check_function
from patchlint.dataflow import Callees
from patchlint.effects import Summary
from patchlint.model import CONFIDENCES, Finding, NotAnalysed
from patchlint.review.functions import Site
from patchlint.review.timeline import State
from patchlint.ruleset import Ruleset


class Knowledge(Protocol):
    """What is known of the code around the files of the series, and what calls do in each state of theirs."""

    def callees(self, path: str, state: State) -> Callees:
        """What the names that ``path`` mentions do, in this state of the series' files."""

    def callers(self, name: str) -> Iterable[tuple[str, str]]:
        """(path, function) of the call sites of a function in the tree; nothing when there is no index."""

    def held_by_callers(self, site: Site, state: State) -> frozenset[str]:
        """Families that every known caller holds around its call."""

    def callback(self, site: Site, state: State) -> str:
        """The operations-table field that the function is stored in, "" for none."""


class _Question(NamedTuple):
    path: str
    name: str
    text: bytes
    mode: Mode
    effects: tuple[Summary, ...]
    held: frozenset[str]
    callback: str


@dataclass(slots=True)
class Examiner:
    """Runs the checkers on functions and keeps the answers: a series asks about one text in many states."""

    ruleset: Ruleset
    knowledge: Knowledge
    functions: int = 0
    """Distinct functions analysed."""
    states: int = 0
    skipped: dict[NotAnalysed, None] = field(default_factory=dict)
    _answers: dict[_Question, tuple[Site, CheckResult]] = field(default_factory=dict)

    def examine(self, site: Site, state: State, mode: Mode) -> tuple[Finding, ...]:
        """Findings of the function at ``site``; what could not be analysed is kept in ``skipped``."""
        callees = self.knowledge.callees(site.view.path, state)
        question = self._question(site, state, mode, callees)
        known = self._answers.get(question)
        if known is None:
            known = self._answers[question] = site, self._ask(site, mode, callees, question)
        first, result = known
        self.skipped.update(dict.fromkeys(result.not_analysed))
        shift = site.view.file_line(site.head.start) - first.view.file_line(first.head.start)
        return tuple(_moved(finding, first, shift) for finding in result.findings)

    def _question(self, site: Site, state: State, mode: Mode, callees: Callees) -> _Question:
        effects = (callees.summary(name) for name in sorted(site.view.unit.calls(site.head)))
        bodies = tuple(summary for summary in effects if summary is not None and summary.origin == "body")
        held = self.knowledge.held_by_callers(site, state)
        callback = self.knowledge.callback(site, state)
        return _Question(*site.place, site.text, mode, bodies, held, callback)

    def _ask(self, site: Site, mode: Mode, callees: Callees, question: _Question) -> CheckResult:
        view = site.view
        self.functions += 1
        try:
            function = view.unit.function(site.head)
            result = check_function(
                FunctionContext(
                    function, view.path, view.source, view.unit.lines, view.file_line, self.ruleset, callees, mode,
                    question.held, question.callback,
                )
            )  # fmt: skip
        except RecursionError:
            reason = "nested too deeply"
            return CheckResult((), (NotAnalysed(view.path, site.head.name, reason, view.file_line(site.head.start)),))
        self.states += result.states
        if function.whole and site.head.whole:
            return result
        return replace(result, findings=tuple(_less_sure(finding) for finding in result.findings))


def _moved(finding: Finding, first: Site, shift: int) -> Finding:
    """The finding where the same text stands ``shift`` lines further down."""
    if not shift:
        return finding
    start = first.view.file_line(first.head.start)
    end = first.view.file_line(first.head.end)

    def line(file: str, number: int) -> int:
        return number + shift if file == finding.file and start <= number <= end else number

    trace = tuple(replace(step, line=line(step.file, step.line)) for step in finding.trace)
    return replace(finding, line=line(finding.file, finding.line), trace=trace)


def _less_sure(finding: Finding) -> Finding:
    """One grade down: only a part of the function was seen."""
    return replace(finding, confidence=CONFIDENCES[max(0, CONFIDENCES.index(finding.confidence) - 1)])
