"""Where things stand in one file: function extents, macro definitions, calls. By words and columns, without a parse.

Some 50 MB a second; used to find the places, which are then parsed one function at a time.  It relies on kernel style:
a function's head starts in column 0 and its last brace stands there alone (or all of it on one line).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from patchlint.callgraph.words import DEFINE, HEAD, NOT_CODE
from patchlint.lines import LineTable

_BLANK = bytes(c if c == 10 else 32 for c in range(256))
_CALL = re.compile(rb"\b([A-Za-z_]\w*+)[ \t]*+\(")
_OPENS = re.compile(rb"[ \t]*+(?:\\?\n[ \t]*+)?\(")
_WORD_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_CONTINUED = re.compile(rb"(?:[^\n]*\\\n)*[^\n]*")

KEYWORDS = frozenset({
    "if", "for", "while", "switch", "return", "sizeof", "typeof", "__typeof__", "typeof_member", "alignof", "defined",
    "__alignof__", "_Alignof", "offsetof", "do", "else", "case", "goto", "asm", "__asm__", "__attribute__", "_Generic",
    "_Static_assert", "static_assert",
})  # fmt: skip
"""Words that look like calls and are none."""


class Definition(NamedTuple):
    """A function or macro definition. Lines from 1, ``start``/``end`` are byte offsets of the whole text."""

    name: str
    file: str
    line: int
    end_line: int
    kind: str
    """"function" or "macro"."""
    static: bool
    inline: bool
    start: int
    end: int


class CallSite(NamedTuple):
    """A call. ``function`` is the caller (a function or a macro; "" outside of both)."""

    file: str
    line: int
    function: str
    name: str
    pos: int


def blank(source: bytes) -> bytes:
    """The text with comments, strings and character constants turned into spaces; same length, same lines."""
    return NOT_CODE.sub(lambda match: match[0].translate(_BLANK), source)


class FileScan:
    """One file, scanned when first asked. Not shared between threads."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path = path
        self.source = source

    @cached_property
    def code(self) -> bytes:
        """The text without comments and strings, offsets unchanged."""
        return blank(self.source)

    @cached_property
    def lines(self) -> LineTable:
        """Offsets to lines."""
        return LineTable(self.source)

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """All functions and macros, in the order of the text."""
        return tuple(sorted(self._functions() + self._macros(), key=lambda found: found.start))

    def defined(self, name: str) -> tuple[Definition, ...]:
        """The definitions of ``name``; several where #if gives several."""
        return tuple(found for found in self._by_name.get(name, ()))

    @cached_property
    def _by_name(self) -> dict[str, list[Definition]]:
        table: dict[str, list[Definition]] = {}
        for found in self.definitions:
            table.setdefault(found.name, []).append(found)
        return table

    @cached_property
    def _starts(self) -> list[int]:
        return [found.start for found in self.definitions]

    def around(self, pos: int) -> Definition | None:
        """The innermost definition whose text holds the offset."""
        at = bisect_right(self._starts, pos) - 1
        # A macro may be defined inside of a function: look back until a text reaches over the place.
        while at >= 0:
            found = self.definitions[at]
            if found.end > pos:
                return found
            if found.kind == "function":
                return None
            at -= 1
        return None

    def around_line(self, line: int) -> Definition | None:
        """The innermost definition that covers a line."""
        covering = [found for found in self.definitions if found.line <= line <= found.end_line]
        return max(covering, key=lambda found: found.start) if covering else None

    def mentions(self, name: str) -> Iterator[int]:
        """Offsets in the code at which the whole word ``name`` stands."""
        # A plain search for bytes: an expression that starts with a word boundary looks at every byte of the file.
        code, word = self.code, name.encode()
        at = code.find(word) if word else -1
        while at >= 0:
            end = at + len(word)
            if (at == 0 or code[at - 1] not in _WORD_BYTES) and (end == len(code) or code[end] not in _WORD_BYTES):
                yield at
            at = code.find(word, end)

    def calls_of(self, name: str) -> tuple[CallSite, ...]:
        """Every place where ``name(`` stands inside a function or macro and is not its definition's head."""
        sites = []
        for at in self.mentions(name):
            owner = self.around(at) if _OPENS.match(self.code, at + len(name.encode())) else None
            if owner is not None and not (owner.name == name and self._is_head(owner, at)):
                sites.append(CallSite(self.path, self.lines.line(at), owner.name, name, at))
        return tuple(sites)

    def calls_in(self, definition: Definition) -> tuple[CallSite, ...]:
        """Every call inside a definition, in the order of the text; macro invocations are calls."""
        body = self._body(definition)
        return tuple(
            CallSite(self.path, self.lines.line(match.start()), definition.name, name, match.start())
            for match in _CALL.finditer(self.code, body, definition.end)
            if (name := match[1].decode("ascii")) not in KEYWORDS
        )

    def _is_head(self, owner: Definition, pos: int) -> bool:
        return pos < self._body(owner)

    def _body(self, definition: Definition) -> int:
        """Offset at which the body starts: behind the opening brace, or behind the macro's name and parameters."""
        if definition.kind == "function":
            brace = self.code.find(b"{", definition.start, definition.end)
            return brace + 1
        name = self.code.find(definition.name.encode(), definition.start)
        after = name + len(definition.name)
        if self.code[after : after + 1] == b"(":
            return self.code.find(b")", after) + 1
        return after

    def _functions(self) -> list[Definition]:
        found: list[Definition] = []
        code = b"\n" + self.code
        at = 0
        while match := HEAD.search(code, at):
            start, brace = match.start(), match.end() - 2
            end = _body_end(self.code, brace)
            before = match["before"]
            name = match["name"].decode("ascii")
            first, last = self.lines.line(match.start("name") - 1), self.lines.line(max(start, end - 1))
            static, inline = b"static" in before, b"inline" in before
            found.append(Definition(name, self.path, first, last, "function", static, inline, start, end))
            at = max(match.end(), end)
        return found

    def _macros(self) -> list[Definition]:
        found = []
        for match in DEFINE.finditer(self.code):
            whole = _CONTINUED.match(self.code, match.start())
            end = whole.end() if whole else match.end()
            first, last = self.lines.line(match.start()), self.lines.line(end)
            name = match[1].decode("ascii")
            found.append(Definition(name, self.path, first, last, "macro", True, True, match.start(), end))
        return found


def _body_end(code: bytes, brace: int) -> int:
    """Offset behind the brace that closes the body opened at ``brace``."""
    newline = code.find(b"\n", brace)
    first_line = code[brace : newline if newline >= 0 else len(code)]
    if first_line.count(b"{") == first_line.count(b"}"):
        return brace + first_line.rfind(b"}") + 1
    close = code.find(b"\n}", brace)
    return close + 2 if close >= 0 else len(code)
