"""One file read: heads at once, bodies and tables when they are asked for."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import NamedTuple

from patchlint import ir
from patchlint.lines import LineTable
from patchlint.model import NotAnalysed
from patchlint.syntax.conditions import groups
from patchlint.syntax.dialect import Dialect, default_dialect
from patchlint.syntax.expand import Macros, read_define
from patchlint.syntax.fragments import FragmentStart, Piece, file_line, read_hunks
from patchlint.syntax.heads import HeadText, read_head, read_params, section_head
from patchlint.syntax.lexical import lex
from patchlint.syntax.lower import lower_body
from patchlint.syntax.outline import Body, is_function, outline
from patchlint.syntax.pieces import is_other, lower_piece, read_body
from patchlint.syntax.toplevel import TopLevel, read_items, top_macro
from patchlint.syntax.values import Define, Field, Global, Head, Table, TopMacro
from patchlint.syntax.variants import Arrangements, Enclosing, Facts, arrange, config_of, decided

MAX_SIZE = 8 << 20
"""Bytes of the largest file that is read."""

_CALLED = re.compile(rb"([A-Za-z_]\w*+)\s*+\(")
_KEYWORDS = frozenset(b"if for while switch return sizeof do else goto case defined typeof __typeof__ asm".split())


class _Part(NamedTuple):
    """Where a head's body is: a whole one, or the shown piece of a cut one."""

    body: Body
    text: HeadText
    piece: Piece | None


