"""For the terminal: one line per finding that editors can jump to, the path below it, a summary last."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from patchlint.model import Finding, NotAnalysed, Review, Step
from patchlint.report.context import ReportContext
from patchlint.report.wording import one_line, place_words, plural, printable, subject_of, tally, verdict_words

_SGR = {"error": "1;31", "warning": "1;35", "note": "1;36", "place": "1", "dim": "2", "caret": "1;32", "heading": "1"}
_SHOWN_SKIPS = 5
"""Functions not analysed that are listed one by one without -v."""


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How the text is laid out. ``width`` bounds prose, never the lines that editors read."""

    color: bool = False
    width: int = 100
    quiet: bool = False
    verbose: bool = False
    stats: bool = False

    def paint(self, kind: str, text: str) -> str:
        """``text`` in the colour of ``kind``, or as it is."""
        return f"\x1b[{_SGR[kind]}m{text}\x1b[0m" if self.color and text else text


def render(reviews: Sequence[Review], context: ReportContext, style: TextStyle | None = None) -> str:
    """All reviews, a blank line between two."""
    layout = style or TextStyle()
    texts = ["".join(f"{line}\n" for line in _review(review, context, layout)) for review in reviews]
    return "\n".join(text for text in texts if text)


def _review(review: Review, context: ReportContext, style: TextStyle) -> Iterator[str]:
    ordered = sorted(review.findings, key=lambda finding: finding.patch or 0)
    several = review.series is not None and len(review.series.patches) > 1
    for number, group in groupby(ordered, key=lambda finding: finding.patch or 0):
        if several and not style.quiet:
            yield style.paint("heading", _patch_heading(review, number))
        for finding in group:
            yield from _finding(review, finding, context, style)
    if style.quiet:
        return
    yield from _skips(review.not_analysed, style)
    for note in review.notes:
        yield from textwrap.wrap(f"note: {one_line(note)}", style.width, subsequent_indent="  ")
    yield from _summary(review, style)


def _patch_heading(review: Review, number: int) -> str:
    found = next((patch for patch in review.patches if patch.n == number), None)
    total = review.series.total if review.series else 0
    return f"patch {number}/{total} {one_line(found.subject)}" if found else "the series"


def _finding(review: Review, finding: Finding, context: ReportContext, style: TextStyle) -> Iterator[str]:
    place = style.paint("place", f"{place_words(finding.file, finding.line)}:{finding.column}:")
    severity = style.paint(finding.severity, f"{finding.severity}:")
    yield f"{place} {severity} {one_line(finding.message)} [{finding.rule}]"
    yield from _source_line(review, finding, finding.file, finding.line, finding.column, context, style)
    for number, step in enumerate(finding.trace, 1):
        yield from _step(review, finding, number, step, context, style)
    if finding.config:
        yield f"    when {', '.join(printable(choice) for choice in finding.config)}"
    yield style.paint("dim", f"    {_about(finding)}")


def _about(finding: Finding) -> str:
    where = f"in {printable(finding.function)}(), " if finding.function else ""
    return f"{where}{verdict_words(finding)}, {finding.confidence} confidence"


def _step(
    review: Review, finding: Finding, number: int, step: Step, context: ReportContext, style: TextStyle
) -> Iterator[str]:
    yield f"  {number}. {place_words(step.file, step.line)}: {one_line(step.what)}"
    if (step.file, step.line) != (finding.file, finding.line):
        yield from _source_line(review, finding, step.file, step.line, 0, context, style)


def _source_line(
    review: Review, finding: Finding, file: str, line: int, column: int, context: ReportContext, style: TextStyle
) -> Iterator[str]:
    """The line of source, and a caret under ``column`` (bytes from 1; 0 for none)."""
    text = context.line(review, finding, file, line) if line > 0 else None
    if text is None or not text.strip():
        return
    yield "        " + printable(text).expandtabs(8)
    if column > 0:
        before = text.encode("utf-8", "surrogateescape")[: column - 1].decode("utf-8", "replace")
        yield "        " + " " * len(before.expandtabs(8)) + style.paint("caret", "^")


def _skips(skipped: Sequence[NotAnalysed], style: TextStyle) -> Iterator[str]:
    shown = skipped if style.verbose else skipped[:_SHOWN_SKIPS]
    for entry in shown:
        function = f" {printable(entry.function)}()" if entry.function else ""
        yield f"not analysed: {place_words(entry.file, entry.line)}{function}: {one_line(entry.reason)}"
    if len(shown) < len(skipped):
        yield f"not analysed: {len(skipped) - len(shown)} more (-v lists them)"


def _summary(review: Review, style: TextStyle) -> Iterator[str]:
    said = [tally(review.findings)]
    if review.patches:
        said.append(plural(len(review.patches), "patch").replace("patchs", "patches"))
        failed = sum(patch.applied == "failed" for patch in review.patches)
        partial = sum(patch.applied == "fragment" for patch in review.patches)
        said += [f"{failed} not applied"] * bool(failed) + [f"{partial} seen as hunks only"] * bool(partial)
    said.append(plural(int(review.stats.get("functions", 0)), "function"))
    said += [f"{len(review.suppressed)} suppressed"] * bool(review.suppressed)
    said += [f"{len(review.not_analysed)} not analysed"] * bool(review.not_analysed)
    yield style.paint("heading", f"{subject_of(review)}: {', '.join(said)}")
    if style.stats:
        yield "  ".join(f"{name} {value:g}" for name, value in sorted(review.stats.items()))
