"""What a GitHub workflow runs for: the event's range of commits, fetched as far as a shallow clone lacks them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from patchlint.model import PatchlintError

_NONE = "0" * 40
_DEEPEN = (64, 512, 4096)
"""Commits fetched at a time until both ends of the range have a common one; then everything."""


class Ends(NamedTuple):
    """The range of an event: commits of ``new`` that are not in ``old``; ``old`` "" means the parent of ``new``."""

    old: str
    new: str


class Range(NamedTuple):
    """A range that is here: full ids, the number of its commits without merges, the tree its patches grow from."""

    old: str
    new: str
    commits: int
    tree: str


def event_ends(environment: Mapping[str, str]) -> Ends | None:
    """The range that the event is about, None for an event that brings no commits; raises for events not known."""
    name = environment.get("GITHUB_EVENT_NAME", "")
    event = _event(environment)
    if name in ("pull_request", "pull_request_target"):
        pull = event["pull_request"]
        return Ends(pull["base"]["sha"], pull["head"]["sha"])
    if name == "merge_group":
        return Ends(event["merge_group"]["base_sha"], event["merge_group"]["head_sha"])
    if name == "push":
        return _push_ends(event)
    raise PatchlintError(f"event {name!r} brings no range of commits: give one with the input 'range'")


def _event(environment: Mapping[str, str]) -> dict[str, Any]:
    path = environment.get("GITHUB_EVENT_PATH", "")
    try:
        event = json.loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise PatchlintError(f"GITHUB_EVENT_PATH {path or '(unset)'}: no event to read") from error
    if not isinstance(event, dict):
        raise PatchlintError(f"GITHUB_EVENT_PATH {path}: no event to read")
    return event


def _push_ends(event: Mapping[str, Any]) -> Ends | None:
    """A new branch is compared with the default branch; a deleted one brings nothing."""
    before, after = str(event.get("before", _NONE)), str(event.get("after", _NONE))
    if after == _NONE:
        return None
    if before != _NONE:
        return Ends(before, after)
    default = str(event.get("repository", {}).get("default_branch", ""))
    pushed = str(event.get("ref", "")).removeprefix("refs/heads/")
    return Ends("" if default in ("", pushed) else f"refs/heads/{default}", after)


def resolve(repository: Path, ends: Ends) -> Range:
    """Make sure that the range is in the clone, fetching what a shallow one lacks; says what cannot be had."""
    clone = _Clone(repository)
    new = clone.commit(ends.new)
    old = clone.commit(ends.old) if ends.old else clone.parent(new)
    clone.join(old, new)
    base = clone.ask("merge-base", old, new)
    count = clone.ask("rev-list", "--count", "--no-merges", f"{old}..{new}")
    return Range(old, new, int(count or 0), clone.ask("rev-parse", f"{base}^{{tree}}"))


class _Clone:
    """A clone with a remote called origin, as actions/checkout makes it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ask(self, *arguments: str) -> str:
        """Git's answer, "" where it has none."""
        done = subprocess.run(
            ["git", "-C", str(self._folder), *arguments], capture_output=True, text=True, check=False, errors="replace"
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    def commit(self, name: str) -> str:
        """The full id of a commit, fetched where it is missing."""
        found = self._here(name)
        if not found:
            self._fetch("--depth=1", name)
            found = self._here(name) or self._here("FETCH_HEAD")
        if not found:
            raise PatchlintError(f"{name}: not in this clone, and origin does not give it (fetch-depth: 0 may help)")
        return found

    def _here(self, name: str) -> str:
        local = name.replace("refs/heads/", "refs/remotes/origin/", 1)
        return self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{local}^{{commit}}")

    def parent(self, commit: str) -> str:
        """The first parent of a commit."""
        if not self._here(f"{commit}~1"):
            self._fetch("--deepen=1", commit)
        return self.commit(f"{commit}~1")

    def join(self, old: str, new: str) -> None:
        """Deepen a shallow clone until the two have a common commit."""
        for depth in (*(f"--deepen={count}" for count in _DEEPEN), "--unshallow"):
            if self.ask("merge-base", old, new):
                return
            if self.ask("rev-parse", "--is-shallow-repository") != "true":
                break
            self._fetch(depth, old, new)
        if not self.ask("merge-base", old, new):
            raise PatchlintError(f"{old[:12]} and {new[:12]} have no common commit in this clone (fetch-depth: 0)")

    def _fetch(self, depth: str, *names: str) -> None:
        self.ask("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", depth, "--", "origin", *names)
