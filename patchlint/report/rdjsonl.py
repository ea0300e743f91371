"""reviewdog's rdjsonl: one Diagnostic per line, for editors and code review services.

Lines count in the tree as it stands once the whole series is applied.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from patchlint.model import Finding, Review, Severity
from patchlint.report.context import ReportContext
from patchlint.report.places import at_end
from patchlint.report.wording import one_line, printable, verdict_words

_SEVERITY: dict[Severity, str] = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render(reviews: Sequence[Review], context: ReportContext) -> str:
    """One JSON object per finding and line; nothing when there is none."""
    return "".join(
        json.dumps(_diagnostic(review, finding, context)) + "\n" for review in reviews for finding in review.findings
    )


def _diagnostic(review: Review, finding: Finding, context: ReportContext) -> dict[str, Any]:
    diagnostic: dict[str, Any] = {
        "message": printable(f"{finding.message} ({verdict_words(finding)})"),
        "location": _location(review, finding, finding.file or review.source, finding.line, finding.column),
        "severity": _SEVERITY[finding.severity],
        "source": {"name": context.tool.name},
        "code": {"value": finding.rule},
    }
    if finding.trace:
        diagnostic["related_locations"] = [
            {"message": printable(step.what), "location": _location(review, finding, step.file, step.line, 0)}
            for step in finding.trace
        ]
    return diagnostic


def _location(review: Review, finding: Finding, file: str, line: int, column: int) -> dict[str, Any]:
    path, line = at_end(review, finding.patch, file, line)
    location: dict[str, Any] = {"path": one_line(path)}
    if line > 0:
        location["range"] = {"start": {"line": line, "column": column} if column > 0 else {"line": line}}
    return location
