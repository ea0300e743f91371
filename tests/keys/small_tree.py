"""A tree of a few files in memory, and states of it, for the rules that span functions."""

from __future__ import annotations

from collections.abc import Mapping

from patchlint.callgraph import TreeIndex, tokens
from patchlint.checkers.static_key_sites import KeyReader
from patchlint.checkers.tree_rules import check_tree
from patchlint.checkers.tree_view import Snapshot
from patchlint.host.rulefiles import load_ruleset
from patchlint.model import Finding
from patchlint.review import View

RULESET = load_ruleset()


class Files:
    """A store of the index that holds a dictionary."""

    state = ""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = {path: text.encode() for path, text in files.items()}

    def files_with(self, token: bytes) -> tuple[str, ...]:
        return tuple(sorted(path for path, source in self.files.items() if token in tokens(source)))

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def has(self, path: str) -> bool:
        return path in self.files

    def remembered(self, kind: str, key: bytes) -> str | None:
        return None

    def remember(self, kind: str, key: bytes, value: str) -> None:
        return None


def snapshot(tree: Mapping[str, str], touched: Mapping[str, str]) -> Snapshot:
    """The tree with ``touched`` laid over it; those are the files of the series."""
    index = TreeIndex(Files(tree)).with_overlay({path: text.encode() for path, text in touched.items()})
    state = {path: (View(path, text.encode()),) for path, text in touched.items()}
    views: dict[str, View | None] = {}

    def load(path: str) -> View | None:
        if path not in views:
            views[path] = View(path, tree[path].encode()) if path in tree else None
        return views[path]

    return Snapshot(state, index, load, bool(tree))


def changed(tree: Mapping[str, str], after: Mapping[str, str]) -> list[Finding]:
    """What a series brings that turns files of ``tree`` into ``after``; nothing of low confidence."""
    before = {path: tree[path] for path in after if path in tree}
    found = check_tree(snapshot(tree, before), snapshot(tree, after), RULESET, KeyReader())
    return [finding for finding in found if finding.confidence != "low"]


def standing_in(tree: Mapping[str, str]) -> list[Finding]:
    """What is found in all files of ``tree`` as they are."""
    found = check_tree(None, snapshot(tree, tree), RULESET, KeyReader())
    return [finding for finding in found if finding.confidence != "low"]
