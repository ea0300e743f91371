"""Everything at file level that is no function: macro invocations, variables, operations tables, members."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from patchlint.syntax.brackets import ARGS
from patchlint.syntax.declarators import Declared, declarators, declared
from patchlint.syntax.dialect import Dialect
from patchlint.syntax.expressions import squeeze
from patchlint.syntax.heads import split_args
from patchlint.syntax.lexical import lex
from patchlint.syntax.outline import Item
from patchlint.syntax.rewrite import Attribute, rewrite
from patchlint.syntax.tree import Tree, parse_text
from patchlint.syntax.values import Entry, Field, Global, Table, TopMacro

_MACRO = re.compile(rb"\s*((?:static|extern)\s+)?([A-Za-z_]\w*)\s*(" + ARGS + rb")")
_SPACE = re.compile(rb"\s*+")
_NO_MACRO = frozenset(["if", "for", "while", "switch", "typedef", "sizeof", "return", "asm", "__asm__"])
_NO_FUNCTION = frozenset(["NULL", "THIS_MODULE", "true", "false"])
_WORDS = re.compile(r"\b(?:static|extern|register|typedef|inline|const|volatile)\b")


@dataclass(slots=True)
class TopLevel:
    """What the items of a file declare."""

    macros: list[TopMacro] = field(default_factory=list)
    globals: list[Global] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    """Offsets of the first error of items that the grammar rejects."""


def read_items(source: bytes, text: bytes, items: Sequence[Item], dialect: Dialect) -> TopLevel:
    """Read the items of an outline.  ``text`` is the outline's text of ``source``."""
    found = TopLevel()
    for item in items:
        start = _macros(source, text, item, dialect, found.macros)
        rest = text[start : item.end]
        if rest.strip(b"; \n\t") and not _is_prototype(rest):
            _ItemReader(source, rest, start, dialect, found).run()
    return found


def _is_prototype(text: bytes) -> bool:
    return text.rstrip(b"; \n\t").endswith(b")") and b"=" not in text and b"{" not in text


def _macros(source: bytes, text: bytes, item: Item, dialect: Dialect, found: list[TopMacro]) -> int:
    """Take the macro invocations off an item's front; returns where the rest begins."""
    at = item.start
    while (match := _MACRO.match(text, at, item.end)) is not None:
        word = match[2].decode("latin-1")
        if word in dialect.attribute_calls or word in _NO_MACRO:
            break
        behind = _SPACE.match(text, match.end(), item.end)
        end = behind.end() if behind is not None else item.end
        following = text[end : min(end + 1, item.end)]
        if following not in (b"", b";", b"=") and b"\n" not in text[match.end() : end]:
            break
        found.append(top_macro(source, match.start(2), match.end(), bool(match[1]) and b"static" in match[1]))
        at = end
        if following in (b";", b"="):
            return item.end
    return at


def top_macro(source: bytes, start: int, end: int, static: bool) -> TopMacro:
    """The macro invocation between two offsets; comments inside are gone."""
    call = source[start:end]
    opened = call.index(b"(")
    inside = call[opened + 1 : -1]
    shadow = lex(inside).shadow
    plain = inside if b'"' in inside else shadow
    args = split_args(plain.decode("utf-8", "replace"))
    return TopMacro(call[:opened].decode("latin-1").strip(), tuple(squeeze(arg) for arg in args), start, static)


