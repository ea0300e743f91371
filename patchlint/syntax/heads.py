"""Function heads, read from text: name, parameters, return type, annotations.

Heads are full of words that only the preprocessor knows, so they are not left to the grammar; the body
is parsed behind a head of our own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from patchlint.ir import Param
from patchlint.syntax.brackets import ARGS, closing
from patchlint.syntax.dialect import Dialect, HeadMacro
from patchlint.syntax.rewrite import Attribute


class HeadText(NamedTuple):
    """What the text before a function's body says.  ``start`` is where it begins once stray macros are peeled off."""

    name: str
    start: int
    name_pos: int
    params: str
    row: HeadMacro | None
    macro: str
    """The word of a macro that stands for the head (``SYSCALL_DEFINE3``), "" for an ordinary head."""
    returns: str
    static: bool
    inline: bool
    annotations: tuple[Attribute, ...]
    peeled: tuple[tuple[int, int], ...]
    """Extents of file-level macros without ``;`` that stood before the head."""


class _Part(NamedTuple):
    """A round bracket at the outermost level and the word before it ("" after another bracket)."""

    word: str
    word_pos: int
    start: int
    end: int


MAX_HEAD = 8192
"""Bytes of the longest head."""

_STORAGE = frozenset(
    ["static", "extern", "inline", "const", "volatile", "register", "__inline", "__inline__", "__always_inline"]
)
_TAGS = frozenset({"struct", "union", "enum"})
_SPEC = rb"(?:(?:static|extern|inline|const|volatile|unsigned|signed|long|short)\s++)*"
_PLAIN = re.compile(
    rb"\s*(" + _SPEC + rb"(?:(?:struct|union|enum)\s++)?\w++(?:\s++const\b)?[\s*]+?)"
    rb"([A-Za-z_]\w*+)\s*(" + ARGS + rb")\s*\Z"
)
_WORD = re.compile(rb"[A-Za-z_]\w*+")
_CALL = re.compile(rb"(?:([A-Za-z_]\w*+)\s*+)?\(")
_NEW_LINE = re.compile(rb"[^\S\n]*+\n")
_POINTER = re.compile(rb"\(\s*\*+\s*([A-Za-z_]\w*)\s*(" + ARGS + rb")\s*\)\s*\Z")


def read_head(text: bytes, start: int, end: int, dialect: Dialect) -> HeadText:
    """Read the head that lies between two offsets of a shadow text."""
    start = max(start, end - MAX_HEAD)
    raw = text[start:end]
    if b"__" not in raw and (plain := _PLAIN.match(raw)) and plain[2].islower():
        before = plain[1].split()
        if before[-1] not in _STORAGE_BYTES or len(before) > 1:
            return HeadText(
                plain[2].decode(), start, start + plain.start(2), plain[3][1:-1].decode("latin-1"), None, "",
                _squeeze(plain[1]), b"static" in before, b"inline" in before, (), (),
            )  # fmt: skip
    return _read_odd_head(raw, start, dialect)


_STORAGE_BYTES = frozenset(word.encode() for word in _STORAGE)


def _read_odd_head(raw: bytes, start: int, dialect: Dialect) -> HeadText:
    inline = bool(re.search(rb"\b(?:inline|__inline|__inline__|__always_inline)\b", raw))
    raw, annotations = _blank_attributes(raw, start, dialect)
    parts = _parts(raw)
    chosen = _choose(raw, parts)
    if chosen < 0:
        return HeadText("", start, start, "", None, "", _squeeze(raw), False, False, annotations, ())
    part = parts[chosen]
    begin, peeled = _peel(raw, parts[:chosen])
    before = raw[begin : part.word_pos]
    words = [word.decode() for word in _WORD.findall(before)]
    row = dialect.head_macro(part.word)
    typed = _is_typed(before)
    name, macro = part.word, ""
    params = raw[part.start + 1 : part.end - 1].decode("latin-1")
    if row is not None or (not typed and not any(char.islower() for char in part.word)):
        args = split_args(params)
        macro = part.word
        name = _macro_name(row, part.word, args)
    elif pointer := _POINTER.match(raw, part.start, part.end):
        name, params = pointer[1].decode(), pointer[2][1:-1].decode("latin-1")
    elif not part.word and chosen:
        other = parts[chosen - 1]
        name = _squeeze(raw[other.word_pos : other.end])
        before = raw[begin : other.word_pos]
    return HeadText(
        name, start + _skip(raw, begin), start + part.word_pos, params, row, macro,
        row.returns if row is not None else _return_type(before),
        "static" in words, inline, annotations, tuple((start + low, start + high) for low, high in peeled),
    )  # fmt: skip


def _blank_attributes(raw: bytes, base: int, dialect: Dialect) -> tuple[bytes, tuple[Attribute, ...]]:
    """Blank attribute words and their arguments; what is kept comes back."""
    out = bytearray(raw)
    kept: list[Attribute] = []
    done = 0
    for match in _WORD.finditer(raw):
        word, at, end = match[0].decode(), match.start(), match.end()
        if at < done or (word not in dialect.attributes and word not in dialect.attribute_calls):
            continue
        if raw[end : end + 1] == b"(" and word not in dialect.attribute_calls:
            continue
        args = ""
        if word in dialect.attribute_calls and (bracket := re.compile(rb"\s*\(").match(raw, end)):
            end = closing(raw, bracket.end() - 1)
            args = raw[bracket.end() : end - 1].decode("latin-1").strip()
        out[at:end] = bytes(10 if byte == 10 else 32 for byte in raw[at:end])
        done = end
        if word in dialect.kept:
            kept.append(Attribute(word, args, base + at))
    return bytes(out), tuple(kept)


