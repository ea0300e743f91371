"""Options that the reviewing commands share."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from patchlint.cli.config import configured
from patchlint.driver import Options
from patchlint.model import CONFIDENCES, SEVERITIES
from patchlint.report import FORMATS

Command = TypeVar("Command", bound=Callable[..., Any])

_FOLDER = click.Path(path_type=Path)
_FILE = click.Path(path_type=Path, dir_okay=False)


def tree_options(command: Command) -> Command:
    """``--tree`` and ``--no-tree``."""
    for option in (
        click.option("--no-tree", is_flag=True, help="Use only what the patches themselves carry."),
        click.option("--tree", type=_FOLDER, metavar="DIR", help="The kernel: a git clone or a folder."),
    ):
        command = option(command)
    return command


def _formats(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, Path], ...]:
    """Each FORMAT=FILE, taken apart."""
    for value in values:
        fmt, _, file = value.partition("=")
        if fmt not in FORMATS or not file:
            raise click.BadParameter(f"{value!r}: say FORMAT=FILE with one of {', '.join(FORMATS)}", ctx, param)
    return tuple((value.partition("=")[0], Path(value.partition("=")[2])) for value in values)


_SHARED = (
    click.option("--base", metavar="REV", help="Review against this commit."),
    click.option("--format", "fmt", type=click.Choice(FORMATS), default="text", show_default=True, help="Report as."),
    click.option("--output", type=_FILE, metavar="FILE", help="Report to FILE instead of standard output."),
    click.option("--also", multiple=True, metavar="FORMAT=FILE", callback=_formats,
                 help="Report to FILE as well; repeatable."),
    click.option("--rules", multiple=True, type=_FOLDER, metavar="DIR", help="Further rule files."),
    click.option("--select", multiple=True, metavar="RULE", help="Only these rules or prefixes."),
    click.option("--ignore", multiple=True, metavar="RULE", help="Not these rules or prefixes."),
    click.option("--min-confidence", type=click.Choice(CONFIDENCES[::-1]), default="medium", show_default=True,
                 help="Hide what is less sure."),
    click.option("--fail-on", type=click.Choice([*SEVERITIES[::-1], "never"]), default="warning", show_default=True,
                 help="Exit with 1 from this severity on."),
    click.option("--all", "show_all", is_flag=True, help="Also report what was there before the series."),
    click.option("--jobs", type=click.IntRange(1, 256), default=os.cpu_count() or 1, metavar="N",
                 help="Processes; default: the number of processors."),
    click.option("--baseline", type=_FILE, metavar="FILE", help="Hide the findings listed in FILE."),
    click.option("--write-baseline", type=_FILE, metavar="FILE", help="List the findings in FILE."),
    click.option("--no-config", is_flag=True, help="Read no .patchlint.toml and no user's config."),
    click.option("-q", "--quiet", is_flag=True, help="Findings only: no summary, no progress."),
    click.option("-v", "--verbose", is_flag=True, help="Name all that was not analysed."),
    click.option("--stats", is_flag=True, help="Counts and times after each review."),
)  # fmt: skip


def review_options(command: Command) -> Command:
    """All options of the contract's second table; the command gets them as one :class:`Options` first."""

    @functools.wraps(command)
    def collect(**values: Any) -> Any:
        if not values.pop("no_config"):
            values.update(configured(click.get_current_context(), values))
        names = {name for name in Options.__dataclass_fields__ if name in values}
        options = Options(**{name: values.pop(name) for name in names})
        if options.tree is not None and options.no_tree:
            raise click.UsageError("--tree and --no-tree exclude each other")
        return command(options, **values)

    decorated: Any = collect
    for option in reversed(_SHARED):
        decorated = option(decorated)
    return tree_options(decorated)  # type: ignore[no-any-return]
