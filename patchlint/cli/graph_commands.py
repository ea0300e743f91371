"""``graph``: the calls around a function, drawn."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import click

from patchlint.callgraph.drawing import to_dot, to_svg
from patchlint.callgraph.graph import Reach, neighbourhood
from patchlint.cli.options import tree_options
from patchlint.cli.progress import Bar
from patchlint.driver import Options, find_tree
from patchlint.host.index_store import open_index
from patchlint.model import PatchlintError

_LEVELS = click.IntRange(0, 20)


@click.command()
@tree_options
@click.option("--base", metavar="REV", help="The tree at this commit.")
@click.option("--file", "file", metavar="PATH", help="Where the function meant is defined.")
@click.option("--up", type=_LEVELS, default=1, show_default=True, metavar="N", help="Levels of callers.")
@click.option("--down", type=_LEVELS, default=1, show_default=True, metavar="N", help="Levels of callees.")
@click.option("--most", type=click.IntRange(1, 5000), default=150, show_default=True, metavar="N", help="Bound.")
@click.option("--format", "fmt", type=click.Choice(["dot", "svg"]), help="Default: as FILE ends, else dot.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Draw to FILE.")
@click.argument("function", metavar="FUNC")
def graph(
    tree: Path | None, no_tree: bool, base: str | None, file: str | None, up: int, down: int, most: int,
    fmt: str | None, output: Path | None, function: str,
) -> None:  # fmt: skip
    """Draw the callers and callees of FUNC, as DOT for Graphviz or as an SVG picture."""
    found = find_tree(Options(tree=tree, no_tree=no_tree, base=base))
    if found is None:
        raise PatchlintError("this needs a kernel tree (stand in one, or --tree DIR)")
    with Bar("indexing") as bar:
        index = open_index(found, bar)
    drawn = neighbourhood(index, function, file, Reach(up, down, most))
    if not drawn:
        raise PatchlintError(f"{function}: no definition in the tree" + (f" as seen from {file}" if file else ""))
    svg = (fmt or ("svg" if output is not None and output.suffix == ".svg" else "dot")) == "svg"
    text = to_svg(drawn) if svg else to_dot(drawn)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PatchlintError(f"{output}: {os.strerror(error.errno or errno.EIO)}") from error
