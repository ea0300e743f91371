"""``patchlint hook``: the review that ``git send-email`` asks for before it sends anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from patchlint.cli.config import configured_options
from patchlint.cli.progress import Bar
from patchlint.cli.review import EXIT_FINDINGS, write_reports
from patchlint.driver import Options, holds_patch, open_desk, review_messages
from patchlint.host import hooks
from patchlint.host.sendings import Gathered, current_sending, file_counter
from patchlint.mail import read_mail
from patchlint.model import SEVERITIES, Message, PatchlintError
from patchlint.review import at_least

EXIT_CRASH = 3
"""The hook's shell tells it from "findings" and follows ``git config patchlint.onCrash``."""


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
    try:
        if not gathered.add(mail, mail.read_bytes(), file_counter(os.environ)):
            return 0
        stopped = _review(gathered.mails(), fail_on)
    except PatchlintError:
        gathered.clear()
        raise
    except Exception as error:
        # The last guard of a sending: whatever broke must neither look like findings nor like a clean review.
        gathered.clear()
        click.echo(f"patchlint: internal error: {type(error).__name__}: {error}", err=True)
        return EXIT_CRASH
    gathered.clear()
    return findings_status if stopped else 0


def _review(mails: Sequence[Path], fail_on: str) -> bool:
    """Review and report; whether the sending must stop."""
    messages = [message for mail in mails for message in read_mail(mail.read_bytes(), _name(mail))]
    if not holds_patch(messages):
        return False
    with Bar("reviewing") as bar:
        return _judge(messages, _options(fail_on), bar)


def _judge(messages: Sequence[Message], options: Options, bar: Bar) -> bool:
    desk = open_desk(options, bar)
    reviews = list(review_messages(desk, messages, "the mails to send"))
    write_reports(desk, reviews)
    if not at_least((finding for review in reviews for finding in review.findings), options.fail_on):
        return False
    sys.stdout.flush()
    click.echo("patchlint: nothing was sent; to send it all the same: PATCHLINT_SKIP=1 git send-email ...", err=True)
    return True


def _options(fail_on: str) -> Options:
    options = configured_options(None)
    if not fail_on:
        return options
    if fail_on not in (*SEVERITIES, "never"):
        raise PatchlintError(f"git config patchlint.failOn: {fail_on!r} is none of {', '.join(SEVERITIES)}, never")
    return replace(options, fail_on=fail_on)


def _name(mail: Path) -> str:
    """The mail as the user knows it: without the number it was gathered under."""
    return mail.name.partition("-")[2]
