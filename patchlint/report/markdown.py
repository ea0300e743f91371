"""A job summary in GitHub's Markdown: one table per series, the paths folded below their findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from patchlint.model import Finding, Review
from patchlint.report.context import ReportContext
from patchlint.report.wording import one_line, place_words, plural, subject_of, tally, verdict_words

MAX_BYTES = 1_000_000
"""GitHub refuses a job summary of more than 1 MiB for one step."""

_SIGN = {"error": "❌ error", "warning": "⚠️ warning", "note": "ℹ️ note"}
# Everything that Markdown may read as markup; mentions and links would notify or mislead.
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~@:/-])")


def render(reviews: Sequence[Review], context: ReportContext) -> str:
    """All reviews; what would pass GitHub's limit is counted in the last line."""
    title = f"## {context.tool.name}: {tally(finding for review in reviews for finding in review.findings)}\n"
    parts, size = [title], len(title.encode())
    pending = [block for review in reviews for block in _blocks(review, context)]
    for at, block in enumerate(pending):
        size += len(block.encode())
        if size > MAX_BYTES:
            parts.append(f"\n{plural(len(pending) - at, 'section')} left out: GitHub shows 1 MiB of a summary.\n")
            break
        parts.append(block)
    return "".join(parts)


def _blocks(review: Review, context: ReportContext) -> Iterator[str]:
    yield f"\n### {_text(subject_of(review))}\n\n{_overview(review)}\n"
    for note in review.notes:
        yield f"\n{_text(note)}\n"
    if review.findings:
        yield "\n| | rule | place | what | verdict |\n|---|---|---|---|---|\n"
    for finding in review.findings:
        yield _row(finding)
    for finding in review.findings:
        yield from _folded(review, finding, context)
    yield from _problems(review)


def _overview(review: Review) -> str:
    base = f" on {_code(review.base_rev[:12])}" if review.base_rev else ""
    return f"{plural(len(review.patches), 'patch', 'patches')}{base}: {tally(review.findings)}."


def _row(finding: Finding) -> str:
    place = _code(place_words(finding.file, finding.line)) if finding.file else ""
    inside = f" in {_code(finding.function)}" if finding.function else ""
    cells = (_SIGN[finding.severity], finding.rule, place + inside, _text(finding.message), verdict_words(finding))
    return f"| {' | '.join(cells)} |\n"


def _folded(review: Review, finding: Finding, context: ReportContext) -> Iterator[str]:
    """The path with its source lines, folded."""
    if not finding.trace:
        return
    head = f"{finding.rule} {place_words(finding.file, finding.line)}: the path"
    steps = []
    for step in finding.trace:
        steps.append(f"{place_words(step.file, step.line)}: {one_line(step.what)}")
        source = context.line(review, finding, step.file, step.line)
        if source is not None:
            steps.append(f"    {one_line(source)}")
    body = escape("\n".join(steps))
    yield f"\n<details><summary>{escape(head)}</summary>\n\n<pre>{body}</pre>\n\n</details>\n"


def _problems(review: Review) -> Iterator[str]:
    failed = [patch for patch in review.patches if patch.applied == "failed"]
    if failed:
        names = ", ".join(f"{patch.n} ({_text(patch.subject)})" for patch in failed)
        yield f"\nDid not apply: {names}.\n"
    if review.not_analysed:
        skipped = (one_line(f"{each.file}: {each.function}: {each.reason}") for each in review.not_analysed)
        rows = escape("\n".join(skipped))
        count = len(review.not_analysed)
        yield f"\n<details><summary>{count} not analysed</summary>\n\n<pre>{rows}</pre>\n\n</details>\n"


def _text(text: str) -> str:
    """Free text that shall read as it is."""
    return escape(_MARKUP.sub(r"\\\1", one_line(text)), quote=False)


def _code(text: str) -> str:
    # The inside of an inline tag is still read as Markdown.
    return f"<code>{_text(text)}</code>"
