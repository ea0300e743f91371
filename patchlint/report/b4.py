"""What b4 reads: the lines of ``prep-perpatch-check-cmd``, the JSON array of ``review-*-check-cmd``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

from patchlint.model import Finding, Review
from patchlint.report.context import ReportContext
from patchlint.report.wording import one_line, place_words, plural, tally

Status = Literal["pass", "warn", "fail"]
Fails: TypeAlias = Callable[[Finding], bool]
"""Whether a finding fails the check (``--fail-on``)."""


def check_lines(reviews: Sequence[Review], fails: Fails) -> Iterator[str]:
    """One line per finding and per patch that could not be reviewed; nothing when clean.

    b4 counts every line as a warning, and as a failure where it holds ``ERROR:``.
    """
    for review in reviews:
        for finding in review.findings:
            word = "ERROR" if fails(finding) else "NOTE" if finding.severity == "note" else "WARNING"
            yield f"{place_words(finding.file, finding.line)}: {word}: {_said(finding)}"
        yield from (f"WARNING: {text}" for text in _not_reviewed(review))


def review_results(reviews: Sequence[Review], context: ReportContext, fails: Fails) -> str:
    """The JSON array; ``details`` is a JSON list too, which b4 shows line by line."""
    findings = [finding for review in reviews for finding in review.findings]
    skipped = [text for review in reviews for text in _not_reviewed(review)]
    status: Status = "pass"
    if findings or skipped:
        status = "fail" if any(fails(finding) for finding in findings) else "warn"
    details = [_detail(review, finding, context, fails) for review in reviews for finding in review.findings]
    details += [{"status": "warn", "description": text} for text in skipped]
    result = {
        "tool": context.tool.name,
        "status": status,
        "summary": ", ".join(filter(None, (tally(findings), f"{len(skipped)} not reviewed" if skipped else ""))),
        "url": "",
        "details": json.dumps(details) if details else "",
    }
    return json.dumps([result], indent=1) + "\n"


def _said(finding: Finding) -> str:
    inside = f" in {one_line(finding.function)}()" if finding.function else ""
    return f"{one_line(finding.message)}{inside} [{finding.rule}]"


def _not_reviewed(review: Review) -> Iterator[str]:
    for patch in review.patches:
        if patch.applied == "failed":
            yield f"does not apply: {one_line(patch.subject)}"
    if review.not_analysed:
        yield f"{plural(len(review.not_analysed), 'function')} not analysed"


def _detail(review: Review, finding: Finding, context: ReportContext, fails: Fails) -> dict[str, str]:
    path = "; ".join(f"{place_words(step.file, step.line)} {one_line(step.what)}" for step in finding.trace)
    detail = {
        "status": "fail" if fails(finding) else "warn",
        "description": f"{place_words(finding.file, finding.line)}: {_said(finding)}{f' ({path})' if path else ''}",
    }
    source = context.line(review, finding, finding.file, finding.line)
    return detail | ({"srcline": one_line(source)} if source is not None else {})
