"""Reviews to text for people and programs.

Each format is a module of this package with ``render(reviews, options) -> str``; the name on the command line is the
module's name.  The driver imports the one it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from patchlint.model import Review

FORMATS: tuple[str, ...] = ("text", "json", "sarif", "github", "rdjsonl", "reply", "html")
"""What ``--format`` takes; each is a module here."""


class RuleNote(NamedTuple):
    """What a report says about a rule (a plain copy of the rule's text, so that reports know no other room)."""

    id: str
    name: str
    summary: str
    severity: str
    why: str = ""
    bad: str = ""
    good: str = ""
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report may need beside the reviews themselves."""

    version: str
    rules_digest: str = ""
    rules: Mapping[str, RuleNote] = field(default_factory=dict)
    color: bool = False
    width: int = 100
    """Columns of the terminal; only ``text`` uses it."""
    quiet: bool = False
    verbose: bool = False
    stats: bool = False


class Renderer(Protocol):
    """The ``render`` function of a format module."""

    def __call__(self, reviews: Sequence[Review], options: ReportOptions) -> str:
        """The whole document, ending in a newline unless empty."""


__all__ = ["FORMATS", "Renderer", "ReportOptions", "RuleNote"]
