"""One file read: heads at once, bodies and tables when they are asked for."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import cached_property

from patchlint import ir
from patchlint.model import NotAnalysed
from patchlint.syntax.conditions import Group, groups
from patchlint.syntax.dialect import Dialect, default_dialect
from patchlint.syntax.expand import Macros, read_define
from patchlint.syntax.expressions import Context
from patchlint.syntax.heads import HeadText, read_head, read_params
from patchlint.syntax.lexical import Directive, lex
from patchlint.syntax.outline import Body, Outline, outline
from patchlint.syntax.repair import repairs
from patchlint.syntax.rewrite import rewrite
from patchlint.syntax.statements import Statements
from patchlint.syntax.toplevel import TopLevel, read_items, top_macro
from patchlint.syntax.tree import Parsed, first_error, parse_text
from patchlint.syntax.values import Define, Field, Global, Head, Table, TopMacro
from patchlint.syntax.variants import Arrangement, arrange, config_of, decided, enclosing

MAX_SIZE = 16 << 20
"""Bytes of the largest file that is read."""

HEAD = b"int f()"
"""Stands before a body when it is parsed."""

_CALLED = re.compile(rb"([A-Za-z_]\w*+)\s*+\(")
_KEYWORDS = frozenset(b"if for while switch return sizeof do else goto case defined typeof __typeof__ asm".split())


class Unit:
    """A file as the front end sees it.  Made by :func:`parse`."""

    def __init__(
        self,
        source: bytes,
        path: str,
        dialect: Dialect,
        macros: Sequence[Define] = (),
        keep: Collection[str] = (),
    ) -> None:
        self.path = path
        self.source = source
        self.dialect = dialect
        self.lines = ir.LineTable(source)
        self._not_analysed: list[NotAnalysed] = []
        if len(source) > MAX_SIZE:
            self._not_analysed.append(NotAnalysed(path, "", f"file larger than {MAX_SIZE >> 20} MiB"))
            source = b""
        lexed = lex(source)
        self._directives: tuple[Directive, ...] = lexed.directives
        self._groups: tuple[Group, ...] = groups(lexed.directives, len(lexed.shadow))
        self._outline: Outline = outline(lexed.shadow, self._groups)
        self._given = tuple(macros)
        self._keep = frozenset(keep)
        self._heads: dict[Head, tuple[Body, HeadText]] = {}
        self._functions: dict[Head, ir.Function] = {}
        for body in self._outline.bodies:
            self._add_head(body)
        self.heads: tuple[Head, ...] = tuple(self._heads)

    def _add_head(self, body: Body) -> None:
        text = read_head(self._outline.text, body.start, body.open, self.dialect)
        if not text.name:
            return
        config = config_of(decided(enclosing(self._groups, text.start))) if self._groups else ()
        line, end_line = self.file_line(text.start), self.file_line(body.end - 1)
        head = Head(text.name, line, end_line, text.start, body.end, text.static, True, config)
        self._heads[head] = (body, text)

    # -------------------------------------------------------------- questions

    @property
    def not_analysed(self) -> tuple[NotAnalysed, ...]:
        """What could not be read; a function is listed once it has been lowered."""
        return tuple(self._not_analysed)

    def file_line(self, pos: int) -> int:
        """Line of a byte offset in the real file."""
        return self.lines.line(pos)

    def calls(self, head: Head) -> frozenset[str]:
        """Words followed by ``(`` in a function's text, all ``#if`` branches included."""
        body, _ = self._heads[head]
        words = set(_CALLED.findall(self._outline.text, body.open, body.end))
        return frozenset(word.decode("latin-1") for word in words - _KEYWORDS)

    @cached_property
    def defines(self) -> tuple[Define, ...]:
        """Function-like macros of the file, in order."""
        found = (read_define(item) for item in self._directives if item.word == "define")
        return tuple(define for define in found if define is not None)

    @cached_property
    def _top(self) -> TopLevel:
        found = read_items(self.source, self._outline.text, self._outline.items, self.dialect)
        peeled = [span for _, text in self._heads.values() for span in text.peeled]
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

    @cached_property
    def includes(self) -> tuple[str, ...]:
        """Names of included files, with their quotes or angle brackets taken off."""
        found = (item.rest for item in self._directives if item.word == "include")
        return tuple(rest.split(">")[0].strip('<" ') for rest in found if rest[:1] in ("<", '"'))

    @cached_property
    def _macros(self) -> Macros:
        return Macros((*self._given, *self.defines), self.dialect, self._keep)

    # -------------------------------------------------------------- functions

    def function(self, head: Head) -> ir.Function:
        """Lower a function, all variants; the result is kept."""
        known = self._functions.get(head)
        if known is None:
            known = self._functions[head] = self._lower(head)
        return known

    def _lower(self, head: Head) -> ir.Function:
        body, text = self._heads[head]
        around = decided(enclosing(self._groups, body.open)) if self._groups else ()
        fixed = {atom.name: truth for atom, truth in around}
        first = bisect_left(self._groups, body.open, key=lambda group: group.start)
        last = bisect_left(self._groups, body.end, key=lambda group: group.start)
        arranged = arrange(self._outline.text, body.open, body.end, self._groups[first:last], fixed)
        variants = tuple(self._variant(head, body, arrangement) for arrangement in arranged.kept)
        if arranged.bound_hit:
            self._report(head, head.start, "more #if arrangements than are analysed")
        annotations = tuple((item.word, item.args) for item in text.annotations)
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
            annotations=annotations,
            variants=variants,
            whole=head.whole,
            bound_hit=arranged.bound_hit,
        )

    def _variant(self, head: Head, body: Body, arrangement: Arrangement) -> ir.Variant:
        base = body.open
        rewritten = rewrite(arrangement.text, self.dialect)
        parsed = parse_text(HEAD + rewritten.text, base - len(HEAD))
        if parsed.error >= 0:
            parsed = _repaired(rewritten.text, base) or parsed
        if parsed.error >= 0:
            self._report(head, parsed.error, f"cannot be read at line {self.file_line(parsed.error)}")
        marks = rewritten.marks
        context = Context(
            source=self.source,
            dialect=self.dialect,
            types={start + base: end + base for start, end in marks.types.items()},
            heads=frozenset(at + base for at in marks.heads),
            ranges=frozenset(at + base for at in marks.ranges),
            attributes=tuple(item._replace(pos=item.pos + base) for item in marks.attributes),
            enabled=arrangement.decided,
            macros=self._macros,
            tolerant=parsed.error >= 0,
        )
        lowering = Statements(context)
        definition = parsed.root[3][0] if parsed.root[3] else None
        if definition is None or definition[0] != "function_definition" or len(parsed.root[3]) > 1:
            return ir.Variant(arrangement.config, ir.Compound((ir.Broken(base, body.end),), base, body.end - 1))
        return ir.Variant(arrangement.config, lowering.compound(definition[3][-1]))

    def _report(self, head: Head, pos: int, reason: str) -> None:
        entry = NotAnalysed(self.path, head.name, reason, self.file_line(pos))
        if entry not in self._not_analysed:
            self._not_analysed.append(entry)


def _repaired(text: bytes, base: int) -> Parsed | None:
    """The tree of the first repair of a body that can be read, None when none can."""
    for other in repairs(text):
        if first_error(HEAD + other) < 0:
            return parse_text(HEAD + other, base - len(HEAD))
    return None


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
    return Unit(source, path, dialect or default_dialect(), macros, keep)
