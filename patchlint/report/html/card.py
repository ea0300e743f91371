"""One finding: what is wrong, and its path walked step by step beside the source."""

from __future__ import annotations

from collections.abc import Iterator

from patchlint.model import Finding, Review, Step
from patchlint.report.context import ReportContext
from patchlint.report.html.drawing import draw
from patchlint.report.html.element import Markup, joined, tag
from patchlint.report.wording import place_words, plural, step_words, verdict_words

AROUND = 3
"""Source lines shown before and after each step."""
MAX_SOURCE = 400
"""Source lines shown of one path at most."""


def card(review: Review, finding: Finding, ident: str, context: ReportContext) -> Markup:
    """The finding as an article with the id ``ident``."""
    parts = [_heading(finding, ident, context), tag("p", _meta(finding), class_="meta")]
    if finding.trace:
        parts.append(_walk(review, finding, ident, context))
    if finding.suggestion:
        parts.append(_suggestion(finding.suggestion))
    return tag(
        "article", *parts, class_=f"finding {finding.severity}", id=ident, tabindex=-1, aria_labelledby=f"{ident}-head"
    )


def chip(severity: str) -> Markup:
    """A severity as a coloured word."""
    return tag("span", severity, class_=f"chip {severity}")


def _heading(finding: Finding, ident: str, context: ReportContext) -> Markup:
    known = finding.rule in context.rules
    rule = tag("a", finding.rule, href=f"#rule-{finding.rule}", class_="rule", title=finding.name) if known else (
        tag("span", finding.rule, class_="rule", title=finding.name)
    )  # fmt: skip
    return tag("h4", chip(finding.severity), " ", rule, " ", finding.message, id=f"{ident}-head")


def _meta(finding: Finding) -> str:
    parts = [verdict_words(finding), f"{finding.confidence} confidence", place_words(finding.file, finding.line)]
    if finding.function:
        parts.append(f"in {finding.function}()")
    if finding.config:
        parts.append(f"with {', '.join(finding.config)}")
    return " · ".join(part for part in parts if part)


def _walk(review: Review, finding: Finding, ident: str, context: ReportContext) -> Markup:
    steps = tag("ol", *(_step(finding, ident, at) for at in range(len(finding.trace))), class_="steps")
    title = f"The path through {finding.function or finding.file} in {plural(len(finding.trace), 'step')}"
    drawing = tag("figure", draw(context.flow(review, finding), ident, title), class_="drawing")
    source = tag("div", *_source(review, finding, ident, context), class_="source")
    return tag("div", tag("div", steps, drawing, class_="path"), source, class_="walk", role="group", aria_label=title)


def _step(finding: Finding, ident: str, at: int) -> Markup:
    step = finding.trace[at]
    place = tag("span", step_words(finding, step), class_="place", title=place_words(step.file, step.line))
    return tag("li", tag("a", place, " ", step.what, href=f"#{_line_id(ident, step)}", data_step=at))


def _line_id(ident: str, step: Step) -> str:
    return f"{ident}-{step.file}-{step.line}".replace(" ", "_")


def _source(review: Review, finding: Finding, ident: str, context: ReportContext) -> Iterator[Markup]:
    """The lines around the steps, file by file, gaps marked."""
    budget = MAX_SOURCE
    for file, lines in _windows(finding).items():
        yield tag("p", file, class_="file")
        before = 0
        for line in lines:
            text = context.line(review, finding, file, line) if budget else None
            if text is None and not _steps_at(finding, file, line):
                continue
            if before and line != before + 1:
                yield tag("div", "⋯", class_="gap", aria_hidden="true")
            before, budget = line, max(0, budget - 1)
            yield _line(finding, ident, file, line, "⋯" if text is None else text)


def _windows(finding: Finding) -> dict[str, list[int]]:
    """For each file of the trace, in order of the path, the lines to show."""
    wanted: dict[str, set[int]] = {}
    for step in finding.trace:
        window = range(max(1, step.line - AROUND), step.line + AROUND + 1)
        wanted.setdefault(step.file, set()).update(window)
    return {file: sorted(lines) for file, lines in wanted.items()}


def _steps_at(finding: Finding, file: str, line: int) -> list[int]:
    return [at for at, step in enumerate(finding.trace) if (step.file, step.line) == (file, line)]


def _line(finding: Finding, ident: str, file: str, line: int, text: str) -> Markup:
    here = _steps_at(finding, file, line)
    marks = joined(tag("span", str(at + 1), class_="mark") for at in here)
    said = joined(tag("span", finding.trace[at].what, class_="said") for at in here)
    return tag(
        "div",
        tag("span", str(line), class_="no"),
        tag("span", marks, class_="marks"),
        tag("code", text or " "),
        said,
        class_="line at" if here else "line",
        id=_line_id(ident, finding.trace[here[0]]) if here else None,
        data_steps=" ".join(map(str, here)) if here else None,
    )


def _suggestion(diff: str) -> Markup:
    lines = (tag("div", tag("code", line or " "), class_=f"line {_side(line)}") for line in diff.splitlines())
    return tag("details", tag("summary", "Suggested change"), tag("div", *lines, class_="source"))


def _side(line: str) -> str:
    return {"+": "add", "-": "del"}.get(line[:1], "")
