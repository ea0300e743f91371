"""``keys``: the table of a tree's static keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from patchlint.callgraph import static_keys
from patchlint.checkers.static_key_pairs import told
from patchlint.checkers.static_key_sites import KeyReader
from patchlint.checkers.static_key_table import KeyRow, key_table, told_pairs
from patchlint.checkers.tree_view import Snapshot
from patchlint.cli.options import tree_options
from patchlint.cli.progress import Bar
from patchlint.driver import Options, find_tree
from patchlint.host.index_store import open_index
from patchlint.model import PatchlintError
from patchlint.review import View


@click.command()
@tree_options
@click.option("--base", metavar="REV", help="The tree at this commit.")
@click.option("--counted", is_flag=True, help="Only keys that are incremented and decremented.")
@click.option("--brief", is_flag=True, help="One line for each key.")
@click.argument("names", nargs=-1, metavar="[KEY]...")
def keys(
    tree: Path | None, no_tree: bool, base: str | None, counted: bool, brief: bool, names: tuple[str, ...]
) -> int:
    """List the static keys of a tree: where each is changed, under which condition, and how the changes pair up."""
    found = find_tree(Options(tree=tree, no_tree=no_tree, base=base))
    if found is None:
        raise PatchlintError("this needs a kernel tree (stand in one, or --tree DIR)")
    with Bar("indexing") as bar:
        index = open_index(found, bar)
    views: dict[str, View | None] = {}

    def load(path: str) -> View | None:
        if path not in views:
            source = index.read(path)
            views[path] = None if source is None else View(path, source)
        return views[path]

    snapshot = Snapshot({}, index, load, True)
    changes = ("inc", "dec", "enable", "disable")
    wanted = set(names)
    sites = [site for site in static_keys(index) if site.what in changes and (not wanted or _base(site.key) in wanted)]
    rows = key_table(snapshot, sorted({site.file for site in sites}), KeyReader())
    shown = [row for row in rows if (row.counted or not counted) and (not wanted or _base(row.facts.key) in wanted)]
    if wanted and not shown:
        raise PatchlintError(f"{' '.join(sorted(wanted))}: no such key changes in the tree")
    for row in shown:
        for line in _lines(row, brief):
            click.echo(line)
    kinds = sum(row.counted for row in shown)
    click.echo(f"{len(shown)} keys: {kinds} counted, {len(shown) - kinds} switched")
    return 0


def _base(key: str) -> str:
    return key.split("[")[0].split(".")[0]


def _lines(row: KeyRow, brief: bool) -> Iterator[str]:
    facts = row.facts
    default = "" if not facts.definitions else ", true at first" if facts.definitions[0].default else ", false at first"
    kind = "counted" if row.counted else "switched"
    yield f"{facts.key} ({kind}{default}): {row.verdict}"
    if brief:
        return
    for site in facts.sites:
        config = f" [{', '.join(site.config)}]" if site.config else ""
        yield f"    {site.op:7} {site.path}:{site.line}: {site.function}: {told(site)}{config}"
    for inc, dec, how in told_pairs(row):
        yield f"    pair    {inc} - {dec or '(none)'}: {how}"
