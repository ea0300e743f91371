"""A second look at bodies that the grammar rejects: juxtapositions that only the preprocessor can undo.

These edits guess, so they are tried only after a parse has failed, and kept only where they help.
Like the pre-pass they keep the length and all newlines.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from patchlint.syntax.lexical import BLANK
from patchlint.syntax.rewrite import ARGS, identifier

_UPPER = rb"[A-Z_][A-Z0-9_]*+\b"


def _blank(group: int) -> Callable[[re.Match[bytes]], bytes]:
    """Blank one group of a match."""

    def edit(match: re.Match[bytes]) -> bytes:
        start, end = (at - match.start() for at in match.span(group))
        return match[0][:start] + match[0][start:end].translate(BLANK) + match[0][end:]

    return edit


def _put(mark: bytes, group: int) -> Callable[[re.Match[bytes]], bytes]:
    """Put a mark into the first blank of a group that is no newline."""

    def edit(match: re.Match[bytes]) -> bytes:
        start, end = (at - match.start() for at in match.span(group))
        for at in range(start, end):
            if match[0][at] in b" \t":
                return match[0][:at] + mark + match[0][at + 1 :]
        return match[0]

    return edit


def _name(group: int) -> Callable[[re.Match[bytes]], bytes]:
    """Make one group an identifier."""

    def edit(match: re.Match[bytes]) -> bytes:
        start, end = (at - match.start() for at in match.span(group))
        return match[0][:start] + identifier(match[0][start:end]) + match[0][end:]

    return edit


_EDITS: tuple[tuple[re.Pattern[bytes], Callable[[re.Match[bytes]], bytes]], ...] = (
    # struct NAME(x, y): a tag made by a macro
    (re.compile(rb"\b(?:struct|union|enum)\s++(\w++\s*+" + ARGS + rb")"), _name(1)),
    (re.compile(rb"(?<!sizeof)[(,]\s*+((?:struct|union|enum)\s++\w++)(?=\s*+[,)])"), _name(1)),
    # "%" __stringify(X) "s", and the call before the string
    (re.compile(rb'"\s*+\w++\s*+(' + ARGS + rb")"), _blank(1)),
    (re.compile(rb"[(,=?:]\s*+\w++(" + ARGS + rb')(?=\s*+")'), _blank(1)),
    # printk(KERN_ERR PREFIX "text"), printk(KERN_ERR pr_fmt("text"), ...)
    (re.compile(rb"[(,=]\s*+(" + _UPPER + rb"(?:\s++" + _UPPER + rb")*)(?=\s++[\"A-Za-z_])"), _blank(1)),
    # { A OPS_B OPS_C &d }: elements that bring their commas along
    (re.compile(rb"[\w}\"]\s++(" + _UPPER + rb"(?:\s++" + _UPPER + rb")*)(?=\s*+[&}])"), _blank(1)),
    # x = timeout SCALE;   f(addr EXTRA(imm), x)
    (re.compile(rb"\w\s++(" + _UPPER + rb"(?:\s*+" + ARGS + rb")?)(?=\s*+[;,)])"), _blank(1)),
    # { NAME("x") KIND, 1 }
    (re.compile(rb"[{,]\s*+\w++" + ARGS + rb"(\s++)(?=\w)"), _put(b",", 1)),
    # f(a, b, ) and f(, a)
    (re.compile(rb"(,)\s*+\)"), _blank(1)),
    (re.compile(rb"\(\s*+(,)"), _blank(1)),
    # a macro alone on its line
    (re.compile(rb"(?<=[;{}:])\s*+\n[ \t]*+[A-Z_]\w*+(\s++)(?=[\w}])"), _put(b";", 1)),
    # if WORD(x) { ... }: a macro with its own brackets
    (re.compile(rb"\b(?:if|while|switch)\s*+([A-Za-z_]\w*+)\s*+\("), _blank(1)),
)


def repairs(text: bytes) -> tuple[bytes, ...]:
    """Texts to try instead of one that does not parse, in order: each repair alone, then all together."""
    found: list[bytes] = []
    together = text
    for pattern, edit in _EDITS:
        alone = pattern.sub(edit, text)
        if alone != text:
            found.append(alone)
            together = pattern.sub(edit, together)
    if len(found) > 1:
        found.append(together)
    return tuple(found)
