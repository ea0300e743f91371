"""``patchlint hook``: the review that ``git send-email`` asks for before it sends anything."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import click

from patchlint.host import hooks
from patchlint.host.sendings import Gathered, current_sending, file_counter

EXIT_FINDINGS = 1


@click.group()
def hook() -> None:
    """The git send-email pre-send check: install, run, uninstall.

    Settings (git config): patchlint.skip true passes everything, patchlint.failOn error|warning|note|never stops from
    that severity on, patchlint.onCrash stop|pass says what happens when patchlint itself fails.
    PATCHLINT_SKIP=1 git send-email ... sends once without a review.
    """


_REPOSITORY = click.option(
    "--repo", type=click.Path(path_type=Path, file_okay=False), default=Path(), metavar="DIR", help="The repository."
)


@hook.command()
@_REPOSITORY
def install(repo: Path) -> None:
    """Review every series before git send-email sends it, in this repository.

    A sendemail-validate hook that is there already is kept and called first; core.hooksPath is respected.
    """
    change = hooks.install(hooks.hooks_folder(repo))
    click.echo(f"{change.outcome}: {change.hook}")
    if change.kept:
        click.echo(f"the hook that was there is called first: {change.hook.with_name(hooks.KEPT)}")


@hook.command()
@_REPOSITORY
def uninstall(repo: Path) -> None:
    """Remove the hook and put back the one it replaced."""
    change = hooks.uninstall(hooks.hooks_folder(repo))
    said = {"removed": "removed", "restored": "removed; the earlier hook is back", "absent": "no hook of patchlint's"}
    click.echo(f"{said[change.outcome]}: {change.hook}")


@hook.command()
@click.option("--findings-status", type=int, default=EXIT_FINDINGS, hidden=True)
@click.argument("mail", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("headers", required=False)
def run(mail: Path, headers: str | None, findings_status: int) -> int:
    """What git calls for each MAIL (and from git 2.41 on its SMTP HEADERS); reviews when the last one is seen."""
    del headers
    repository = Path.cwd()
    # Asked before the tree is opened, which drops the variables that git sets for its hooks.
    fail_on = hooks.setting(repository, "failOn")
    gathered = Gathered(hooks.state_folder(repository), current_sending())
    if not gathered.add(mail, mail.read_bytes(), file_counter(os.environ)):
        return 0
    try:
        # The pipeline takes most of a second to import, and only the last of a sending's calls needs it.
        stopped = import_module("patchlint.cli.hook_review").review_mails(gathered.mails(), fail_on)
    finally:
        gathered.clear()
    return findings_status if stopped else 0
