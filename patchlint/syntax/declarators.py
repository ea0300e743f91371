"""Declarators: the name inside ``*(*name[3])(int) = value`` and what is said around it."""

from __future__ import annotations

from typing import NamedTuple

from patchlint.syntax.tree import Tree

DECLARATORS = frozenset(
    {"identifier", "pointer_declarator", "array_declarator", "function_declarator", "init_declarator",
     "parenthesized_declarator", "attributed_declarator"}
)  # fmt: skip


class Declared(NamedTuple):
    """A declared name: extent, stars, whether it is an array or a function, and its initial value's tree."""

    start: int
    end: int
    pointer: int
    array: bool
    function: bool
    value: Tree | None


def declarators(tree: Tree) -> list[Tree]:
    """The declarators of a declaration, in order."""
    return [child for child in tree[3] if child[0] in DECLARATORS]


def declared(tree: Tree) -> Declared | None:
    """Read one declarator; None where no name stands in it."""
    value: Tree | None = None
    if tree[0] == "init_declarator":
        value, tree = tree[3][-1], tree[3][0]
    pointer, array, function = 0, False, False
    while tree[0] != "identifier":
        if tree[0] == "pointer_declarator":
            pointer, function = pointer + 1, False
        array = array or tree[0] == "array_declarator"
        function = function or tree[0] == "function_declarator"
        inside = declarators(tree)
        if not inside:
            return None
        tree = inside[0]
    return Declared(tree[1], tree[2], pointer, array, function, value)
