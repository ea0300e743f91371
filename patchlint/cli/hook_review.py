"""The review at the end of a gathering, apart from :mod:`patchlint.cli.hook` so that the calls before it stay quick."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from patchlint.cli.config import configured_options
from patchlint.cli.progress import Bar
from patchlint.cli.review import write_reports
from patchlint.driver import Options, holds_patch, open_desk, review_messages
from patchlint.mail import read_mail
from patchlint.model import SEVERITIES, Message, PatchlintError
from patchlint.review import at_least


def review_mails(mails: Sequence[Path], fail_on: str) -> bool:
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
