"""Where a patch that b4 hands over comes from: its commit on a branch, or the range that b4 tracks for a review."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from git import GitCommandError

from patchlint.host.tree import GitTree
from patchlint.model import PatchlintError

DEPTH = 1000
"""Commits from the tip in which a patch is looked for."""


class Tracked(NamedTuple):
    """A series under review in b4: ``first`` is its first commit, ``branch`` holds it below b4's own commit."""

    first: str
    branch: str

    @property
    def commits(self) -> str:
        """The range of its commits."""
        return f"{self.first}~1..{self.branch}~1"


def tracked_series(file: Path) -> Tracked | None:
    """What ``B4_TRACKING_FILE`` tells of the series; None when it has no commits of its own yet."""
    try:
        series = json.loads(file.read_bytes())["series"]
        first, change = str(series.get("first-patch-commit") or ""), str(series.get("change-id") or "")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PatchlintError(f"{file}: not a tracking file of b4's ({type(error).__name__})") from error
    return Tracked(first, f"b4/review/{change}") if first and change else None


def parent_of(tree: GitTree, subject: str, commits: str = "HEAD") -> str | None:
    """The commit below the newest one called ``subject``, among the last of ``commits``; None when there is none."""
    if commits.startswith("-"):
        return None
    try:
        text = str(
            tree.git.log(f"-{DEPTH}", "--no-show-signature", "--no-color", "--format=%H%x00%P%x00%s", commits, "--")
        )
    except GitCommandError:
        return None
    for line in str(text).split("\n"):
        _commit, parents, found = [*line.split("\0"), "", ""][:3]
        if found == subject and parents and " " not in parents:
            return parents
    return None
