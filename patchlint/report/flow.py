"""A finding's path as nodes to draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from patchlint.model import Finding, Review
from patchlint.report.wording import step_words

Kind = Literal["step", "branch", "plain"]


class PathNode(NamedTuple):
    """One point of the path: a step of the trace (``step`` from 0), or (-1) a place between steps."""

    kind: Kind
    label: str
    step: int = -1
    taken: str = ""
    """For a branch: the outcome this path takes, e.g. "yes"."""
    other: str = ""
    """For a branch: where the other outcome goes, e.g. "no: line 24"."""


FlowLookup: TypeAlias = Callable[[Review, Finding], tuple[PathNode, ...]]


def steps_only(review: Review, finding: Finding) -> tuple[PathNode, ...]:
    """A :data:`FlowLookup` that knows only the trace."""
    del review
    return tuple(PathNode("step", step_words(finding, step), at) for at, step in enumerate(finding.trace))
