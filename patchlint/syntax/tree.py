"""The only door to tree-sitter: parse a text and hand back a tree of plain tuples."""

from __future__ import annotations

import sys
from typing import NamedTuple, TypeAlias

import tree_sitter_c
from tree_sitter import Language, Node, Parser, TreeCursor

Tree: TypeAlias = "tuple[str, int, int, list[Tree]]"
"""(kind, start, end, children); tokens are children too, their kind is their text."""

MAX_DEPTH = 140
"""Deeper nodes are cut and count as errors, so that no reader of the tree recurses without bound."""

ERROR = "ERROR"

_LANGUAGE = Language(tree_sitter_c.language())
_KINDS = tuple(sys.intern(_LANGUAGE.node_kind_for_id(index) or "") for index in range(_LANGUAGE.node_kind_count))
_ERROR_ID = 65535
_LEAVES = frozenset(
    {"identifier", "number_literal", "string_literal", "char_literal", "field_identifier", "type_identifier",
     "primitive_type", "sized_type_specifier", "statement_identifier", "storage_class_specifier", "type_qualifier",
     "system_lib_string"}
)  # fmt: skip


class Parsed(NamedTuple):
    """A tree and the offset of the first thing that could not be read, -1 for none."""

    root: Tree
    error: int


_parser = Parser(_LANGUAGE)


def first_error(text: bytes) -> int:
    """Offset of the first thing in a text that the grammar cannot read, -1 for none."""
    root = _parser.parse(text).root_node
    return _first_error(root, text) if root.has_error else -1


def parse_text(text: bytes, base: int = 0) -> Parsed:
    """Parse C; offsets in the result are those in ``text`` plus ``base``."""
    root = _parser.parse(text).root_node
    error = _first_error(root, text) if root.has_error else -1
    builder = _Builder(root.walk(), base)
    tree = builder.build(0)
    if builder.cut >= 0 and error < 0:
        error = builder.cut
    return Parsed(tree, error + base if error >= 0 else -1)


class _Builder:
    """Copies what a cursor walks over.  A method per tree keeps the inner loop on local names."""

    __slots__ = ("base", "cursor", "cut")

    def __init__(self, cursor: TreeCursor, base: int) -> None:
        self.cursor = cursor
        self.base = base
        self.cut = -1

    def build(self, depth: int) -> Tree:
        cursor, base = self.cursor, self.base
        node = cursor.node
        assert node is not None
        number = node.kind_id
        kind = _KINDS[number] if number != _ERROR_ID else ERROR
        start = node.start_byte
        if depth > MAX_DEPTH:
            self.cut = start if self.cut < 0 else self.cut
            return (ERROR, start + base, node.end_byte + base, [])
        if kind in _LEAVES or not cursor.goto_first_child():
            end = node.end_byte
            missing = end == start and kind != ";" and kind != "translation_unit"
            return (ERROR if missing else kind, start + base, end + base, [])
        build, depth = self.build, depth + 1
        children = [build(depth)]
        while cursor.goto_next_sibling():
            children.append(build(depth))
        cursor.goto_parent()
        return (kind, start + base, node.end_byte + base, children)


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
