"""What every report is given beside the reviews: the tool, the rules' help and source lines.

All formats have the shape ``render(reviews, context) -> str`` and are pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from patchlint.model import Finding, Review, Severity
from patchlint.report.flow import FlowLookup, steps_only
from patchlint.report.places import hunk_line


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """Which patchlint, with which rules, speaks."""

    version: str
    rules_digest: str = ""
    name: str = "patchlint"


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
class ReportContext:
    """What the driver hands to each format."""

    tool: ToolInfo
    rules: Mapping[str, RuleHelp] = field(default_factory=dict)
    source: SourceLookup = hunk_line
    flow: FlowLookup = steps_only

    def line(self, review: Review, finding: Finding, file: str, line: int) -> str | None:
        """A source line as it stands after the finding's patch; what the hunks show where the tree is unknown."""
        text = self.source(review, finding.patch, file, line)
        return hunk_line(review, finding.patch, file, line) if text is None else text
