"""Small kernel trees and series on them, made in a test's folder with real git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from patchlint.driver import Options, open_desk, review_mail
from patchlint.model import Finding, Review

ENVIRONMENT = {f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

Files = Mapping[str, str]


def git(folder: Path, *words: str) -> str:
    """Run git in a folder and return what it prints."""
    done = subprocess.run(
        ["git", *words], cwd=folder, env={**os.environ, **ENVIRONMENT}, check=True, capture_output=True, text=True
    )
    return done.stdout


def make_series(folder: Path, base: Files, patches: Sequence[Files]) -> Path:
    """A clone at ``base`` in ``folder``/tree and, beside it, an mbox of ``patches`` (each a set of changed files).

    An empty text removes the file.  The clone knows the commits of the series no more.
    """
    tree = folder / "tree"
    tree.mkdir()
    git(tree, "init", "-q")
    _commit(tree, base, "base")
    git(tree, "tag", "base")
    for number, files in enumerate(patches, 1):
        _commit(tree, files, f"widget: change {number}")
    mbox = folder / "series.mbox"
    mbox.write_text(git(tree, "format-patch", "-M", "--stdout", "-n", "base..HEAD"))
    git(tree, "reset", "-q", "--hard", "base")
    git(tree, "tag", "-d", "base")
    git(tree, "reflog", "expire", "--expire=now", "--all")
    git(tree, "gc", "-q", "--prune=now")
    return mbox


def _commit(tree: Path, files: Files, subject: str) -> None:
    for name, text in files.items():
        path = tree / name
        if text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        else:
            path.unlink()
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", subject)


def review(mbox: Path, **options: object) -> Review:
    """The review of the one series in ``mbox`` on the tree beside it."""
    asked = Options(**{"tree": mbox.parent / "tree", "jobs": 1, **options})  # type: ignore[arg-type]
    (found,) = review_mail(open_desk(asked), [str(mbox)])
    return found


def verdicts(findings: Sequence[Finding]) -> list[tuple[str, str, str, int | None, int | None]]:
    """Rule, function, verdict, patch and fixed_by of each finding."""
    return [(one.rule, one.function, one.verdict, one.patch, one.fixed_by) for one in findings]
