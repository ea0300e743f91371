"""Settings from config files for options that the command line leaves alone; ``patchlint config`` shows them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from patchlint.driver import Options
from patchlint.host.config import KEYS, Config, Value, read_config
from patchlint.host.tree import find_repository
from patchlint.model import PatchlintError

_FLAGS_GIVEN = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)


def configured(ctx: click.Context, values: Mapping[str, Any]) -> dict[str, Value]:
    """Values from the config files for the options of ``ctx`` that the command line does not give.

    The tree's file is that of ``--tree``, or of the work tree one stands in.
    """
    found = read_config(config_folder(values.get("tree"))).values
    return {name: value for name, value in found.items() if ctx.get_parameter_source(name) not in _FLAGS_GIVEN}


def configured_options(tree: Path | None) -> Options:
    """Default options changed by the config files, for commands that have no reviewing options of their own."""
    return Options(tree=tree, jobs=os.cpu_count() or 1, **read_config(config_folder(tree)).values)


def config_folder(tree: Path | None) -> Path | None:
    """The folder whose ``.patchlint.toml`` counts: the tree, or the top of the work tree one stands in."""
    if tree is not None:
        return tree
    try:
        place = find_repository(Path.cwd())
    except PatchlintError:
        return None
    return place.top if place is not None else None


@click.command()
@click.option("--tree", type=click.Path(path_type=Path), metavar="DIR", help="The tree whose settings are asked for.")
def config(tree: Path | None) -> None:
    """Show the settings that config files make, and which file makes each."""
    found = read_config(config_folder(tree))
    for line in _lines(found):
        click.echo(line)


def _lines(found: Config) -> Iterator[str]:
    for name, key in KEYS.items():
        if key.option in found.values:
            yield f"{name} = {_shown(found.values[key.option])}  # {found.origin[key.option]}"
    if not found.values:
        yield f"# no settings; a .patchlint.toml may hold: {', '.join(KEYS)}"


def _shown(value: Value) -> str:
    if isinstance(value, tuple):
        pairs = value and isinstance(value[0], tuple)
        inside = ", ".join(f"{each[0]} = {_shown(each[1])}" if pairs else _shown(each) for each in value)
        return f"{{{inside}}}" if pairs else f"[{inside}]"
    return f'"{value}"'
