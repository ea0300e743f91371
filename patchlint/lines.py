"""Offsets of a source text as lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

_NEWLINE: Final = re.compile(rb"\n")


class LineTable:
    """Offsets to lines and columns of one source text."""

    __slots__ = ("_starts",)

    def __init__(self, source: bytes) -> None:
        self._starts = [0, *[newline.end() for newline in _NEWLINE.finditer(source)]]

    def line(self, pos: int) -> int:
        """Line of a byte offset, from 1."""
        return bisect_right(self._starts, pos)

    def column(self, pos: int) -> int:
        """Column of a byte offset in bytes, from 1."""
        return pos - self._starts[bisect_right(self._starts, pos) - 1] + 1

    def start(self, line: int) -> int:
        """Byte offset at which a line (from 1) starts."""
        return self._starts[line - 1]
