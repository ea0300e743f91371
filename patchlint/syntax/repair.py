"""A second look at bodies that the grammar rejects: juxtapositions that only the preprocessor can undo.

These edits guess, so they are tried only after a parse has failed, and kept only where they help.
Like the pre-pass they keep the length and all newlines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from patchlint.syntax.arguments import Repaired, with_statement_arguments
from patchlint.syntax.brackets import ARGS, at_depth, closing
from patchlint.syntax.dialect import Dialect
from patchlint.syntax.lexical import BLANK
from patchlint.syntax.rewrite import identifier

MAX_TEXT = 32768
"""Bytes of the longest text that is repaired."""
ROUNDS = 2
"""Times that all edits are tried: one may uncover what another can read."""

Edit = Callable[[re.Match[bytes]], bytes]


def repair(text: bytes, dialect: Dialect, first_error: Callable[[bytes], int]) -> Repaired | None:
    """Edit a text until it can be read; None when that does not succeed.

    ``first_error`` tells the offset of a text's first error, -1 for none.  An edit is kept where it moves that on.
    """
    if len(text) > MAX_TEXT:
        return None
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
    return (*_BY_PATTERN, _Change(_plain_asm), words, _Change(_with_fields_as_values), with_statement_arguments)


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


def _underscore(match: re.Match[bytes]) -> bytes:
    return b"_" * len(match[0])


_UPPER = rb"[A-Z_][A-Z0-9_]*+\b"

_EDITS: tuple[tuple[re.Pattern[bytes], Edit], ...] = (
    # f(802_3): a number that becomes part of a name
    (re.compile(rb"(?<![\w.])(?!0[xXbB])\d(?=\d*+[A-Za-z_])(?!\d*+[uUlL]++\b)(?!\d*+[eE][-+]?\d)"), _underscore),
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
    # 16 KB - 1;   unsigned char MEMTYPE *p;   u32 : 30;
    (re.compile(rb"\b\d++\s++(" + _UPPER + rb")"), _blank(1)),
    (re.compile(rb"\b(?:char|int|long|short|void|struct\s++\w++)\s++(" + _UPPER + rb")(?=\s*+\*)"), _blank(1)),
    (re.compile(rb"\b(?:char|int|long|short|void|struct\s++\w++)\s++(__\w++)(?=\s++[\w*])"), _blank(1)),
    (re.compile(rb"[;{]\s*+\w++(?:\s++\w++)?\s*+(:\s*+\d++)(?=\s*+;)"), _blank(1)),
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
_CONSTRAINT = re.compile(rb"(?<=[:,\]])\s*+([A-Za-z_]\w++(?:\s*+" + ARGS + rb")?)(?=\s*+\()")
_LABELS = 4
"""The section of an asm statement that holds labels, counted from its template (0)."""


def _plain_asm(text: bytes) -> bytes:
    """Leave of an asm statement its operands and labels: macros make up templates and constraint lists."""
    out = bytearray(text)
    for match in _ASM.finditer(text):
        end = closing(text, match.end()) - 1
        colons = at_depth(text, match.end(), end, b":")
        template = text[match.end() + 1 : colons[0]]
        if len(template) >= 2:
            out[match.end() + 1 : colons[0]] = b'""' + template[2:].translate(BLANK)
        for start, stop in list(pairwise(colons))[: _LABELS - 1]:
            operands = _CONSTRAINT.sub(_quoted, text[start:stop])
            operands = _ELEMENT.sub(lambda found: found[0].translate(BLANK), operands)
            out[start:stop] = re.sub(rb",(?=\s*+\Z)", b" ", operands)
    return bytes(out)


def _quoted(match: re.Match[bytes]) -> bytes:
    """Make a constraint that a macro writes an empty string."""
    start = match.start(1) - match.start()
    return match[0][:start] + b'""' + match[0][start + 2 :].translate(BLANK)


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
