"""What rules that span functions are given: one state of the tree, as far as it can be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from patchlint.callgraph import CallSite, TableEntry, TreeIndex, table_entries
from patchlint.syntax import Unit


class Piece(Protocol):
    """One file, or the part of it that a hunk shows."""

    @property
    def path(self) -> str:
        """Path in the tree."""

    @property
    def unit(self) -> Unit:
        """The parsed text."""

    def file_line(self, offset: int) -> int:
        """Line of the real file at a byte offset."""


class TreeView(Protocol):
    """One state of the tree: the files of the series and, where there is a tree, all others."""

    @property
    def touched(self) -> Sequence[str]:
        """Paths of the files that the series changes."""

    @property
    def whole(self) -> bool:
        """Whether there is a tree behind the files of the series, so that what is not found does not exist."""

    def pieces(self, path: str) -> Sequence[Piece]:
        """The file at ``path``: one piece, or several where only hunks are known; () when absent."""

    def source(self, path: str) -> bytes | None:
        """The text of any file, a Makefile too; None when absent."""

    def files_with(self, word: str) -> Sequence[str]:
        """Paths of all files whose code holds the identifier ``word``."""

    def callers(self, function: str, path: str) -> Sequence[CallSite]:
        """Call sites of ``function`` as defined in ``path``."""

    def entries(self, function: str, path: str) -> Sequence[TableEntry]:
        """Fields of operation tables in ``path`` that hold ``function``."""

    def exported(self, name: str) -> bool:
        """Whether some file exports the symbol to modules."""

    def bodies(self, name: str) -> Sequence[tuple[str, bytes]]:
        """Path and text of every function called ``name``."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A :class:`TreeView` of pieces in memory and an index of the tree with these laid over it."""

    state: Mapping[str, Sequence[Piece]]
    index: TreeIndex
    load: Callable[[str], Piece | None]
    """Reads and parses a file of the tree that the series does not touch; expected to remember."""
    whole: bool
    read: Callable[[str], bytes | None] = field(default=lambda _: None)
    """Reads a file of the tree that the index may not know: what is no C."""

    @property
    def touched(self) -> Sequence[str]:
        """Paths of the files in memory."""
        return tuple(self.state)

    def pieces(self, path: str) -> Sequence[Piece]:
        """The file in memory, else that of the tree."""
        if path in self.state:
            return self.state[path]
        loaded = self.load(path) if self.whole else None
        return () if loaded is None else (loaded,)

    def source(self, path: str) -> bytes | None:
        """From memory or the index, else the tree."""
        if path in self.state:
            return b"\n".join(piece.unit.source for piece in self.state[path])
        found = self.index.read(path) if self.whole else None
        return found if found is not None or path.endswith((".c", ".h")) else self.read(path)

    def files_with(self, word: str) -> Sequence[str]:
        """From the index; with no tree the files in memory."""
        if self.whole:
            return self.index.files_with_word(word)
        raw = word.encode()
        return tuple(p for p, pieces in sorted(self.state.items()) if any(raw in piece.unit.source for piece in pieces))

    def callers(self, function: str, path: str) -> Sequence[CallSite]:
        """From the index."""
        return self.index.callers(function, path)

    def entries(self, function: str, path: str) -> Sequence[TableEntry]:
        """From the index."""
        return table_entries(self.index, function, path)

    def exported(self, name: str) -> bool:
        """From the index."""
        return self.index.exported(name)

    def bodies(self, name: str) -> Sequence[tuple[str, bytes]]:
        """From the index."""
        return tuple(
            (found.file, scan.source[found.start : found.end])
            for found in self.index.definitions(name)
            if (scan := self.index.scan(found.file)) is not None
        )


def all_pieces(view: TreeView, paths: Sequence[str]) -> Iterator[Piece]:
    """The pieces of ``paths``, in order."""
    for path in paths:
        yield from view.pieces(path)
