"""Macros that take statements as arguments: ``DEBUG(if (x) f();)``, ``ASSERT(x, return y)``."""

from __future__ import annotations

import re
from typing import NamedTuple

from patchlint.syntax.brackets import at_depth, closing
from patchlint.syntax.lexical import BLANK


class Repaired(NamedTuple):
    """A text to try, and the offsets at which a macro became the head of a block."""

    text: bytes
    heads: frozenset[int]


_CALLED = re.compile(rb"(?<=[;{}):])\s*+([A-Za-z_]\w*+)\s*+(?=\()")
_STATEMENT = re.compile(rb"\s*+(?:(?:if|for|while|do|switch|return|goto|break|continue)\b|\{)")
_CONTROL = frozenset([b"if", b"for", b"while", b"switch", b"return", b"sizeof"])


def with_statement_arguments(body: Repaired) -> Repaired:
    """``DEBUG(if (x) f();)`` becomes a block, ``ASSERT(x, return y)`` and ``WAIT(n, if (x) break;)`` loop heads."""
    text = body.text
    out = bytearray(text)
    heads = set(body.heads)
    for match in _CALLED.finditer(text):
        start, end = match.span(1)
        opened = match.end()
        closed = closing(text, opened) - 1
        if match[1] in _CONTROL or closed >= len(text) - 1:
            continue
        comma = _statement_argument(text, opened, closed)
        if comma == opened:
            out[start:end] = text[start:end].translate(BLANK)
            out[opened], out[closed] = b"{}"
            first = at_depth(text, opened, closed, b",")[0]
            if first < closed and b";" not in text[opened:first]:
                out[first] = 59
        elif comma > opened:
            out[start:end] = (b"while" if end - start >= 5 else b"if").ljust(end - start)
            out[comma], out[closed] = b");"
            if text[comma + 1 : comma + 2] in (b" ", b"\t") and b";" in text[comma:closed].rstrip()[:-1]:
                out[comma + 1], out[closed] = b"{}"
            heads.add(start)
    return Repaired(bytes(out), frozenset(heads))


def _statement_argument(text: bytes, opened: int, closed: int) -> int:
    """Offset of the bracket or comma before an argument that is a statement, -1 when none is."""
    at = opened
    for following in at_depth(text, opened, closed, b","):
        argument = text[at + 1 : following]
        if _STATEMENT.match(argument) or b";" in argument:
            return at
        at = following
    return -1
