"""``mbox``, ``range`` and ``file``: the reviewing commands."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from patchlint.cli.options import review_options
from patchlint.cli.progress import Bar
from patchlint.driver import (
    Desk,
    Options,
    open_desk,
    review_files,
    review_mail,
    review_range,
    write_baseline,
    write_text,
)
from patchlint.driver import report as render
from patchlint.model import Review
from patchlint.report.text import TextStyle
from patchlint.review import at_least

EXIT_FINDINGS = 1
EXIT_INTERRUPTED = 130


@click.command()
@review_options
@click.option("--revision", metavar="VERSION", help="Review this version (v2) of each series, not the newest.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
def mbox(options: Options, paths: tuple[str, ...], revision: str | None) -> int:
    """Review every patch series in the given mailboxes.

    PATH is an mbox (plain, .gz, .xz), one mail, a folder of patches, a maildir, or - for standard input.
    """
    with Bar("reviewing", options.quiet) as bar:
        desk = open_desk(options, bar)
        return _finish(desk, review_mail(desk, paths, revision))


@click.command("range")
@review_options
@click.argument("revisions", metavar="A..B")
def range_command(options: Options, revisions: str) -> int:
    """Review the commits of a git range as one series."""
    with Bar("reviewing", options.quiet) as bar:
        desk = open_desk(options, bar)
        return _finish(desk, review_range(desk, revisions))


@click.command("file")
@review_options
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
def file_command(options: Options, paths: tuple[Path, ...]) -> int:
    """Review whole source files, or all below a folder, as they stand."""
    with Bar("reviewing", options.quiet) as bar:
        desk = open_desk(options, bar)
        return _finish(desk, review_files(desk, paths))


def _finish(desk: Desk, reviews: Iterator[Review]) -> int:
    """Report what was found, also when the user interrupts; the exit status says how it went."""
    options = desk.options
    done: list[Review] = []
    interrupted = False
    try:
        done.extend(reviews)
    except KeyboardInterrupt:
        interrupted = True
        print("patchlint: interrupted; this is what was found so far", file=sys.stderr)
    if done or not interrupted:
        write_reports(desk, done)
    if interrupted:
        return EXIT_INTERRUPTED
    if options.write_baseline is not None:
        write_baseline(options.write_baseline, done)
    found = (finding for review in done for finding in review.findings)
    return EXIT_FINDINGS if at_least(found, options.fail_on) else 0


def write_reports(desk: Desk, reviews: Sequence[Review]) -> None:
    """The report that was asked for, and each of ``--also``."""
    options = desk.options
    text = render(reviews, desk, options.fmt, text_style(options))
    if options.output is not None:
        write_text(options.output, text)
    else:
        sys.stdout.write(text)
    for fmt, file in options.also:
        write_text(file, render(reviews, desk, fmt))


def text_style(options: Options) -> TextStyle:
    """Colours on terminals only, prose as wide as the terminal."""
    terminal = options.output is None and sys.stdout.isatty()
    return TextStyle(
        color=terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
        width=shutil.get_terminal_size((100, 24)).columns if terminal else 100,
        quiet=options.quiet,
        verbose=options.verbose,
        stats=options.stats,
    )
