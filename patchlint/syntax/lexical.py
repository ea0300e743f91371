"""The lexical scan: one pass that tells code from comments, strings and directives.

The result is a *shadow* of the source: same length, same newlines, with comments, the contents of
strings and the preprocessor directives blanked, so that later patterns cannot be fooled by them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

BLANK = bytes(10 if byte == 10 else 32 for byte in range(256))
"""Translation table: every byte but the newline becomes a space."""

_COMMENT = rb"\*[\s\S]*?(?:\*/|\Z)"
_LINE_COMMENT = rb"/(?:[^\n\\]|\\[\s\S])*+"
_STRING = rb'"(?:[^"\\\n]|\\[\s\S])*+"?'
_TOKEN = re.compile(
    rb"/(?:" + _COMMENT + rb"|" + _LINE_COMMENT + rb")"
    rb"|" + _STRING + rb"|'(?:[^'\\\n]|\\.)*+'?"
    rb"|\#(?:[^\n\\/\"']|\\[\s\S]|/" + _COMMENT + rb"|/" + _LINE_COMMENT + rb"|/|" + _STRING + rb"|')*+"
    rb"|\\(?=\r?\n)|[\x00\x0b\x0c\r]"
)
_DIRECTIVE = re.compile(rb"#\s*+([A-Za-z_]*+)")
_NOISE = re.compile(rb"/(?:" + _COMMENT + rb"|" + _LINE_COMMENT + rb")|(" + _STRING + rb")|\\\r?\n")
_QUOTE, _TICK, _HASH = b"\"'#"


class Directive(NamedTuple):
    """A preprocessor directive: its extent, its word and the rest of its logical line (comments gone)."""

    start: int
    end: int
    word: str
    rest: str


class Lexed(NamedTuple):
    """Shadow text and directives of one source."""

    shadow: bytes
    directives: tuple[Directive, ...]


def lex(source: bytes) -> Lexed:
    """Blank what is no code.  Length and newline positions are those of ``source``, whatever its bytes."""
    parts: list[bytes] = []
    directives: list[Directive] = []
    at = 0
    for match in _TOKEN.finditer(source):
        start, end = match.span()
        parts.append(source[at:start])
        first = source[start]
        if first in (_QUOTE, _TICK):
            parts.append(_blank_literal(source[start:end]))
        else:
            parts.append(source[start:end].translate(BLANK))
            if first == _HASH:
                directives.append(_directive(source, start, end))
        at = end
    parts.append(source[at:])
    return Lexed(b"".join(parts), tuple(directives))


def _blank_literal(text: bytes) -> bytes:
    """Blank a literal's contents; one that runs over lines is closed where its first line ends."""
    if b"\n" in text:
        head, rest = text[: text.index(b"\n")], text[text.index(b"\n") :]
        return _blank_literal(head[:-1] + text[:1]) + rest.translate(BLANK)
    if len(text) < 2 or text[-1] != text[0]:
        return text.translate(BLANK)
    filler = b" " if text[0] == _QUOTE else b"0"
    return text[:1] + filler * (len(text) - 2) + text[:1]


def _directive(source: bytes, start: int, end: int) -> Directive:
    match = _DIRECTIVE.match(source, start, end)
    assert match is not None
    return Directive(start, end, match[1].decode("latin-1"), clean(source[match.end() : end]))


def clean(text: bytes) -> str:
    """The text of a directive's argument: comments and line continuations are gone, strings stay."""
    plain = _NOISE.sub(lambda match: match[1] or b" ", text)
    return plain.decode("utf-8", "replace").strip()
