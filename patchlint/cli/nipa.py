"""``patchlint nipa``: the review as a test of netdev's NIPA, which looks at HEAD and reads a status and one line."""

from __future__ import annotations

import os

import click

from patchlint.cli.options import review_options
from patchlint.cli.review import EXIT_FINDINGS, write_reports
from patchlint.driver import Options, open_desk, review_range
from patchlint.model import PatchlintError, Review
from patchlint.report.wording import one_line, place_words, tally
from patchlint.review import at_least

EXIT_WARNING = 250
"""What NIPA takes for a warning; 0 is a success, anything else a failure."""

_DESCRIPTION = 240
"""Characters of a description: a check in Patchwork shows no more, and NIPA reads the pipe only after the test."""


@click.command()
@review_options
@click.option("--range", "revisions", metavar="A..B", default="HEAD~1..HEAD", show_default=True, help="The commits.")
def nipa(options: Options, revisions: str) -> int:
    """Review HEAD as a NIPA test.

    Exits with 0 (success), 250 (warning: findings below --fail-on) or 1 (failure), and writes one line to the
    descriptor that DESC_FD names.
    """
    desk = open_desk(options)
    reviews = list(review_range(desk, revisions))
    write_reports(desk, reviews)
    _describe(_description(reviews))
    findings = [finding for review in reviews for finding in review.findings]
    if at_least(findings, options.fail_on):
        return EXIT_FINDINGS
    return EXIT_WARNING if findings else 0


def _description(reviews: list[Review]) -> str:
    """The count and the first finding, in one line."""
    findings = [finding for review in reviews for finding in review.findings]
    first = f"; {place_words(findings[0].file, findings[0].line)}: {findings[0].message}" if findings else ""
    text = one_line(f"{tally(findings)}{first}")
    return text if len(text) <= _DESCRIPTION else f"{text[: _DESCRIPTION - 1]}…"


def _describe(text: str) -> None:
    descriptor = os.environ.get("DESC_FD", "")
    if not descriptor:
        return
    try:
        os.write(int(descriptor), f"{text}\n".encode())
    except (ValueError, OSError) as error:
        raise PatchlintError(f"DESC_FD {descriptor}: {error}") from error
