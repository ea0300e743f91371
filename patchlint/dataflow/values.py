"""Symbolic values: interned, so that a value is a small integer and equality is identity.

A value is described by a tuple whose first item is its kind:

``("c", n)`` an integer (NULL is 0) · ``("n", NAME)`` a named constant · ``("p", i)`` what parameter i held on entry ·
``("l", name)`` an uninitialised local · ``("s", site, generation)`` an unknown born at a place of the text ·
``("&l", name)``, ``("&g", name)`` the address of a local, of a global · ``("f", base, field)``, ``("e", base, index)``
the address of a field, of an element · ``("in", base, name)`` a pointer derived from ``base`` (container_of) ·
``("ld", address)`` what memory held on entry · ``("op", o, a, b)``, ``("neg", a)``, ``("not", a)``, ``("~", a)``
arithmetic · ``("perr0", a)`` the error in ``a``, or 0.

Of comparisons only ``==`` and ``<`` exist; the others are their negations or mirror images.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from patchlint.effects import ANY, NEG, POS, ZERO

Value = int
Key = tuple[Any, ...]

INTERIOR: Final = frozenset(("f", "e", "in"))
_POINTERS: Final = frozenset(("&l", "&g", "f", "e", "in", "str"))
_FIXED: Final = frozenset(("c", "n", "&l", "&g", "str"))
_NUMBERS: Final = frozenset(("c", "n", "neg"))
_FOLD: Final[dict[str, Callable[[int, int], int]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "==": lambda a, b: int(a == b),
    "<": lambda a, b: int(a < b),
}
_MAX_DEPTH: Final = 8


def class_of(number: int) -> int:
    """The result class of a constant."""
    return ZERO if number == 0 else NEG if number < 0 else POS


class Values:
    """The values of one exploration; grows only."""

    __slots__ = ("_ids", "_words", "depth", "leaves", "nodes", "root", "static", "users")

    def __init__(self) -> None:
        self.nodes: list[Key] = []
        self._ids: dict[Key, Value] = {}
        self.root: list[Value] = []
        """The value a pointer is derived from by fields, elements, offsets and container_of."""
        self.static: list[int] = []
        """Classes that a value may be in whatever the path."""
        self.depth: list[int] = []
        self.leaves: list[frozenset[Value]] = []
        """Unknowns that a value is made of; constants and addresses of variables do not count."""
        self.users: list[set[Value]] = []
        """The values that have a value among their leaves: what falls with it when its name is given to another."""
        self._words: dict[Value, frozenset[str]] = {}
        self.make("c", 0)
        self.make("c", 1)

    def make(self, *key: Any) -> Value:
        """The value described by ``key``."""
        known = self._ids.get(key)
        if known is not None:
            return known
        value = len(self.nodes)
        self._ids[key] = value
        self.nodes.append(key)
        self.root.append(self._root(key, value))
        self.static.append(self._static(key))
        inner = self.operands(key)
        self.depth.append(1 + max([self.depth[k] for k in inner]) if inner else 1)
        self.leaves.append(self._leaves(value, key[0], inner))
        self.users.append(set())
        for leaf in self.leaves[value]:
            self.users[leaf].add(value)
        return value

    def _root(self, key: Key, value: Value) -> Value:
        if key[0] in INTERIOR:
            return self.root[key[1]]
        if key[0] == "op" and key[1] in ("+", "-"):
            left, right = self.nodes[key[2]][0], self.nodes[key[3]][0]
            if left not in _NUMBERS and (key[1] == "+" or right in _NUMBERS):
                return self.root[key[2]]  # ``p + n``, should it be a pointer
            if key[1] == "+" and right not in _NUMBERS:
                return self.root[key[3]]
        return value

    @staticmethod
    def operands(key: Key) -> tuple[Value, ...]:
        """Values that a key is made of."""
        kind = key[0]
        if kind in ("f", "in", "ld", "neg", "not", "~", "perr0"):
            return (key[1],)
        if kind == "e":
            return (key[1], key[2])
        if kind == "op":
            return (key[2], key[3])
        return ()

    def _static(self, key: Key) -> int:
        kind = key[0]
        if kind == "c":
            return class_of(key[1])
        if kind in _POINTERS:
            return POS
        if kind == "neg" and self.nodes[key[1]][0] == "n":
            return NEG
        if kind == "not" or (kind == "op" and key[1] in ("==", "<")):
            return ZERO | POS
        if kind == "perr0":
            return NEG | ZERO
        return ANY

    def _leaves(self, value: Value, kind: str, inner: tuple[Value, ...]) -> frozenset[Value]:
        if not inner:
            return frozenset() if kind in _FIXED else frozenset((value,))
        first = self.leaves[inner[0]]
        return first if len(inner) == 1 else first | self.leaves[inner[1]]

    def is_truth(self, value: Value) -> bool:
        """Whether ``value`` is the outcome of a comparison or negation."""
        key = self.nodes[value]
        return key[0] == "not" or (key[0] == "op" and key[1] in ("==", "<"))

    def named_apart(self, a: Value, b: Value) -> bool:
        """Whether two values are constants with names of their own, or the negatives of such."""
        x, y = self.nodes[a], self.nodes[b]
        if x[0] == y[0] == "neg":
            x, y = self.nodes[x[1]], self.nodes[y[1]]
        return x[0] == y[0] == "n" and x != y and x[1].isidentifier() and y[1].isidentifier()

    def labelled(self, value: Value, label: Value) -> Value | None:
        """Whether ``value`` is that of a case's label; None as in ``binary``."""
        return 0 if self.named_apart(value, label) else self.binary("==", value, label)

    def constant(self, number: int) -> Value:
        """The integer ``number``."""
        return self.make("c", number)

    def binary(self, op: str, a: Value, b: Value) -> Value | None:
        """``a op b``, folded where both are integers; None when the value would grow without bound."""
        x, y = self.nodes[a], self.nodes[b]
        if op == "!=":
            return self.negation(self._require("==", a, b))
        if op == ">":
            return self.binary("<", b, a)
        if op == ">=":
            return self.negation(self._require("<", a, b))
        if op == "<=":
            return self.negation(self._require("<", b, a))
        if x[0] == "c" and y[0] == "c" and op in _FOLD:
            return self.constant(_FOLD[op](x[1], y[1]))
        if op == "==":
            if a == b:
                return 1
            if (x[0] in _NUMBERS, b) > (y[0] in _NUMBERS, a):
                a, b = b, a  # numbers and their names stand on the right
        if op == "<" and a == b:
            return 0
        if op in ("+", "-", "|") and b == 0:
            return a
        if self.depth[a] + self.depth[b] > _MAX_DEPTH:
            return None
        return self.make("op", op, a, b)

    def _require(self, op: str, a: Value, b: Value) -> Value:
        value = self.binary(op, a, b)
        return self.make("op", op, a, b) if value is None else value

    def negation(self, a: Value) -> Value:
        """``!a``."""
        key = self.nodes[a]
        if key[0] == "c":
            return 0 if key[1] else 1
        if key[0] == "not" and self.static[key[1]] & NEG == 0:
            return int(key[1])
        if self.static[a] & ZERO == 0:
            return 0
        return self.make("not", a)

    def words(self, value: Value) -> frozenset[str]:
        """Names of fields and variables in ``value``."""
        known = self._words.get(value)
        if known is None:
            key = self.nodes[value]
            own = key[2] if key[0] in ("f", "in") else key[1] if key[0] in ("l", "&l", "&g", "n") else None
            known = frozenset((own,) if own is not None else ()).union(*map(self.words, self.operands(key)))
            self._words[value] = known
        return known
