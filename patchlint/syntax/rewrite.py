"""The pre-pass: rewrites kernel dialect into C that the grammar reads, byte for byte of the same length.

One pattern finds all places of interest in a shadow text; a handler per kind edits a copy.  What was
there before is told by :class:`Marks`, and the original source is unchanged at the same offsets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from patchlint.syntax.arguments import Repaired, with_statement_arguments
from patchlint.syntax.brackets import ARGS, closing
from patchlint.syntax.dialect import Dialect
from patchlint.syntax.lexical import BLANK
from patchlint.syntax.outline import last_code


class Attribute(NamedTuple):
    """A blanked word that means something: its arguments as text ("" for none) and its offset."""

    word: str
    args: str
    pos: int


@dataclass(slots=True)
class Marks:
    """What the pre-pass replaced, by offset in the text it was given."""

    attributes: list[Attribute] = field(default_factory=list)
    heads: set[int] = field(default_factory=set)
    """Offsets at which a macro became the ``while`` (or ``if``) of a block or statement."""
    types: dict[int, int] = field(default_factory=dict)
    """Start and end of each type that became an identifier."""
    ranges: set[int] = field(default_factory=set)
    """Offsets of the ``...`` of case ranges."""


_BASE = rb"(?:unsigned|signed|int|char|long|short|void|float|double|_?[Bb]ool|struct|union|enum|const|volatile)\b"
_TYPE = (
    rb"(?:" + _BASE + rb"(?:\s*+(?:\w++|\*))*+"
    rb"|\w++(?:\s++const)?\s*+\*(?:\s*+(?:\*|const\b|__\w++))*+)(?:\s*+\[\w*+\])?"
)
_KEYWORD = rb"(?:if|for|while|switch|return|sizeof|do|else|goto|case|asm|__asm__|typeof|__typeof__|__attribute__)\b"
_MACRO = (
    rb"[ \t]*+(?!" + _KEYWORD + rb")(?P<macro>[A-Za-z_]\w*+)[ \t]*+"
    rb"(?=(?P<args>" + ARGS + rb")\s*+(?P<next>[\w{}*(.]|\+\+|--|=(?=\s*+\{)))"
)
# The first byte is one set so that the matcher can skip to it; what may follow depends on it.
_PLACES = re.compile(
    rb"[_(,\n;{}):](?:"
    rb"(?<=_)(?<![\w.]_)(?<!->_)(?P<word>\w++)"
    rb"|(?<=[(,])(?:"
    rb"(?<!sizeof.)(?=\s*+(?:(?P<type>" + _TYPE + rb")|(?P<operator>[<>=!&|+*/^%-]{1,3}))\s*+[,)])"
    rb"|(?=\s*+(?P<jump>(?:return|goto|break|continue)\b)))"
    rb"|(?<=[\n;{}):])" + _MACRO + rb")"
)
_ELSE = re.compile(rb"else(?=[ \t])" + _MACRO)
_STATIC = re.compile(rb"\bstatic(?=\s++[A-Z]\w*+\s*+\()")
_TYPEOF = re.compile(rb"\b(?:__)?typeof(?:__)?(?:_unqual|_member)?\s*+(?=\()")
_BRACKET = re.compile(rb"\s*+(?=\()")
_WORD_BEFORE = re.compile(rb"([A-Za-z_]\w*+)\s*+\Z")
_NO_CALL = frozenset(
    b"return if while for switch else do case in sizeof typeof __typeof__ goto int void char long".split()
)
_RANGE = re.compile(rb"\.\.\.")
_CASE = re.compile(rb"\bcase\b[^:;{}]*+\Z")
_GOTO = re.compile(rb"\bgoto\s*+(\*)\W*+\w++([^;]*+)")
_CLOSER = re.compile(rb"\}\s*+(?P<macro>[A-Za-z_]\w++)\s*+(?=(?P<args>" + ARGS + rb")\s*+;)")
_OPENER = re.compile(rb"\bdo_each\w*+\s*+\(")
_LITERAL_TYPE = re.compile(rb"(?:[,(=?:]|\breturn)\s*+\(\s*+(?:struct\s++)?\w++[\s*]*+\)\Z")
_NAME = re.compile(rb"[A-Za-z_]\w*+")
_STATEMENT_ENDS = b";{}):"


MAX_UNCLOSED = 20
"""Brackets of one text that may not close before no more are looked for."""


class Rewritten(NamedTuple):
    """The text to parse and what was replaced in it."""

    text: bytes
    marks: Marks


def rewrite(text: bytes, dialect: Dialect, *, listed: bool = False) -> Rewritten:
    """Rewrite a shadow text.  The length and all newlines stay.

    ``listed`` says that the text holds no statements but members or elements: an initialiser, a structure.
    """
    for word, other in dialect.respell:
        if word in text:
            text = re.sub(rb"\b" + word + rb"\b", other, text)
    if b"typeof" in text:
        text = _replace_typeof(text)
    if b"goto" in text:
        text = _GOTO.sub(_plain_goto, text)
    if b"static" in text:
        text = _STATIC.sub(b"      ", text)
    work = _Rewriter(text, dialect, listed)
    work.run()
    done = Repaired(bytes(work.out), frozenset(work.marks.heads))
    if work.jumps:
        done = with_statement_arguments(done)
        work.marks.heads.update(done.heads)
    return Rewritten(done.text, work.marks)


def _plain_goto(match: re.Match[bytes]) -> bytes:
    """``goto *table[i]`` becomes ``goto  table``."""
    (star, after), (rest, end) = match.span(1), match.span(2)
    star, after, rest, end = (at - match.start() for at in (star, after, rest, end))
    text = match[0]
    return text[:star] + b" " + text[after:rest] + text[rest:end].translate(BLANK)


def identifier(text: bytes) -> bytes:
    """An identifier of the same length that no keyword equals; text over several lines keeps them."""
    *lead, last = text.split(b"\n")
    word = re.sub(rb"\W", b"_", last.lstrip())
    word = (b"T" + word[1:]).rjust(len(last))
    return b"\n".join([*(line.translate(BLANK) for line in lead), word])


def _replace_typeof(text: bytes) -> bytes:
    """Make ``typeof(x)`` one identifier, as a type name."""
    out = bytearray(text)
    failures = 0
    for match in _TYPEOF.finditer(text):
        end = closing(text, match.end())
        failures += end == match.end() + 1
        if failures > MAX_UNCLOSED:
            break
        out[match.start() : end] = identifier(text[match.start() : end])
    return bytes(out)


class _Rewriter:
    """The edits of one text."""

    def __init__(self, text: bytes, dialect: Dialect, listed: bool) -> None:
        self.text = text
        self.listed = listed
        self.out = bytearray(text)
        self.dialect = dialect
        self.marks = Marks()
        self.unclosed = 0
        self.jumps = False
        """Whether a macro has a jump for an argument."""
        self.typed = 0
        """End of the last type made an identifier: words inside are gone already."""

    def run(self) -> None:
        handlers: dict[str | None, Callable[[re.Match[bytes]], None]] = {
            "word": self._word,
            "type": self._type,
            "operator": self._operator,
            "jump": self._jump,
            "next": self._macro,
        }
        for match in _PLACES.finditer(self.text):
            handlers[match.lastgroup](match)
        if b"..." in self.text:
            for match in _RANGE.finditer(self.text):
                self._range(match)
        for match in _ELSE.finditer(self.text):
            self._macro(match)
        for match in _CLOSER.finditer(self.text):
            self._closer(match)

    def _word(self, match: re.Match[bytes]) -> None:
        self._attribute(match.start(), match.end("word"))

    def _attribute(self, start: int, end: int) -> None:
        """Blank an attribute word, with its arguments where it has some; other words stay."""
        word = self.text[start:end].decode("latin-1")
        args = ""
        bracket = _BRACKET.match(self.text, end) if self._takes_arguments(word) else None
        if bracket is not None and not self._in_expression(start):
            end = closing(self.text, bracket.end())
            self.unclosed += end == bracket.end() + 1
            args = self.text[bracket.end() + 1 : end - 1].decode("latin-1").strip()
        elif word not in self.dialect.attributes or self.text[end : end + 1] == b"(":
            return
        if start >= self.typed:
            self.out[start:end] = self.text[start:end].translate(BLANK)
        if word in self.dialect.kept:
            self.marks.attributes.append(Attribute(word, args, start))

    def _takes_arguments(self, word: str) -> bool:
        return word in self.dialect.attribute_calls and self.unclosed <= MAX_UNCLOSED

    def _in_expression(self, start: int) -> bool:
        """Whether a word stands where a value is wanted: it cannot be an attribute then."""
        last = last_code(self.text, start)
        return last >= 0 and self.text[last] in b"(!&|=?<>+-"

    def _type(self, match: re.Match[bytes]) -> None:
        """Make a type given as a macro's argument one identifier."""
        start, end = match.span("type")
        if not self._is_argument(match.start()):
            return
        self.out[start:end] = name = identifier(self.text[start:end])
        self.marks.types[start + len(name) - len(name.lstrip())] = end
        self.typed = end

    def _operator(self, match: re.Match[bytes]) -> None:
        """``check(a, <=, b)``: an operator given as a macro's argument becomes a name."""
        start, end = match.span("operator")
        if self._is_argument(match.start()):
            self.out[start:end] = b"_" * (end - start)

    def _jump(self, match: re.Match[bytes]) -> None:
        self.jumps = True

    def _is_argument(self, at: int) -> bool:
        """Whether the ``(`` or ``,`` at ``at`` may begin an argument of a call: no cast, no condition."""
        if self.text[at] != 40:
            return True
        before = _WORD_BEFORE.search(self.text, max(0, at - 80), at)
        return before is not None and before[1] not in _NO_CALL

    def _macro(self, match: re.Match[bytes]) -> None:
        """A call that no ``;`` ends: the head of a loop or scope, or a statement that lacks it."""
        start, end = match.span("macro")
        name = match["macro"].decode("latin-1")
        if name in self.dialect.attribute_calls or name in self.dialect.attributes:
            self._attribute(start, end)
        elif self.listed:
            if match["next"] == b"." or match["next"].isalnum():
                self._put(b",", match.end("args"))
        elif self._begins_statement(start):
            loop = self.dialect.loops.match(name) or self.dialect.scopes.match(name)
            if match["next"] == b"=":
                self._declare(*match.span("args"))
            elif match["next"] == b"{" or loop:
                self._make_head(start, end, match)
            elif match["next"] not in (b"*", b"(", b".", b"++", b"--") and not self._in_list(start):
                self._put(b";", match.end("args"))

    def _declare(self, start: int, end: int) -> None:
        """``DECLARE_X(name, size) = { 0 }``: leave the words of a plain declaration."""
        first = _NAME.search(self.text, start)
        if first is not None and first.end() < end:
            self.out[start : first.start()] = self.text[start : first.start()].translate(BLANK)
            self.out[first.end() : end] = self.text[first.end() : end].translate(BLANK)

    def _in_list(self, start: int) -> bool:
        """Whether ``{ FOO(x) }`` is an initialiser and no block."""
        last = last_code(self.text, start)
        if last < 0 or self.text[last] != 123:
            return False
        before = last_code(self.text, last)
        if before >= 0 and self.text[before] == 41:
            return _LITERAL_TYPE.search(self.text, max(0, before - 80), before + 1) is not None
        return before >= 0 and self.text[before] in b"=,{"

    def _begins_statement(self, at: int) -> bool:
        last = last_code(self.text, at)
        if last < 0 or self.text[last] in _STATEMENT_ENDS:
            return True
        return self.text[max(0, last - 3) : last + 1] == b"else" or self.text[last - 1 : last + 1] == b"do"

    def _make_head(self, start: int, end: int, match: re.Match[bytes]) -> None:
        opened, closed = match.span("args")
        if b";" in self.text[opened:closed] and end - start >= 3:
            self.out[start:end] = b"for".ljust(end - start)
            return
        if end - start < 2:
            return
        self.out[start:end] = (b"while" if end - start >= 5 else b"if").ljust(end - start)
        self.marks.heads.add(start)
        if not self.text[opened + 1 : closed - 1].strip():
            self._fill(opened, closed)

    def _closer(self, match: re.Match[bytes]) -> None:
        """``do { } while_each_x(a, b);`` without a macro of its own to begin it: an ordinary do loop."""
        if self.dialect.closers.match(match["macro"].decode("latin-1")) and not _OPENER.search(self.text):
            start, end = match.span("macro")
            self.out[start:end] = b"while".ljust(end - start)
            self.marks.heads.add(start)

    def _fill(self, opened: int, closed: int) -> None:
        """Give an empty head its condition: ``for_each_x()`` becomes ``while    (1)``."""
        if closed - opened > 2:
            self.out[opened + 1 : opened + 2] = b"1"
        elif self.out[opened - 1 : opened] == b" ":
            self.out[opened - 1 : opened + 1] = b"(1"

    def _put(self, mark: bytes, at: int) -> None:
        """Put a mark into a blank behind a macro call; before ``}`` the parser makes up for a missing one."""
        while self.text[at : at + 1].isspace():
            if self.text[at] != 10:
                self.out[at : at + 1] = mark
                return
            at += 1

    def _range(self, match: re.Match[bytes]) -> None:
        """``case 1 ... 3``: write the dots as an operator that cannot stand there otherwise."""
        start, end = match.start(), match.end()
        label = _CASE.search(self.text, max(0, start - 200), start)
        if label is not None and label[0].count(b"[") == label[0].count(b"]"):
            self.out[start:end] = b"?: "
            self.marks.ranges.add(start)
