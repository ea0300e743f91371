"""Whole files as they stand, without a series."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from patchlint.model import Finding, NotAnalysed, Review
from patchlint.review.examine import Examiner
from patchlint.review.excerpts import function_lines
from patchlint.review.functions import Site
from patchlint.review.knowledge import TreeKnowledge
from patchlint.review.selection import order_findings
from patchlint.review.spanning import spanning_in_tree
from patchlint.review.timeline import State, View
from patchlint.review.verdicts import fingerprint
from patchlint.ruleset import Ruleset


@dataclass(frozen=True, slots=True)
class FileReview:
    """What was found in one file; sums of these make a :class:`Review`."""

    findings: tuple[Finding, ...] = ()
    not_analysed: tuple[NotAnalysed, ...] = ()
    functions: int = 0
    states: int = 0
    excerpts: dict[tuple[str, int], dict[int, str]] = field(default_factory=dict)


def review_file(view: View, ruleset: Ruleset, knowledge: TreeKnowledge) -> FileReview:
    """All findings of one file."""
    examiner = Examiner(ruleset, knowledge)
    state: State = {view.path: (view,)}
    found: list[Finding] = []
    for head in view.unit.heads:
        found += examiner.examine(Site(view, head), state, "tree")
    found += spanning_in_tree(state, ruleset, knowledge)
    findings = order_findings(_named(finding) for finding in found)
    lines: dict[int, str] = {}
    for finding in findings:
        if finding.line not in lines:
            lines.update(function_lines(view, finding.line))
    skipped = tuple(dict.fromkeys((*view.unit.not_analysed, *examiner.skipped)))
    excerpts = {(view.path, 0): lines} if lines else {}
    return FileReview(findings, skipped, examiner.functions, examiner.states, excerpts)


def _named(finding: Finding) -> Finding:
    return replace(finding, verdict="introduced", patch=None, fingerprint=fingerprint(finding))


def _distinct(findings: Iterable[Finding]) -> Iterable[Finding]:
    """Each fault once: what spans two files is found in both."""
    return {(found.fingerprint, found.line): found for found in findings}.values()


def join(source: str, revision: str, parts: Iterable[FileReview]) -> Review:
    """One review of many files."""
    done = tuple(parts)
    return Review(
        source=source,
        series=None,
        base_kind="head" if revision else "none",
        base_rev=revision,
        patches=(),
        findings=order_findings(_distinct(finding for part in done for finding in part.findings)),
        not_analysed=tuple(entry for part in done for entry in part.not_analysed),
        stats={
            "files": len(done),
            "functions": sum(part.functions for part in done),
            "states": sum(part.states for part in done),
        },
        excerpts={key: lines for part in done for key, lines in part.excerpts.items()},
    )
