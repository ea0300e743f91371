"""The source lines that reports show beside findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from patchlint.model import Finding
from patchlint.review.timeline import Stage, State, View
from patchlint.source import TreeReader

_MOST_LINES = 400
"""Lines of one function that are kept."""

Excerpts = dict[tuple[str, int], dict[int, str]]


def excerpts(findings: Iterable[Finding], timeline: Sequence[Stage], reader: TreeReader | None) -> Excerpts:
    """Lines of each finding's function and of each step, by (file, patch number) and line.

    The patch number is the finding's; 0 for findings that name no patch.
    """
    states = {stage.patch.n: stage.after for stage in timeline}
    kept: Excerpts = {}
    for finding in findings:
        number = finding.patch or 0
        state = states.get(number, {})
        for file, line in {(finding.file, finding.line), *((step.file, step.line) for step in finding.trace)}:
            lines = kept.setdefault((file, number), {})
            if line > 0 and line not in lines:
                lines.update(_around(file, line, state, reader))
    return {key: lines for key, lines in kept.items() if lines}


def _around(file: str, line: int, state: State, reader: TreeReader | None) -> dict[int, str]:
    """The lines of the function that holds ``line``, or the line alone."""
    for view in state.get(file, ()):
        found = function_lines(view, line)
        if found:
            return found
    source = reader.read(file) if reader is not None and file not in state and file.endswith((".c", ".h")) else None
    if source is None:
        return {}
    lines = source.split(b"\n", line)
    return {line: _text(lines[line - 1])} if line <= len(lines) else {}


def function_lines(view: View, line: int) -> dict[int, str]:
    """Lines of the function around ``line`` of the real file, or the line alone; nothing when it is not shown."""
    lines = view.unit.lines
    for head in view.unit.heads:
        first, last = view.file_line(head.start), view.file_line(head.end)
        if first <= line <= last and last - first < _MOST_LINES:
            image_first, image_last = lines.line(head.start), lines.line(head.end)
            texts = view.source.split(b"\n")[image_first - 1 : image_last]
            return {view.file_line(lines.start(image_first + at)): _text(text) for at, text in enumerate(texts)}
    if view.fragments:
        return {}
    texts = view.source.split(b"\n", line)
    return {line: _text(texts[line - 1])} if line <= len(texts) else {}


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")
