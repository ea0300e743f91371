"""Reviews to text for people and programs.

Each format is a module of this package with ``render(reviews, context) -> str``; the name on the command line is the
module's name.  The driver imports the one it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from patchlint.model import Review
from patchlint.report.context import ReportContext, RuleHelp, SourceLookup, ToolInfo

FORMATS: tuple[str, ...] = ("text", "json", "sarif", "github", "rdjsonl", "reply", "html", "markdown")
"""What ``--format`` takes; each is a module here."""


class Renderer(Protocol):
    """The ``render`` function of a format module."""

    def __call__(self, reviews: Sequence[Review], context: ReportContext) -> str:
        """The whole document, ending in a newline unless empty."""


__all__ = ["FORMATS", "Renderer", "ReportContext", "RuleHelp", "SourceLookup", "ToolInfo"]
