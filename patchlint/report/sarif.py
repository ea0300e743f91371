"""SARIF 2.1.0 with code flows, fingerprints and rule help, within the limits of GitHub's code scanning.

Lines count in the tree as it stands once the whole series is applied, since that is what an upload is shown on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias
from urllib.parse import quote

from patchlint.model import Finding, NotAnalysed, Review, Severity
from patchlint.report.context import ReportContext, RuleHelp
from patchlint.report.places import at_end
from patchlint.report.wording import one_line, printable, verdict_words

SCHEMA = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"
MAX_RESULTS = 25_000
"""GitHub refuses a run with more results."""
MAX_STEPS = 1_000
"""GitHub shows no more locations of one thread flow."""
ROOT = "SRCROOT"

Json: TypeAlias = dict[str, Any]

_LEVEL: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "note"}
_BASELINE = {"introduced": "new", "transient": "new", "exposed": "new", "preexisting": "unchanged"}


def render(reviews: Sequence[Review], context: ReportContext) -> str:
    """All reviews as one SARIF log with one run."""
    found = [(review, finding, False) for review in reviews for finding in review.findings]
    found += [(review, finding, True) for review in reviews for finding in review.suppressed]
    rules = _rules((finding for _, finding, _ in found), context)
    index = {rule["id"]: at for at, rule in enumerate(rules)}
    run: Json = {
        "tool": {"driver": _driver(context, rules)},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The top of the kernel tree."}}},
        "invocations": [_invocation(reviews, len(found))],
        "results": [_result(*each, index) for each in found[:MAX_RESULTS]],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _driver(context: ReportContext, rules: list[Json]) -> Json:
    driver: Json = {"name": context.tool.name, "version": context.tool.version, "rules": rules}
    if context.tool.rules_digest:
        driver["properties"] = {"rulesDigest": context.tool.rules_digest}
    return driver


def _rules(findings: Iterable[Finding], context: ReportContext) -> list[Json]:
    """Descriptors of the rules that speak, ordered by id."""
    seen = {finding.rule: finding for finding in findings}
    return [_rule(seen[rule], context.rules.get(rule)) for rule in sorted(seen)]


def _rule(finding: Finding, known: RuleHelp | None) -> Json:
    summary = known.summary if known else finding.name
    rule: Json = {
        "id": finding.rule,
        "name": finding.name,
        "shortDescription": {"text": summary},
        "defaultConfiguration": {"level": _LEVEL[known.severity if known else finding.severity]},
        "properties": {"tags": [finding.rule.rstrip("0123456789").lower()], "precision": finding.confidence},
    }
    if known:
        rule["fullDescription"] = {"text": known.why or summary}
        rule["help"] = {"text": help_text(known), "markdown": help_markdown(known)}
    return rule


def help_text(rule: RuleHelp) -> str:
    """A rule's help as plain text."""
    parts = [rule.summary, rule.why]
    parts += [f"Bad:\n{rule.bad.rstrip()}" if rule.bad else "", f"Good:\n{rule.good.rstrip()}" if rule.good else ""]
    parts.append("\n".join(rule.references))
    return "\n\n".join(part for part in parts if part)


def help_markdown(rule: RuleHelp) -> str:
    """A rule's help as Markdown."""
    parts = [f"**{rule.summary}**", rule.why]
    parts += [
        f"{word}:\n\n```c\n{text.rstrip()}\n```" for word, text in (("Bad", rule.bad), ("Good", rule.good)) if text
    ]
    parts.append("\n".join(f"- {reference}" for reference in rule.references))
    return "\n\n".join(part for part in parts if part)


def _result(review: Review, finding: Finding, suppressed: bool, index: dict[str, int]) -> Json:
    result: Json = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": _LEVEL[finding.severity],
        "message": {"text": printable(finding.message)},
        "locations": [_location(review, finding)],
        "baselineState": _BASELINE[finding.verdict],
        "properties": _properties(finding),
    }
    if finding.fingerprint:
        result["partialFingerprints"] = {"patchlint/v1": finding.fingerprint}
    if finding.trace:
        result["codeFlows"] = [{"threadFlows": [{"locations": _flow(review, finding)}]}]
    if suppressed:
        result["suppressions"] = [{"kind": "inSource", "status": "accepted"}]
    return result


def _properties(finding: Finding) -> Json:
    known: Json = {
        "verdict": finding.verdict,
        "verdictText": verdict_words(finding),
        "confidence": finding.confidence,
        "patch": finding.patch,
        "fixedBy": finding.fixed_by,
        "subject": printable(finding.subject),
        "config": [printable(choice) for choice in finding.config],
        "suggestion": finding.suggestion and printable(finding.suggestion),
    }
    return {key: value for key, value in known.items() if value not in (None, "", [])}


def _location(review: Review, finding: Finding) -> Json:
    """Where it is; a finding about the mail itself stands in the mail."""
    if not finding.file:
        return {"physicalLocation": {"artifactLocation": _artifact(review.source)}}
    location = _place(review, finding, finding.file, finding.line, finding.column)
    if finding.function:
        location["logicalLocations"] = [{"name": one_line(finding.function), "kind": "function"}]
    return location


def _place(review: Review, finding: Finding, file: str, line: int, column: int = 0) -> Json:
    path, line = at_end(review, finding.patch, file, line)
    place: Json = {"artifactLocation": _artifact(path)}
    if line > 0:
        place["region"] = {"startLine": line}
        if column > 0:
            place["region"]["startColumn"] = column
    return {"physicalLocation": place}


def _artifact(path: str) -> Json:
    """A file of the tree, or (an absolute path) a mailbox beside it."""
    # Quoted throughout: a colon in the first segment of a relative reference would read as a scheme.
    uri = quote(one_line(path), safe="/+@,=~") or "-"
    return {"uri": f"file://{uri}"} if uri.startswith("/") else {"uri": uri, "uriBaseId": ROOT}


def _flow(review: Review, finding: Finding) -> list[Json]:
    """The path; one longer than is shown keeps its end, where the fault is."""
    steps = []
    for order, step in enumerate(finding.trace[-MAX_STEPS:], start=1):
        location = _place(review, finding, step.file, step.line)
        location["message"] = {"text": printable(step.what)}
        steps.append({"location": location, "executionOrder": order})
    return steps


def _invocation(reviews: Sequence[Review], results: int) -> Json:
    skipped = [_notification(each) for review in reviews for each in review.not_analysed]
    if results > MAX_RESULTS:
        skipped.append({"level": "warning", "message": {"text": f"{results - MAX_RESULTS} more results left out"}})
    return {"executionSuccessful": True, "toolExecutionNotifications": skipped}


def _notification(skipped: NotAnalysed) -> Json:
    where = f"{skipped.function} not analysed: " if skipped.function else "not analysed: "
    place: Json = {"artifactLocation": _artifact(skipped.file)}
    if skipped.line > 0:
        place["region"] = {"startLine": skipped.line}
    return {
        "level": "note",
        "message": {"text": printable(where + skipped.reason)},
        "locations": [{"physicalLocation": place}],
    }
