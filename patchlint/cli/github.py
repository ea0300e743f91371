"""``patchlint github-range``: the step of our GitHub Action that finds what is to be reviewed."""

from __future__ import annotations

import os
from pathlib import Path

import click

from patchlint.host.github import Ends, event_ends, resolve
from patchlint.model import PatchlintError


@click.command("github-range")
@click.option("--range", "given", metavar="A..B", default="", help="This range, not the event's.")
@click.option("--max-commits", type=click.IntRange(1), default=250, show_default=True, help="Review no longer ranges.")
def github_range(given: str, max_commits: int) -> None:
    """Find the range of commits that a GitHub event brings; writes range, commits and tree to GITHUB_OUTPUT.

    A shallow clone is deepened as far as needed. An empty "range" says that there is nothing to review.
    """
    ends = _given(given) if given else event_ends(os.environ)
    if ends is None:
        _outputs(range="", commits="0", tree="")
        click.echo("no commits to review: the branch was deleted")
        return
    found = resolve(Path.cwd(), ends)
    words = f"{found.old}..{found.new}"
    if found.commits > max_commits:
        click.echo(f"::warning title=patchlint::not reviewed: {found.commits} commits are more than {max_commits}")
        words = ""
    elif not found.commits:
        words = ""
    _outputs(range=words, commits=str(found.commits), tree=found.tree)
    click.echo(f"{found.old[:12]}..{found.new[:12]}: {found.commits} commits")


def _given(text: str) -> Ends:
    old, dots, new = text.partition("..")
    if not dots or not old or text.startswith("-"):
        raise PatchlintError(f"--range {text}: say A..B")
    return Ends(old, new.removeprefix(".") or "HEAD")


def _outputs(**values: str) -> None:
    """Hand values to later steps of the workflow."""
    file = os.environ.get("GITHUB_OUTPUT")
    if file:
        with Path(file).open("a") as outputs:
            outputs.writelines(f"{name}={value}\n" for name, value in values.items())
