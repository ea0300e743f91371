"""What is known around the files of a series, from the tree's index and from the series' own files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from patchlint.callgraph import Contexts, FileScan, TreeCallees, TreeIndex
from patchlint.checkers import FileFacts
from patchlint.checkers.series import Symbol
from patchlint.checkers.static_key_sites import KeyReader
from patchlint.checkers.tree_view import Snapshot
from patchlint.dataflow import Callees
from patchlint.review.functions import Site
from patchlint.review.neighbours import Neighbours
from patchlint.review.timeline import State, View, Views
from patchlint.ruleset import Ruleset

_MOST_FILES = 60
"""Files outside the series that are read to check the callers of one changed function."""


class _Moment(NamedTuple):
    """One state of the series' files with what follows from it."""

    state: State
    callees: TreeCallees
    contexts: Contexts


class TreeKnowledge:
    """All that a review asks about callees, callers and other files, state by state.

    Without a tree (``read`` is None) it knows only the files that the states hold.
    """

    def __init__(
        self,
        index: TreeIndex,
        ruleset: Ruleset,
        paths: frozenset[str],
        read: Callable[[str], bytes | None] | None,
    ) -> None:
        self._paths = paths
        self._read = read
        self._views = Views()
        self.keys = KeyReader()
        """What was read of static keys, for all states."""
        self._index = index
        self._neighbours = Neighbours(index)
        self._outside = index.with_overlay(dict.fromkeys(paths))
        base = TreeCallees(ruleset.models, index, ruleset.digest)
        self._base = _Moment({}, base, Contexts(base))
        self._states: dict[int, _Moment] = {}

    # -------------------------------------------------------------- in a state

    def callees(self, path: str, state: State) -> Callees:
        """What the names that ``path`` mentions do in this state."""
        return self._within(state).callees.within(path)

    def snapshot(self, state: State) -> Snapshot:
        """The whole tree in this state, for rules that span functions."""
        index = self._within(state).callees.index
        if self._read is None:
            return Snapshot(state, index, self.load, False)
        return Snapshot(state, index, self.load, True, self._read)

    def _within(self, state: State) -> _Moment:
        """What is known in this state, worked out once: states are told apart by identity and kept alive here."""
        known = self._states.get(id(state))
        if known is None and not self._paths:
            self._states.clear()  # files on their own are asked about one after the other
            if self._is_tree(state):
                known = self._states[id(state)] = self._base._replace(state=state)
        if known is None:
            files: dict[str, bytes | None] = dict.fromkeys(self._paths)
            files.update({path: b"\n".join(view.source for view in group) for path, group in state.items()})
            callees = self._base.callees.with_overlay(files)
            known = self._states[id(state)] = _Moment(state, callees, Contexts(callees))
        return known

    def _is_tree(self, state: State) -> bool:
        """Whether the files of the state stand in the tree as they are: then one memory serves for all."""
        return all(len(group) == 1 and group[0].source == self._index.read(path) for path, group in state.items())

    def held_by_callers(self, site: Site, state: State) -> frozenset[str]:
        """Families that every known caller holds around its call."""
        return self._within(state).contexts.held(site.head.name, site.view.path)

    def facts(self, site: Site) -> FileFacts:
        """What RCU protects, as the file of the function and those beside it show."""
        return self._neighbours.facts(site.view.path, site.view.source)

    def callback(self, site: Site, state: State) -> str:
        """The field of an operations table of the same file in which the function is stored."""
        name = site.head.name
        fields = (
            entry.field for table in site.view.unit.tables for entry in table.entries if entry.function == name
        )
        return next(fields, "")

    # -------------------------------------------------- outside of the series

    def load(self, path: str) -> View | None:
        """A file of the tree that the series does not touch."""
        source = self._read(path) if self._read is not None else None
        return None if source is None else self._views.view(path, source)

    def callers(self, name: str) -> Iterator[tuple[str, str]]:
        """(path, function) of each call of a function outside the series' files."""
        places = ((site.file, site.function) for site in self._outside.callers(name) if site.function)
        yield from dict.fromkeys(places)

    def defines(self, symbol: Symbol) -> bool:
        """Whether a file outside the series defines the symbol; a mere mention of a word counts as well."""
        if symbol.kind in ("function", "macro"):
            return bool(self._outside.definitions(symbol.name))
        return bool(self._outside.files_with_word(symbol.name))

    def callers_of(self, symbol: Symbol) -> Sequence[FileScan]:
        """Files outside the series that call the function and have none of that name of their own."""
        paths = dict.fromkeys(site.file for site in self._outside.callers(symbol.name, limit=_MOST_FILES))
        scans = (self._outside.scan(path) for path in paths)
        return [scan for scan in scans if scan is not None and not scan.defined(symbol.name)]
