"""What is known around the files of a series, from the tree's index and from the series' own files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchlint.callgraph import FileScan, TreeIndex
from patchlint.checkers.series import Symbol
from patchlint.dataflow import Callees
from patchlint.review.functions import Site
from patchlint.review.timeline import State
from patchlint.ruleset import Models

_MOST_FILES = 60
"""Files outside the series that are read to check the callers of one changed function."""


class TreeKnowledge:
    """:class:`patchlint.review.examine.Knowledge` and :class:`patchlint.checkers.series.Surroundings` of one series.

    Without a tree the index knows only the files that the states hold.
    """

    def __init__(self, index: TreeIndex, models: Models, paths: frozenset[str]) -> None:
        self._tree = index.with_overlay(dict.fromkeys(paths))
        self._models = models

    def callees(self, path: str, state: State) -> Callees:
        """What the names that ``path`` mentions do in this state."""
        return self._models

    def callers(self, name: str) -> Iterator[tuple[str, str]]:
        """(path, function) of each call of a function outside the series' files."""
        seen: set[tuple[str, str]] = set()
        for site in self._tree.callers(name):
            if site.function and (place := (site.file, site.function)) not in seen:
                seen.add(place)
                yield place

    def held_by_callers(self, site: Site, state: State) -> frozenset[str]:
        """Families that every known caller holds around its call."""
        return frozenset()

    def callback(self, site: Site, state: State) -> str:
        """The field of an operations table of the same file in which the function is stored."""
        for table in site.view.unit.tables:
            for entry in table.entries:
                if entry.function == site.head.name:
                    return entry.field
        return ""

    # ----------------------------------------------------------- surroundings

    def defines(self, symbol: Symbol) -> bool:
        """Whether a file outside the series defines the symbol; a mere mention of a word counts as well."""
        if symbol.kind in ("function", "macro"):
            return bool(self._tree.definitions(symbol.name))
        return bool(self._tree.files_with_word(symbol.name))

    def callers_of(self, symbol: Symbol) -> Sequence[FileScan]:
        """Files outside the series that call the function and have none of that name of their own."""
        paths = dict.fromkeys(site.file for site in self._tree.callers(symbol.name, limit=_MOST_FILES))
        scans = (self._tree.scan(path) for path in paths)
        return [scan for scan in scans if scan is not None and not scan.defined(symbol.name)]
