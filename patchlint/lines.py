"""Offsets of a source text as lines and columns."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import accumulate


class LineTable:
    """Offsets to lines and columns of one source text."""

    __slots__ = ("_starts",)

    def __init__(self, source: bytes) -> None:
        lengths = map((1).__add__, map(len, source.split(b"\n")))
        self._starts = array("I", accumulate(lengths, initial=0))  # of each line, and where one more would start
        self._starts.pop()

    def line(self, pos: int) -> int:
        """Line of a byte offset, from 1."""
        return bisect_right(self._starts, pos)

    def column(self, pos: int) -> int:
        """Column of a byte offset in bytes, from 1."""
        return pos - self._starts[bisect_right(self._starts, pos) - 1] + 1

    def start(self, line: int) -> int:
        """Byte offset at which a line (from 1) starts."""
        return self._starts[line - 1]