def _parts(raw: bytes) -> tuple[_Part, ...]:
    found: list[_Part] = []
    at = 0
    while match := _CALL.search(raw, at):
        at = closing(raw, match.end() - 1)
        found.append(_Part((match[1] or b"").decode(), match.start(), match.end() - 1, at))
    return tuple(found)


def _choose(raw: bytes, parts: Sequence[_Part]) -> int:
    """Index of the bracket with the parameters: the first one behind a type and a name, else the last."""
    begin = 0
    for index, part in enumerate(parts):
        if _POINTER.match(raw, part.start, part.end) or (not part.word and index):
            return index
        followed = index + 1 < len(parts) and part.word.startswith("__") and not parts[index + 1].word.startswith("__")
        if part.word and _is_typed(raw[begin : part.word_pos]) and not followed:
            pasted = index + 1 < len(parts) and not parts[index + 1].word
            return index + 1 if pasted else index
        begin = part.end
    return len(parts) - 1


def _is_typed(before: bytes) -> bool:
    return b"*" in before or any(word not in _STORAGE_BYTES for word in _WORD.findall(before))


def _peel(raw: bytes, parts: Sequence[_Part]) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Where the head begins behind macro calls that stand on lines of their own, and those calls."""
    begin = 0
    peeled: list[tuple[int, int]] = []
    for part in parts:
        if part.word and _NEW_LINE.match(raw, part.end):
            peeled.append((part.word_pos, part.end))
            begin = part.end
    return begin, tuple(peeled)


def _macro_name(row: HeadMacro | None, word: str, args: Sequence[str]) -> str:
    names = [_squeeze(arg.encode("latin-1")) for arg in args]
    if row is not None:
        return row.name.format(*(names or [word]))
    return next((name for name in names if name.isidentifier()), word)


def _return_type(before: bytes) -> str:
    words = re.findall(r"\w+|\*", before.decode("latin-1"))
    return " ".join(word for word in words if word not in ("static", "extern", "inline"))


def _squeeze(text: bytes) -> str:
    return " ".join(text.decode("utf-8", "replace").split())


def _skip(raw: bytes, at: int) -> int:
    return at + len(raw[at:]) - len(raw[at:].lstrip())


def section_head(section: str, start: int, dialect: Dialect) -> HeadText:
    """What the heading of a hunk says of the function that goes on in it; the name is "" where it is none."""
    text = section.encode("latin-1", "replace")
    if b"(" not in text or b"=" in text:
        text = b""
    elif b")" not in text:
        text += b")"
    head = read_head(text, 0, len(text), dialect)
    return head._replace(start=start, name_pos=start, params="", annotations=(), peeled=())


# ------------------------------------------------------------------ parameters


def split_args(text: str) -> list[str]:
    """Split at the commas outside brackets; each part stripped, nothing for an empty text."""
    parts: list[str] = []
    depth, at = 0, 0
    for index, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[at:index].strip())
            at = index + 1
    last = text[at:].strip()
    return [*parts, last] if parts or last else []


def read_params(head: HeadText, dialect: Dialect) -> tuple[Param, ...]:
    """The parameters of a head, ``void`` and ``...`` left out."""
    args = split_args(head.params)
    if head.macro:
        row = head.row
        if row is None or row.params == "none":
            return ()
        args = args[row.first :]
        if row.params == "pairs":
            args = [f"{kind} {name}" for kind, name in zip(args[::2], args[1::2], strict=False)]
    return tuple(_param(arg, dialect) for arg in args if arg not in ("void", "...", ""))


_FUNCTION_POINTER = re.compile(r"\(\s*\*+\s*(?:const\s+)?(\w*)")
_PARAM_WORD = re.compile(r"[A-Za-z_]\w*")
_BASE = frozenset(
    ["int", "char", "long", "short", "void", "float", "double", "unsigned", "signed", "bool", "const", "volatile"]
)


def _param(text: str, dialect: Dialect) -> Param:
    plain, _ = _blank_attributes(text.encode("latin-1"), 0, dialect)
    text = plain.decode("latin-1")
    if pointer := _FUNCTION_POINTER.search(text):
        return Param(pointer[1], " ".join(text.replace(pointer[0], "(*", 1).split()), 1)
    array = text.count("[")
    text = text.split("[")[0]
    words = list(_PARAM_WORD.finditer(text))
    stars = text.count("*") + array
    if not words:
        return Param("", "", stars)
    last = words[-1]
    named = text[last.end() :].strip() == "" and last[0] not in _BASE
    if named:
        before = [word[0] for word in words[:-1] if word[0] not in ("const", "volatile", "register")]
        named = bool(before) and not (len(before) == 1 and before[0] in _TAGS)
    types = text[: last.start()] if named else text
    return Param(last[0] if named else "", " ".join(types.replace("*", " ").split()), stars)
