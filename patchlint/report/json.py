"""One JSON document for programs; its schema is ``schema.json`` beside this file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from patchlint.model import Finding, PatchResult, Review, Series, Step
from patchlint.report.context import ReportContext
from patchlint.report.wording import printable


def render(reviews: Sequence[Review], context: ReportContext) -> str:
    """The document that the contract describes, indented by one blank."""
    document = {
        "tool": {"name": context.tool.name, "version": context.tool.version, "rules_digest": context.tool.rules_digest},
        "reviews": [_review(review) for review in reviews],
    }
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _review(review: Review) -> dict[str, Any]:
    return {
        "source": printable(review.source),
        "series": _series(review),
        "patches": [_patch(patch) for patch in review.patches],
        "findings": [finding_values(finding) for finding in review.findings],
        "suppressed": [finding_values(finding) for finding in review.suppressed],
        "not_analysed": [
            {"file": printable(skipped.file), "function": printable(skipped.function), "line": skipped.line,
             "reason": printable(skipped.reason)}
            for skipped in review.not_analysed
        ],
        "notes": [printable(note) for note in review.notes],
        "stats": {"functions": 0, "seconds": 0, **review.stats},
    }  # fmt: skip


def _series(review: Review) -> dict[str, Any]:
    series = review.series or Series(review.source, "", "", "", 0, ())
    return {
        "subject": printable(series.subject),
        "author": printable(series.author),
        "version": series.version,
        "total": series.total,
        "present": [patch.n for patch in series.patches],
        "missing": list(series.missing),
        "cover": series.cover,
        "base": {"kind": review.base_kind, "rev": review.base_rev},
    }


def _patch(patch: PatchResult) -> dict[str, Any]:
    return {
        "n": patch.n,
        "subject": printable(patch.subject),
        "message_id": printable(patch.message_id),
        "applied": patch.applied,
        "files": [printable(file) for file in patch.files],
        "problems": [printable(problem) for problem in patch.problems],
    }


def finding_values(finding: Finding) -> dict[str, Any]:
    """One finding as the contract lists its members."""
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "verdict": finding.verdict,
        "message": printable(finding.message),
        "patch": finding.patch,
        "fixed_by": finding.fixed_by,
        "file": printable(finding.file),
        "line": finding.line,
        "column": finding.column,
        "function": printable(finding.function),
        "subject": printable(finding.subject),
        "trace": [_step(step) for step in finding.trace],
        "config": list(finding.config),
        "fingerprint": finding.fingerprint,
        "suggestion": finding.suggestion,
    }


def _step(step: Step) -> dict[str, Any]:
    return {"file": printable(step.file), "line": step.line, "what": printable(step.what)}
