"""The only door to tree-sitter: parse a text and hand back a tree of plain tuples."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import tree_sitter_c
from tree_sitter import Language, Node, Parser, TreeCursor

Tree: TypeAlias = "tuple[str, int, int, Sequence[Tree]]"
"""(kind, start, end, children); tokens are children too, their kind is their text."""

MAX_DEPTH = 140
"""Deeper nodes are cut and count as errors, so that no reader of the tree recurses without bound."""

MAX_SECONDS = 5
"""The longest time one text is parsed: error recovery grows with the square of some texts; a function takes 0.1 ms."""
MAX_UNCHECKED = 32768
"""Bytes of a text that is parsed without a look at how deep its brackets nest."""
MAX_NESTING = 400
"""Open brackets in a longer text, beyond which it is not parsed: the parser's time would grow without bound."""

ERROR = "ERROR"
_BRACKET = re.compile(rb"[(\[{]|[)\]}]")

_LANGUAGE = Language(tree_sitter_c.language())
_KINDS = {index: sys.intern(_LANGUAGE.node_kind_for_id(index) or "") for index in range(_LANGUAGE.node_kind_count)}
_LEAF_KINDS = frozenset(
    {"identifier", "number_literal", "string_literal", "char_literal", "field_identifier", "type_identifier",
     "primitive_type", "sized_type_specifier", "statement_identifier", "storage_class_specifier", "type_qualifier",
     "system_lib_string", "true", "false", "null"}
)  # fmt: skip
_LEAVES = {
    index: kind for index, kind in _KINDS.items() if kind in _LEAF_KINDS or not _LANGUAGE.node_kind_is_named(index)
}
_PUNCTUATION: dict[int, Tree] = {
    index: (kind, 0, 0, ())
    for index, kind in _KINDS.items()
    if kind in ("(", ")", ",", ";", "{", "}", "[", "]", ".", "->")
}
"""Tokens whose place nobody asks for are shared; their offsets are 0."""


class Parsed(NamedTuple):
    """A tree and the offset of the first thing that could not be read, -1 for none."""

    root: Tree
    error: int


def _limited_parser() -> Parser:
    with warnings.catch_warnings():
        # What replaces it since 0.25, a callback, crashes the interpreter in 0.25.2.
        warnings.simplefilter("ignore", DeprecationWarning)
        return Parser(_LANGUAGE, timeout_micros=MAX_SECONDS * 1_000_000)


_parser = _limited_parser()


def first_error(text: bytes) -> int:
    """Offset of the first thing in a text that the grammar cannot read, -1 for none."""
    root = _root(text)
    if root is None:
        return 0
    return _first_error(root, text) if root.has_error else -1


def parse_text(text: bytes, base: int = 0) -> Parsed:
    """Parse C; offsets in the result are those in ``text`` plus ``base``.  An empty tree when it takes too long."""
    root = _root(text)
    if root is None:
        return Parsed(("translation_unit", base, base + len(text), ()), base)
    error = _first_error(root, text) if root.has_error else -1
    builder = _Builder(root.walk(), base, error >= 0)
    tree = builder.build(root, "translation_unit", 0)
    if builder.cut >= 0 and error < 0:
        error = builder.cut
    return Parsed(tree, error + base if error >= 0 else -1)


def _root(text: bytes) -> Node | None:
    if _is_endless(text):
        return None
    try:
        return _parser.parse(text).root_node
    except ValueError:
        _parser.reset()
        return None


def _is_endless(text: bytes) -> bool:
    if len(text) <= MAX_UNCHECKED:
        return False
    depth = 0
    for match in _BRACKET.finditer(text):
        depth += 1 if match[0] in b"([{" else -1
        if depth > MAX_NESTING:
            return True
    return False


class _Builder:
    """Copies what a cursor walks over.  Four in five nodes are tokens or leaves: they are taken without a call."""

    __slots__ = ("base", "cursor", "cut", "shared")

    def __init__(self, cursor: TreeCursor, base: int, broken: bool) -> None:
        self.cursor = cursor
        self.base = base
        self.cut = -1
        self.shared: dict[int, Tree] = {} if broken else _PUNCTUATION

    def build(self, node: Node, kind: str, depth: int) -> Tree:
        """The tree below the node that the cursor is on."""
        cursor, base, shared = self.cursor, self.base, self.shared
        start, end = node.start_byte, node.end_byte
        children: list[Tree] = []
        if depth > MAX_DEPTH:
            self.cut = start if self.cut < 0 else self.cut
            return (ERROR, start + base, end + base, children)
        if not cursor.goto_first_child():
            return (kind, start + base, end + base, children)
        while True:
            child = cursor.node
            assert child is not None
            number = child.kind_id
            if (token := shared.get(number)) is not None:
                children.append(token)
            elif (leaf := _LEAVES.get(number)) is not None:
                first, last = child.start_byte, child.end_byte
                missing = first == last and leaf != ";"
                children.append((ERROR if missing else leaf, first + base, last + base, ()))
            else:
                children.append(self.build(child, _KINDS.get(number, ERROR), depth + 1))
            if not cursor.goto_next_sibling():
                break
        cursor.goto_parent()
        return (kind, start + base, end + base, children)


def _first_error(root: Node, text: bytes) -> int:
    """Offset of the first error; a ``;`` missing before ``}`` is none (labels, macros that bring their own)."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error or (node.is_missing and not _ends_block(node, text)):
            return node.start_byte
        stack.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)
    return -1


def _ends_block(node: Node, text: bytes) -> bool:
    return node.type == ";" and text[node.start_byte :].lstrip()[:1] == b"}"
