"""A second look at bodies that the grammar rejects: juxtapositions that only the preprocessor can undo.

These edits guess, so they are tried only after a parse has failed, and kept only where they help.
Like the pre-pass they keep the length and all newlines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from patchlint.syntax.dialect import Dialect
from patchlint.syntax.lexical import BLANK
from patchlint.syntax.rewrite import ARGS, closing, identifier

ROUNDS = 2
"""Times that all edits are tried: one may uncover what another can read."""

Edit = Callable[[re.Match[bytes]], bytes]


class Repaired(NamedTuple):
    """A text to try, and the offsets at which a macro became the head of a block."""

    text: bytes
    heads: frozenset[int]


def repair(text: bytes, dialect: Dialect, first_error: Callable[[bytes], int]) -> Repaired | None:
    """Edit a text until it can be read; None when that does not succeed.

    ``first_error`` tells the offset of a text's first error, -1 for none.  An edit is kept where it moves that on.
    """
    best, error = Repaired(text, frozenset()), first_error(text)
    for _ in range(ROUNDS):
        before = error
        for change in _changes(dialect):
            changed = change(best)
            if changed.text == best.text:
                continue
            found = first_error(changed.text)
            if found < 0:
                return changed
            if found > error:
                best, error = changed, found
        if error == before:
            break
    return None


Change = Callable[[Repaired], Repaired]


def _changes(dialect: Dialect) -> tuple[Change, ...]:
    """All edits, cheap and sure ones first."""
    words = _Change(lambda text: _without_words(text, dialect))
    return (*_BY_PATTERN, _Change(_plain_asm), words, _Change(_with_fields_as_values), _with_statement_arguments)


class _Change:
    """An edit of the text alone."""

    __slots__ = ("edit",)

    def __init__(self, edit: Callable[[bytes], bytes]) -> None:
        self.edit = edit

    def __call__(self, body: Repaired) -> Repaired:
        return body._replace(text=self.edit(body.text))


# ------------------------------------------------------------------ edits by pattern


def _blank(group: int) -> Edit:
    """Blank one group of a match."""

    def edit(match: re.Match[bytes]) -> bytes:
        start, end = (at - match.start() for at in match.span(group))
        return match[0][:start] + match[0][start:end].translate(BLANK) + match[0][end:]

    return edit


def _put(mark: bytes, group: int) -> Edit:
    """Put a mark into the first blank of a group that is no newline."""

    def edit(match: re.Match[bytes]) -> bytes:
        start, end = (at - match.start() for at in match.span(group))
        for at in range(start, end):
            if match[0][at] in b" \t":
                return match[0][:at] + mark + match[0][at + 1 :]
        return match[0]

    return edit


def _name(group: int) -> Edit:
    """Make one group an identifier."""

    def edit(match: re.Match[bytes]) -> bytes:
        start, end = (at - match.start() for at in match.span(group))
        return match[0][:start] + identifier(match[0][start:end]) + match[0][end:]

    return edit


_UPPER = rb"[A-Z_][A-Z0-9_]*+\b"

_EDITS: tuple[tuple[re.Pattern[bytes], Edit], ...] = (
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
    (re.compile(rb"(?<=[;{}:)])\s*\n[ \t]*+[A-Z_]\w*+(\s++)(?=[\w}])"), _put(b";", 1)),
    # if WORD(x) { ... }: a macro with its own brackets
    (re.compile(rb"\b(?:if|while|switch)\s*+([A-Za-z_]\w*+)\s*+\("), _blank(1)),
    # register long r0 asm("r0") = x;
    (re.compile(rb'\w\s++((?:asm|__asm__|__asm)\s*+\(\s*+"[^"]*"\s*+\))(?=\s*+[=;,])'), _blank(1)),
)


_BY_PATTERN = tuple(_Change(partial(pattern.sub, edit)) for pattern, edit in _EDITS)

# ------------------------------------------------------------------ edits that need to count brackets

_ASM = re.compile(rb"\b(?:asm|__asm__|__asm)\b(?:\s++(?:volatile|__volatile__|__volatile|inline|goto))*+\s*+(?=\()")
_ELEMENT = re.compile(rb"(?<=[:,)\"])\s*+[A-Za-z_]\w*+(?:\s*+" + ARGS + rb")?\s*+(?=[:,)]|\Z),?")
_LABELS = 4
"""The section of an asm statement that holds labels, counted from its template (0)."""


def _plain_asm(text: bytes) -> bytes:
    """Leave of an asm statement its operands and labels: macros make up templates and constraint lists."""
    out = bytearray(text)
    for match in _ASM.finditer(text):
        end = closing(text, match.end()) - 1
        colons = _at_depth(text, match.end(), end, b":")
        template = text[match.end() + 1 : colons[0]]
        if len(template) >= 2:
            out[match.end() + 1 : colons[0]] = b'""' + template[2:].translate(BLANK)
        for start, stop in list(pairwise(colons))[: _LABELS - 1]:
            operands = _ELEMENT.sub(lambda found: found[0].translate(BLANK), text[start:stop])
            out[start:stop] = re.sub(rb",(?=\s*+\Z)", b" ", operands)
    return bytes(out)


def _at_depth(text: bytes, opened: int, end: int, mark: bytes) -> list[int]:
    """Offsets of a mark directly inside the bracket at ``opened``, and ``end``."""
    found: list[int] = []
    depth = 0
    for at in range(opened, end):
        byte = text[at]
        depth += (byte in b"([{") - (byte in b")]}")
        if depth == 1 and byte == mark[0]:
            found.append(at)
    return [*found, end]


def _without_words(text: bytes, dialect: Dialect) -> bytes:
    """Blank attribute words that the pre-pass looks for in heads only."""
    words = re.compile(rb"\b[A-Za-z]\w++\b(?!\s*+\()")

    def edit(match: re.Match[bytes]) -> bytes:
        return match[0].translate(BLANK) if match[0].decode("latin-1") in dialect.attributes else match[0]

    return words.sub(edit, text)


_DESIGNATED = re.compile(rb"\b[A-Z]\w*+\s*+(?=\([^()]*?,\s*+\.\w)")
_FIELD = re.compile(rb"[(,]\s*+(\.)(?=\w++(?:\.\w++)*+\s*+=)")


def _with_fields_as_values(text: bytes) -> bytes:
    """``OPTS(type, name, .field = x)``: the arguments become assignments."""
    out = bytearray(text)
    for match in _DESIGNATED.finditer(text):
        end = closing(text, match.end())
        for field in _FIELD.finditer(text, match.end(), end):
            out[field.start(1)] = 32
    return bytes(out)


_CALLED = re.compile(rb"(?<=[;{}):])\s*+([A-Za-z_]\w*+)\s*+(?=\()")
_STATEMENT = re.compile(rb"\s*+(?:(?:if|for|while|do|switch|return|goto|break|continue)\b|\{)")
_CONTROL = frozenset([b"if", b"for", b"while", b"switch", b"return", b"sizeof"])


def _with_statement_arguments(body: Repaired) -> Repaired:
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
    for following in _at_depth(text, opened, closed, b","):
        argument = text[at + 1 : following]
        if _STATEMENT.match(argument) or b";" in argument:
            return at
        at = following
    return -1
