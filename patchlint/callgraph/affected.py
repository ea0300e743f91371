"""Which functions of unchanged files an overlay concerns, because they call what it changes."""

from __future__ import annotations

from collections.abc import Iterable

from patchlint.callgraph.index import TreeIndex
from patchlint.callgraph.scan import FileScan

_MOST_FILES = 40
_MOST_NAMES = 60
"""Bounds of the search; what lies beyond is taken to be unchanged."""


def changed_names(index: TreeIndex, plain: TreeIndex) -> frozenset[str]:
    """Functions and macros that other files can use and whose text differs between the overlay and the tree."""
    found: set[str] = set()
    for path in index.overlay:
        before, after = _shared(plain.scan(path)), _shared(index.scan(path))
        found.update(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return frozenset(found)


def affected(index: TreeIndex, plain: TreeIndex, levels: int) -> frozenset[tuple[str, str]]:
    """(file, function) of those outside of the overlay that reach a changed name by at most ``levels`` calls."""
    found: set[tuple[str, str]] = set()
    seen: set[str] = set()
    names: Iterable[str] = changed_names(index, plain)
    for _ in range(levels):
        callers: set[str] = set()
        for name in sorted(names)[:_MOST_NAMES]:
            seen.add(name)
            for site in plain.callers(name, limit=_MOST_FILES):
                if site.function and site.file not in index.overlay:
                    found.add((site.file, site.function))
                    callers.add(site.function)
        names = callers - seen
    return frozenset(found)


def _shared(scan: FileScan | None) -> dict[str, list[bytes]]:
    """The texts of what other files can use, by name."""
    texts: dict[str, list[bytes]] = {}
    for found in scan.definitions if scan is not None else ():
        if scan is not None and (not found.static or found.file.endswith(".h")):
            texts.setdefault(found.name, []).append(scan.source[found.start : found.end])
    return texts
