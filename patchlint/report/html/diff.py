"""A patch's diff with each finding under its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from patchlint.model import FileDiff, Finding, Hunk, Patch
from patchlint.report.html.element import Markup, joined, tag
from patchlint.report.places import index_in_hunk

MAX_LINES = 4_000
"""Lines of one patch's diff that are shown."""
MAX_QUIET = 400
"""Lines of a file's diff from which on it is folded when no finding stands in it."""

_CLASS = {" ": "", "+": "add", "-": "del"}


def diffs(patch: Patch, findings: Sequence[Finding], card: Callable[[Finding], Markup]) -> Iterator[Markup]:
    """The files of a patch; then the findings that stand outside of every hunk."""
    placed: list[Finding] = []
    budget = MAX_LINES
    for diff in patch.files:
        here = [finding for finding in findings if finding.file == diff.path and finding not in placed]
        shown = [finding for finding in here if _in_hunks(diff, finding)]
        lines = sum(len(hunk.lines) for hunk in diff.hunks)
        if lines > budget and not shown:
            yield tag("p", f"{diff.path}: {lines} lines not shown", class_="quiet")
            continue
        budget -= lines
        placed += shown
        yield _file(diff, shown, card, lines > MAX_QUIET and not shown)
    rest = [finding for finding in findings if finding not in placed]
    if rest:
        yield tag("h3", "Outside of what the patch shows", class_="elsewhere")
        yield from map(card, rest)


def _in_hunks(diff: FileDiff, finding: Finding) -> bool:
    return any(index_in_hunk(hunk, finding.line) is not None for hunk in diff.hunks)


def _file(diff: FileDiff, findings: Sequence[Finding], card: Callable[[Finding], Markup], folded: bool) -> Markup:
    head = tag("summary", tag("span", diff.path, class_="name"), " ", tag("span", _kind(diff), class_="quiet"))
    hunks = joined(_hunk(hunk, findings, card) for hunk in diff.hunks)
    return tag("details", head, hunks, class_="diff", open=None if folded else "")


def _kind(diff: FileDiff) -> str:
    if diff.kind == "rename" or diff.kind == "copy":
        return f"{diff.kind} of {diff.old_path}"
    return "binary" if diff.binary else "" if diff.kind == "modify" else diff.kind


def _hunk(hunk: Hunk, findings: Sequence[Finding], card: Callable[[Finding], Markup]) -> Markup:
    span = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@ {hunk.section}"
    at = {finding: index_in_hunk(hunk, finding.line) for finding in findings}
    parts: list[Markup] = []
    for index, row in enumerate(_rows(hunk, {index for index in at.values() if index is not None})):
        parts.append(row)
        parts += [card(finding) for finding, place in at.items() if place == index]
    return tag("div", tag("div", span, class_="span"), *parts, class_="hunk")


def _rows(hunk: Hunk, marked: set[int]) -> Iterator[Markup]:
    old, new = hunk.old_start, hunk.new_start
    for index, (sign, text) in enumerate(hunk.lines):
        numbers = (str(old) if sign != "+" else "", str(new) if sign != "-" else "")
        old += sign != "+"
        new += sign != "-"
        kind = f"line {_CLASS.get(sign, '')} {'hit' if index in marked else ''}"
        yield tag(
            "div",
            *(tag("span", number, class_="no") for number in numbers),
            tag("span", sign, class_="sign"),
            tag("code", text.decode("utf-8", "replace") or " "),
            class_=" ".join(kind.split()),
        )
