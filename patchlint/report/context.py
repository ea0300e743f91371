"""What every report is given beside the reviews: the tool, the rules' help and source lines.

All formats have the shape ``render(reviews, context) -> str`` and are pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from patchlint.model import FileDiff, Finding, Hunk, Patch, Review, Severity


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """Which patchlint, with which rules, speaks."""

    version: str
    rules_digest: str = ""
    name: str = "patchlint"
    url: str = "https://github.com/patchlint/patchlint"


@dataclass(frozen=True, slots=True)
class RuleHelp:
    """What ``patchlint explain`` knows of a rule, as plain text."""

    id: str
    name: str
    summary: str
    why: str = ""
    bad: str = ""
    good: str = ""
    severity: Severity = "warning"
    references: tuple[str, ...] = ()


SourceLookup: TypeAlias = Callable[[Review, int | None, str, int], str | None]
"""``lookup(review, patch, file, line)``: a line of the file as it stands after that patch; None where unknown.

``patch`` None means the tree as it stands. No newline at the end."""


@dataclass(frozen=True, slots=True)
class HunkPlace:
    """Where a finding's line stands in the mail: the patch, the file's diff, the hunk, the index into its lines."""

    patch: Patch
    diff: FileDiff
    hunk: Hunk
    index: int


def patch_of(review: Review, n: int | None) -> Patch | None:
    """The patch with counter ``n``, or None."""
    if review.series is None or n is None:
        return None
    return next((patch for patch in review.series.patches if patch.n == n), None)


def find_in_patch(review: Review, n: int | None, file: str, line: int) -> HunkPlace | None:
    """Where line ``line`` of the post-image of ``file`` is shown by patch ``n``; None outside its hunks."""
    patch = patch_of(review, n)
    if patch is None:
        return None
    for diff in patch.files:
        if diff.path == file:
            for hunk in diff.hunks:
                index = index_in_hunk(hunk, line)
                if index is not None:
                    return HunkPlace(patch, diff, hunk, index)
    return None


def index_in_hunk(hunk: Hunk, line: int) -> int | None:
    """Index into ``hunk.lines`` of post-image line ``line``; None when the hunk does not show it."""
    if not hunk.new_start <= line < hunk.new_start + hunk.new_count:
        return None
    at = hunk.new_start
    for index, (tag, _text) in enumerate(hunk.lines):
        if tag == "-":
            continue
        if at == line:
            return index
        at += 1
    return None


def hunk_line(review: Review, patch: int | None, file: str, line: int) -> str | None:
    """A :data:`SourceLookup` that knows only what the patch itself shows."""
    place = find_in_patch(review, patch, file, line)
    if place is None:
        return None
    return place.hunk.lines[place.index][1].decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class ReportContext:
    """What the driver hands to each format."""

    tool: ToolInfo
    rules: Mapping[str, RuleHelp] = field(default_factory=dict)
    source: SourceLookup = hunk_line

    def line(self, review: Review, finding: Finding, file: str, line: int) -> str | None:
        """A source line as it stands after the finding's patch; what the hunks show where the tree is unknown."""
        text = self.source(review, finding.patch, file, line)
        return hunk_line(review, finding.patch, file, line) if text is None else text


def subject_of(review: Review) -> str:
    """What to call a review in a heading: the series' subject, or the input's name."""
    return review.series.subject if review.series is not None and review.series.subject else review.source


def by_severity(findings: tuple[Finding, ...]) -> dict[Severity, int]:
    """How many findings there are of each severity (zeros included), the worst first."""
    counts: dict[Severity, int] = {"error": 0, "warning": 0, "note": 0}
    for finding in findings:
        counts[finding.severity] += 1
    return counts


def plural(count: int, word: str) -> str:
    """``1 error``, ``2 errors``."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
