"""``patchlint b4-check`` and ``b4-review``: the check commands that b4 can be told to run."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from patchlint.cli.options import review_options
from patchlint.cli.review import EXIT_FINDINGS
from patchlint.driver import Desk, Options, holds_patch, open_desk, report_context, review_messages, review_range
from patchlint.host.b4 import parent_of, tracked_series
from patchlint.host.tree import GitTree
from patchlint.mail import read_mail
from patchlint.model import Finding, Message, Review
from patchlint.report.b4 import check_lines, review_results
from patchlint.review import at_least
from patchlint.series import assemble

_STDIN = "standard input"
_COUNTER = re.compile(r"(\[[^\]]*?)\s*\b0*[1-9]\d*\s*/\s*\d+\b([^\]]*\])")
"""n/m in a subject's brackets; a cover letter's 0/m is left."""


@click.command("b4-check")
@review_options
def check(options: Options) -> int:
    """For b4.prep-perpatch-check-cmd: reviews the one mail on standard input.

    Prints nothing when clean, an ERROR: line for what --fail-on covers and a WARNING: line for the rest.
    """
    messages = _mail()
    reviews = list(review_messages(_desk(options, messages, "HEAD"), messages, _STDIN))
    sys.stdout.writelines(f"{line}\n" for line in check_lines(reviews, _fails(options)))
    return _status(reviews, options)


@click.command("b4-review")
@review_options
def review(options: Options) -> int:
    """For b4.review-perpatch-check-cmd and b4.review-series-check-cmd: prints b4's JSON array.

    The mail on standard input is reviewed; for a cover letter, the series that b4 tracks (B4_TRACKING_FILE).
    """
    file = os.environ.get("B4_TRACKING_FILE")
    tracked = tracked_series(Path(file)) if file else None
    messages = _mail()
    cover = not holds_patch(messages)
    if cover and tracked is None:
        click.echo("[]")
        return 0
    commits = tracked.commits if tracked else "HEAD"
    desk = _desk(options, messages, commits)
    reviews = list(review_range(desk, commits) if cover else review_messages(desk, messages, _STDIN))
    sys.stdout.write(review_results(reviews, report_context(desk), _fails(options)))
    return _status(reviews, options)


def _mail() -> Sequence[Message]:
    """The mail on standard input, as a patch alone: b4 hands over the patches of a series one by one."""
    return [_alone(message) for message in read_mail(sys.stdin.buffer.read(), _STDIN)]


def _alone(message: Message) -> Message:
    """The mail without the counter in its subject's brackets, so that nobody misses the rest of the series."""
    subject = _COUNTER.sub(r"\1\2", message.header("subject"), count=1)
    headers = tuple((name, subject if name == "subject" else text) for name, text in message.headers)
    return replace(message, headers=headers)


def _desk(options: Options, messages: Sequence[Message], commits: str) -> Desk:
    """The desk with the tree as it was below the patch's own commit, where ``commits`` hold that.

    b4 runs us on a branch that has the whole series: there the patch is applied already.
    """
    desk = open_desk(options)
    if not holds_patch(messages) or options.base is not None or not isinstance(desk.tree, GitTree):
        return desk
    subject = assemble(messages)[0].patches[0].subject
    base = parent_of(desk.tree, subject, commits)
    return open_desk(replace(options, base=base)) if base else desk


def _fails(options: Options) -> Callable[[Finding], bool]:
    return lambda finding: at_least((finding,), options.fail_on)


def _status(reviews: Sequence[Review], options: Options) -> int:
    return EXIT_FINDINGS if at_least((each for one in reviews for each in one.findings), options.fail_on) else 0
