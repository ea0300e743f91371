"""GitHub workflow commands: annotations on the lines of a pull request.

GitHub keeps 10 annotations of each kind per step and drops the others without a word, so the
most telling ones are written and the rest is counted in the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchlint.model import CONFIDENCES, Finding, Review, Severity
from patchlint.report.context import ReportContext
from patchlint.report.places import at_end
from patchlint.report.wording import one_line, place_words, plural, printable, tally, verdict_words

PER_KIND = 10
"""Annotations of one kind that GitHub keeps of one step."""

_COMMAND: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(reviews: Sequence[Review], context: ReportContext) -> str:
    """Annotations, the most confident first, then one line that counts everything."""
    found = [(review, finding) for review in reviews for finding in review.findings]
    found.sort(key=lambda each: -CONFIDENCES.index(each[1].confidence))
    lines: list[str] = []
    for severity in _COMMAND:
        of_kind = [each for each in found if each[1].severity == severity]
        lines += [_annotation(review, finding) for review, finding in of_kind[:PER_KIND]]
        lines += _left_out([finding for _, finding in of_kind[PER_KIND:]], severity)
    lines.append(f"{context.tool.name}: {tally(finding for _, finding in found)}")
    return "\n".join(lines) + "\n"


def _left_out(findings: Sequence[Finding], severity: Severity) -> Iterator[str]:
    """Plain log lines for what GitHub would drop."""
    if findings:
        yield f"{plural(len(findings), f'more {severity}')} not annotated (GitHub keeps {PER_KIND} of a kind):"
    for finding in findings:
        # Indented, so that no message can begin with the "::" of a workflow command.
        place = place_words(finding.file, finding.line)
        yield _tamed(f"  {place}: {finding.rule}: {one_line(finding.message)}")


def _annotation(review: Review, finding: Finding) -> str:
    path, line = at_end(review, finding.patch, finding.file, finding.line)
    properties = {"file": one_line(path)} if path else {}
    if line > 0:
        properties["line"] = str(line)
        if finding.column > 0:
            properties["col"] = str(finding.column)
    properties["title"] = f"{finding.rule} {finding.name}"
    joined = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{_COMMAND[finding.severity]} {joined}::{_data(_body(finding))}"


def _body(finding: Finding) -> str:
    """The message, the verdict and the path, as the lines of one annotation."""
    lines = [printable(finding.message), verdict_words(finding)]
    lines += [f"{place_words(step.file, step.line)}: {one_line(step.what)}" for step in finding.trace]
    if finding.config:
        lines.append(f"with {one_line(', '.join(finding.config))}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return _tamed(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _tamed(text: str) -> str:
    """Without the beginning of a command of the older form, which the runner finds anywhere in a line."""
    return text.replace("##[", "## [")