class _ItemReader:
    """Reads one declaration or type definition."""

    def __init__(self, source: bytes, text: bytes, start: int, dialect: Dialect, found: TopLevel) -> None:
        rewritten = rewrite(text, dialect, listed=True)
        self.source = source
        self.found = found
        parsed = parse_text(rewritten.text, start)
        self.root = parsed.root
        if parsed.error >= 0:
            found.unread.append(parsed.error)
        self.attributes = [item._replace(pos=item.pos + start) for item in rewritten.marks.attributes]

    def run(self) -> None:
        for tree in self.root[3]:
            if tree[0] == "declaration":
                self._variables(tree)
            if self.attributes and tree[0] in ("declaration", "type_definition", "struct_specifier", "union_specifier"):
                self._members(tree, "")

    def _text(self, start: int, end: int) -> str:
        return self.source[start:end].decode("utf-8", "replace")

    def _variables(self, tree: Tree) -> None:
        found = declarators(tree)
        if not found:
            return
        storage = {self._text(child[1], child[2]) for child in tree[3] if child[0] == "storage_class_specifier"}
        kind = self._type(tree[1], found[0][1])
        words = tuple(item.word for item in self.attributes if not _inside_braces(tree, item.pos))
        for declarator in found:
            name = declared(declarator)
            if name is not None and not name.function:
                self._variable(name, kind, storage, words)

    def _variable(self, name: Declared, kind: str, storage: set[str], words: tuple[str, ...]) -> None:
        text = self._text(name.start, name.end)
        self.found.globals.append(
            Global(
                name=text,
                type=kind,
                static="static" in storage,
                extern="extern" in storage,
                attributes=words,
                pos=name.start,
                pointer=name.pointer,
                array=name.array,
                initialised=name.value is not None,
            )
        )
        if name.value is not None and name.value[0] == "initializer_list":
            self._table(kind, text, name.value, name.start)

    def _type(self, start: int, end: int) -> str:
        text = self.source[start:end]
        for item in self.attributes:
            if start <= item.pos < end:
                text = text.replace(item.word.encode(), b" " * len(item.word))
        plain = squeeze(_WORDS.sub("", lex(text).shadow.decode("utf-8", "replace")))
        return plain.split("{")[0].strip()

    def _table(self, kind: str, name: str, value: Tree, pos: int) -> None:
        entries = tuple(self._entries(value))
        if entries:
            self.found.tables.append(Table(kind, name, entries, pos))

    def _entries(self, tree: Tree) -> Iterator[Entry]:
        """``.field = function`` at any depth of an initialiser."""
        for child in tree[3]:
            if child[0] == "initializer_pair" and len(child[3]) > 1:
                value = _plain(child[3][-1])
                if value[0] == "identifier":
                    function = self._text(value[1], value[2])
                    designator = self._text(child[1], child[3][-2][1]).strip(" \t\n=.")
                    if function not in _NO_FUNCTION and not function.isupper() and not function[0].isdigit():
                        yield Entry(designator, function, value[1])
                    continue
            yield from self._entries(child)

    def _members(self, tree: Tree, struct: str) -> None:
        """Members of structures that carry attributes."""
        if tree[0] in ("struct_specifier", "union_specifier"):
            tags = [child for child in tree[3] if child[0] == "type_identifier"]
            struct = self._text(tags[0][1], tags[0][2]) if tags else struct
        for child in tree[3]:
            if child[0] == "field_declaration":
                self._member(child, struct)
            self._members(child, struct)

    def _member(self, tree: Tree, struct: str) -> None:
        found = [item for item in self.attributes if tree[1] <= item.pos < tree[2] and not _nested(tree, item)]
        if not found:
            return
        names = [name for child in tree[3] for name in _field_names(child)]
        for name in names:
            words = tuple(item.word for item in found)
            self.found.fields.append(Field(struct, self._text(name[1], name[2]), words, name[1]))


def _plain(tree: Tree) -> Tree:
    """The value without casts, brackets and address operators."""
    while tree[0] in ("cast_expression", "parenthesized_expression", "pointer_expression") and tree[3]:
        inner = [child for child in tree[3] if child[0] not in ("(", ")", "&", "type_descriptor")]
        if len(inner) != 1:
            break
        tree = inner[0]
    return tree


def _inside_braces(tree: Tree, pos: int) -> bool:
    """Whether an offset lies inside a structure's or initialiser's brackets."""
    if tree[0] in ("field_declaration_list", "initializer_list", "enumerator_list"):
        return tree[1] <= pos < tree[2]
    return any(child[1] <= pos < child[2] and _inside_braces(child, pos) for child in tree[3])


def _nested(tree: Tree, item: Attribute) -> bool:
    return any(_inside_braces(child, item.pos) for child in tree[3])


def _field_names(tree: Tree) -> Iterator[Tree]:
    """The declared names of a member, not those of structures inside it."""
    if tree[0] == "field_identifier":
        yield tree
    elif tree[0].endswith("declarator"):
        for child in tree[3]:
            yield from _field_names(child)