class Unit:
    """A file as the front end sees it.  Made by :func:`parse`."""

    def __init__(
        self,
        source: bytes,
        path: str,
        dialect: Dialect,
        fragments: Sequence[FragmentStart] = (),
        macros: Sequence[Define] = (),
        keep: Collection[str] = (),
    ) -> None:
        self.path = path
        self.source = source
        self.dialect = dialect
        self.lines = LineTable(source)
        self._fragments = tuple(fragments)
        self._not_analysed: list[NotAnalysed] = []
        if len(source) > MAX_SIZE:
            self._not_analysed.append(NotAnalysed(path, "", f"file larger than {MAX_SIZE >> 20} MiB"))
            source = b""
        self._given = tuple(macros)
        self._keep = frozenset(keep)
        self._parts: dict[Head, _Part] = {}
        self._functions: dict[Head, ir.Function] = {}
        pieces: tuple[Piece, ...] = ()
        if fragments:
            hunks = read_hunks(source, fragments, [self._offset(first) for first, _, _ in fragments])
            self._directives, self._groups, self._shadow = hunks.lexed.directives, hunks.groups, hunks.lexed.shadow
            self._outline = outline(hunks.shadow, self._groups)
            pieces = hunks.pieces
        else:
            lexed = lex(source)
            self._directives = lexed.directives
            self._groups = groups(lexed.directives, len(lexed.shadow))
            self._outline = outline(lexed.shadow, self._groups)
            self._shadow = self._outline.text
        self._enclosing = Enclosing(self._groups)
        errors = tuple(item.start for item in self._directives if item.word == "error")
        self._facts = Facts(dialect.exclusive, errors)
        if self._outline.lost >= 0:
            line = self.file_line(self._outline.lost)
            self._not_analysed.append(NotAnalysed(path, "", "brackets do not close: the rest is not read", line))
        for body in self._outline.bodies:
            self._add_head(body)
        for piece in pieces:
            self._add_piece(piece)
        self.heads: tuple[Head, ...] = tuple(sorted(self._parts, key=lambda head: head.start))

    def _offset(self, line: int) -> int:
        """Where an image line starts; the end of the image for lines behind it (hunks without text)."""
        return self.lines.start(line) if line <= self.lines.line(len(self.source)) else len(self.source)

    def _add_head(self, body: Body) -> None:
        text = read_head(self._outline.text, body.start, body.open, self.dialect)
        if text.name:
            self._add(_Part(body, text, None))

    def _add_piece(self, piece: Piece) -> None:
        """Take a cut piece for a part of a function, unless it reads better as something else."""
        if piece.headed:
            if is_function(self._shadow, piece.start, piece.open):
                text = read_head(self._shadow, piece.start, piece.open, self.dialect)
                self._add(_Part(Body(text.start, piece.open, piece.end), text, piece))
            return
        text = section_head(piece.section, piece.start, self.dialect)
        if piece.open >= 0:
            self._add(_Part(Body(piece.start, piece.open, piece.end), text, piece))
            return
        shown = self._shadow[piece.start : piece.end]
        if not text.name and is_other(shown, piece.above, piece.below, self.dialect):
            return
        error = read_body(shown, piece.above, piece.below, self.dialect).error
        if error < 0 or not is_other(shown, piece.above, piece.below, self.dialect):
            self._add(_Part(Body(piece.start, piece.start, piece.end), text, piece))

    def _add(self, part: _Part) -> None:
        body, text, piece = part
        config = config_of(decided(self._enclosing.at(text.start)))
        line, end_line = self.file_line(text.start), self.file_line(max(text.start, body.end - 1))
        self._parts[Head(text.name, line, end_line, text.start, body.end, text.static, piece is None, config)] = part

    # -------------------------------------------------------------- questions

    @property
    def not_analysed(self) -> tuple[NotAnalysed, ...]:
        """What could not be read; a function is listed once it has been lowered."""
        return tuple(self._not_analysed)

    def file_line(self, pos: int) -> int:
        """Line of a byte offset in the real file."""
        line = self.lines.line(pos)
        return file_line(self._fragments, line) if self._fragments else line

    def calls(self, head: Head) -> frozenset[str]:
        """Words followed by ``(`` in a function's text, all ``#if`` branches included."""
        body = self._parts[head].body
        words = set(_CALLED.findall(self._shadow, body.open, body.end))
        return frozenset(word.decode("latin-1") for word in words - _KEYWORDS)

    @cached_property
    def defines(self) -> tuple[Define, ...]:
        """Function-like macros of the file, in order."""
        found = (read_define(item) for item in self._directives if item.word == "define")
        return tuple(define for define in found if define is not None)

    @cached_property
    def _top(self) -> TopLevel:
        found = read_items(self.source, self._outline.text, self._outline.items, self.dialect)
        peeled = [span for part in self._parts.values() for span in part.text.peeled]
        found.macros.extend(top_macro(self.source, start, end, False) for start, end in peeled)
        found.macros.sort(key=lambda macro: macro.pos)
        return found

    @property
    def macros(self) -> tuple[TopMacro, ...]:
        """Macro invocations at file level, such as ``EXPORT_SYMBOL_GPL(x)``."""
        return tuple(self._top.macros)

    @property
    def globals(self) -> tuple[Global, ...]:
        """File-level variables, their ``extern`` declarations among them."""
        return tuple(self._top.globals)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Initialised structures that name functions."""
        return tuple(self._top.tables)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Structure members with attributes that the dialect keeps, such as ``__rcu``."""
        return tuple(self._top.fields)

    @property
    def unread(self) -> tuple[int, ...]:
        """Offsets of what cannot be read outside functions: what is told of those items may be incomplete."""
        return tuple(self._top.unread)

    @cached_property
    def includes(self) -> tuple[str, ...]:
        """Names of included files, with their quotes or angle brackets taken off."""
        found = (item.rest for item in self._directives if item.word == "include")
        return tuple(rest.split(">")[0].strip('<" ') for rest in found if rest[:1] in ("<", '"'))

    @cached_property
    def _macros(self) -> Macros:
        # A name that is given up and taken again means different things in different places.
        dropped = {item.rest.split(" ")[0] for item in self._directives if item.word == "undef"}
        counts = Counter(define.name for define in self.defines)
        changing = {name for name in dropped if counts[name] > 1}
        return Macros((*self._given, *self.defines), self.dialect, self._keep | changing)

    # -------------------------------------------------------------- functions

    def function(self, head: Head) -> ir.Function:
        """Lower a function, all variants; the result is kept."""
        known = self._functions.get(head)
        if known is None:
            known = self._functions[head] = self._lower(head)
        return known

    def texts(self, head: Head) -> tuple[bytes, ...]:
        """The text of each variant of a function's body, comments, strings and directives blanked."""
        return tuple(arrangement.text for arrangement in self._arrange(self._parts[head].body).kept)

    def _lower(self, head: Head) -> ir.Function:
        body, text, piece = self._parts[head]
        arranged = self._arrange(body)
        variants: list[ir.Variant] = []
        for arrangement in arranged.kept:
            if piece is None:
                variant, error = lower_body(body, arrangement, self.source, self.dialect, self._macros)
            else:
                variant, error = lower_piece(piece, arrangement, self.source, self.dialect, self._macros)
            variants.append(variant)
            if error >= 0:
                self._report(head, error, f"cannot be read at line {self.file_line(error)}")
        if arranged.bound_hit:
            self._report(head, head.start, "more #if arrangements than are analysed")
        return ir.Function(
            name=head.name,
            file=self.path,
            line=head.line,
            end_line=head.end_line,
            start=head.start,
            end=head.end,
            params=read_params(text, self.dialect),
            return_type=" ".join(text.returns.replace("*", " ").split()),
            return_pointer=text.returns.count("*"),
            static=text.static,
            inline=text.inline,
            annotations=tuple((item.word, item.args) for item in text.annotations),
            variants=tuple(variants),
            whole=head.whole,
            bound_hit=arranged.bound_hit,
        )

    def _arrange(self, body: Body) -> Arrangements:
        fixed = {atom.name: truth for atom, truth in decided(self._enclosing.at(body.open))}
        first = bisect_left(self._groups, body.open, key=lambda group: group.start)
        last = bisect_left(self._groups, body.end, key=lambda group: group.start)
        return arrange(self._shadow, body.open, body.end, self._groups[first:last], fixed, self._facts)

    def _report(self, head: Head, pos: int, reason: str) -> None:
        entry = NotAnalysed(self.path, head.name, reason, self.file_line(pos))
        if entry not in self._not_analysed:
            self._not_analysed.append(entry)


def parse(
    source: bytes,
    path: str,
    *,
    fragments: Sequence[tuple[int, int, str]] = (),
    dialect: Dialect | None = None,
    macros: Sequence[Define] = (),
    keep: Collection[str] = (),
) -> Unit:
    """Read a file.

    ``fragments`` tells that ``source`` is a join of hunk texts: (first image line, first file line, section).
    ``macros`` are function-like macros from included headers; those and the file's own are expanded in the
    lowering unless their name is in ``keep`` (names with a meaning of their own, such as modelled APIs).
    """
    return Unit(source, path, dialect or default_dialect(), fragments, macros, keep)
