"""Findings of one function in one state, each distinct question answered once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from patchlint.checkers import (
    NOTHING_BESIDE,
    Beside,
    CheckResult,
    FileFacts,
    FunctionContext,
    Mode,
    Relevance,
    Teardowns,
    check_function,
    expanded,
    followers,
    mentioned,
    other_teardowns,
    shown_beside,
    teardowns,
    undone,
)
from patchlint.dataflow import Callees
from patchlint.effects import Summary
from patchlint.model import CONFIDENCES, Finding, NotAnalysed
from patchlint.review.functions import Site
from patchlint.review.timeline import State
from patchlint.ruleset import Ruleset

_MISTAKES = (LookupError, TypeError, ValueError, AttributeError, AssertionError, ArithmeticError)


class Knowledge(Protocol):
    """What is known of the code around the files of the series, and what calls do in each state of theirs."""

    def callees(self, path: str, state: State) -> Callees:
        """What the names that ``path`` mentions do, in this state of the series' files."""

    def callers(self, name: str) -> Iterable[tuple[str, str]]:
        """(path, function) of the call sites of a function in the tree; nothing when there is no index."""

    def held_by_callers(self, site: Site, state: State) -> frozenset[str]:
        """Families that every known caller holds around its call."""

    def facts(self, site: Site) -> FileFacts:
        """What RCU protects, as the file of the function and those beside it show."""

    def callback(self, site: Site, state: State) -> str:
        """The operations-table field that the function is stored in, "" for none."""


class _Question(NamedTuple):
    path: str
    name: str
    text: bytes
    mode: Mode
    callback: str
    file: FileFacts
    added: tuple[tuple[int, int], ...]
    """What the series wrote of the text: (first, past the last) offset from its start."""
    teardowns: Teardowns
    beside: Beside


class _Answer(NamedTuple):
    """A result, where it was worked out first, and what it rests on: effects of calls, and what all callers hold."""

    site: Site
    result: CheckResult
    relied_on: dict[str, Summary | None]
    held: frozenset[str] | None
    """None: it was not asked, because nothing in the function depends on it."""


class _Recorder:
    """Callees that note what was asked: another state that answers the same needs no new analysis."""

    def __init__(self, callees: Callees) -> None:
        self._callees = callees
        self.asked: dict[str, Summary | None] = {}
        self.macro = callees.macro
        self.loop = callees.loop
        self.guard = callees.guard
        self.scope_release = callees.scope_release
        self.family = callees.family

    def summary(self, name: str) -> Summary | None:
        """What a call of ``name`` does."""
        if name not in self.asked:
            self.asked[name] = self._callees.summary(name)
        return self.asked[name]

    def may_sleep(self) -> bool:
        """Whether a call that was asked about may sleep."""
        return any(found is not None and found.sleeps not in ("no", "unknown") for found in self.asked.values())


@dataclass(slots=True)
class Examiner:
    """Runs the checkers on functions and keeps the answers: a series asks about one text in many states."""

    ruleset: Ruleset
    knowledge: Knowledge
    functions: int = 0
    """Distinct functions analysed."""
    states: int = 0
    skipped: dict[NotAnalysed, None] = field(default_factory=dict)
    _answers: dict[_Question, list[_Answer]] = field(default_factory=dict)
    _relevance: Relevance = field(init=False)

    def __post_init__(self) -> None:
        """Ready the test of words."""
        self._relevance = Relevance(self.ruleset.models)

    def examine(self, site: Site, state: State, mode: Mode) -> tuple[Finding, ...]:
        """Findings of the function at ``site``; what could not be analysed is kept in ``skipped``."""
        callees = self.knowledge.callees(site.view.path, state)
        facts = self.knowledge.facts(site)
        added = site.view.added(site.head.start, site.head.end) if mode == "changed" else ()
        question = _Question(
            *site.place, site.text, mode, self.knowledge.callback(site, state), facts, added,
            other_teardowns(teardowns(site.view.source), site.head.name, site.text),
            NOTHING_BESIDE if mode == "tree" else shown_beside(site.view.source),
        )  # fmt: skip
        known = self._answers.setdefault(question, [])
        answer = next((one for one in known if self._stands(one, site, state, callees)), None)
        if answer is None:
            answer = self._ask(site, question, state, callees)
            known.append(answer)
        self.skipped.update(dict.fromkeys(answer.result.not_analysed))
        shift = site.view.file_line(site.head.start) - answer.site.view.file_line(answer.site.head.start)
        return tuple(_moved(finding, answer.site, shift) for finding in answer.result.findings)

    def _stands(self, answer: _Answer, site: Site, state: State, callees: Callees) -> bool:
        """Whether all that the answer rests on is so in this state too."""
        same = all(_same(callees.summary(name), summary) for name, summary in answer.relied_on.items())
        return same and (answer.held is None or answer.held == self.knowledge.held_by_callers(site, state))

    def _ask(self, site: Site, question: _Question, state: State, callees: Callees) -> _Answer:
        recorder = _Recorder(callees)
        self.functions += 1
        held: frozenset[str] | None = None
        try:
            result = self._first(site, question, recorder)
            if result.findings or recorder.may_sleep():
                # Finding and reading the callers takes longer than the function itself: only where it may matter.
                held = self.knowledge.held_by_callers(site, state)
                result = self._check(site, question, recorder, held) if held else result
        except RecursionError:
            result = _given_up(site, "nested too deeply")
        except _MISTAKES as error:
            # A mistake of ours in one function must not cost the review of the others, nor pass in silence.
            result = _given_up(site, f"internal error: {type(error).__name__}: {error}")
        self.states += result.states
        return _Answer(site, result, recorder.asked, held)

    def _first(self, site: Site, question: _Question, recorder: _Recorder) -> CheckResult:
        """The findings whatever the callers hold; the body is not even read where its words show there are none."""
        if site.head.whole and not mentioned(question.file, site.text):
            words = expanded(site.view.unit.calls(site.head), site.view.bodies)
            halves = undone(question.teardowns) | followers(question.beside)
            if not self._relevance.speaks_of(words, recorder, halves):
                return CheckResult()
        return self._check(site, question, recorder, frozenset())

    def _check(self, site: Site, question: _Question, callees: Callees, held: frozenset[str]) -> CheckResult:
        view = site.view
        function = view.unit.function(site.head)
        context = FunctionContext(
            function, view.path, view.source, view.unit.lines, view.file_line, self.ruleset, callees,
            question.mode, held, question.callback, question.file,
            tuple((site.head.start + first, site.head.start + last) for first, last in question.added),
            question.teardowns, question.beside,
        )  # fmt: skip
        result = check_function(context)
        if function.whole and site.head.whole:
            return result
        return replace(result, findings=tuple(_less_sure(finding) for finding in result.findings))


def _given_up(site: Site, reason: str) -> CheckResult:
    line = site.view.file_line(site.head.start)
    return CheckResult((), (NotAnalysed(site.view.path, site.head.name, reason, line),))


def _same(one: Summary | None, other: Summary | None) -> bool:
    """Whether two summaries say the same; where the callee stands shifts with every line above it."""
    if one is None or other is None:
        return one is other
    return one == other or _placeless(one) == _placeless(other)


def _placeless(summary: Summary) -> Summary:
    return summary._replace(where="", effects=tuple(effect._replace(where="") for effect in summary.effects))


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
