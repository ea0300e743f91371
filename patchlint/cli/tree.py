"""``index``, ``callers``, ``callees``: questions to the tree."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from patchlint.callgraph import CallSite, TreeIndex, table_entries
from patchlint.cli.options import tree_options
from patchlint.cli.progress import Bar
from patchlint.driver import Options, find_tree
from patchlint.host.index_store import index_path, open_index
from patchlint.host.tree import Tree
from patchlint.model import PatchlintError

_BASE = click.option("--base", metavar="REV", help="The tree at this commit.")
_FILE = click.option("--file", "file", metavar="PATH", help="Where the function meant is defined.")


@click.command()
@tree_options
@_BASE
@click.option("--jobs", type=click.IntRange(1, 256), default=None, metavar="N", help="Processes to build with.")
def index(tree: Path | None, no_tree: bool, base: str | None, jobs: int | None) -> None:
    """Build or refresh the tree's symbol and call index, and say where it is."""
    found = _tree(tree, no_tree, base)
    started = time.perf_counter()
    with Bar("indexing") as bar:
        open_index(found, bar, jobs or 0)
    path = index_path(found)
    size = path.stat().st_size / 1e6
    click.echo(f"{path}: {size:.0f} MB, up to date after {time.perf_counter() - started:.1f} s")


@click.command()
@tree_options
@_BASE
@_FILE
@click.argument("function", metavar="FUNC")
def callers(tree: Path | None, no_tree: bool, base: str | None, file: str | None, function: str) -> int:
    """List the call sites of FUNC, one line each: file:line: function; then the operation tables that hold it."""
    found = _index(tree, no_tree, base)
    status = _list(found, function, found.callers(function, file), lambda site: site.function or "(file level)")
    for entry in table_entries(found, function):
        click.echo(f"{entry.file}:{entry.line}: .{entry.field} of struct {entry.struct or '?'}")
    return status


@click.command()
@tree_options
@_BASE
@_FILE
@click.argument("function", metavar="FUNC")
def callees(tree: Path | None, no_tree: bool, base: str | None, file: str | None, function: str) -> int:
    """List what FUNC calls, one line for each call: file:line: function."""
    found = _index(tree, no_tree, base)
    return _list(found, function, found.callees(function, file), lambda site: site.name)


def _list(known: TreeIndex, function: str, sites: Iterable[CallSite], label: Callable[[CallSite], str]) -> int:
    lines = [f"{site.file}:{site.line}: {label(site)}" for site in sites]
    if not lines and not known.files_with_word(function):
        raise PatchlintError(f"{function}: not in the tree")
    for line in lines:
        click.echo(line)
    return 0


def _index(tree: Path | None, no_tree: bool, base: str | None) -> TreeIndex:
    with Bar("indexing") as bar:
        return open_index(_tree(tree, no_tree, base), bar)


def _tree(tree: Path | None, no_tree: bool, base: str | None) -> Tree:
    found = find_tree(Options(tree=tree, no_tree=no_tree, base=base))
    if found is None:
        raise PatchlintError("this needs a kernel tree (stand in one, or --tree DIR)")
    return found
