"""What numbers and constants say of sums and comparisons: a counter that went up from 0 is above it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from patchlint.dataflow.values import Value, Values
from patchlint.effects import ANY, NEG, POS, ZERO
from patchlint.ir import Binary, Expr, Name

_OLD: Final = frozenset(("p", "&l", "&g", "ld", "l"))
"""Kinds of value that were there before the function made anything."""
_ORDERS: Final = {"<": (False, False), ">": (True, False), "<=": (True, True), ">=": (False, True)}
"""How a comparison is told by "less than": whether its sides change places, and whether it is the opposite."""


def moved(op: str, old: int, by: int) -> int:
    """Classes of what ``++``, ``--``, ``+=`` and ``-=`` make of a number, from its own and those of the step."""
    if "-" in op:
        return ZERO | POS if old == POS and op != "-=" else ANY
    if (old | by) & NEG:
        return ANY
    return (ZERO if old & by & ZERO else 0) | (POS if (old | by) & POS else 0)


def compared(op: str, left: int, right: int) -> bool | None:
    """Whether ``left op right`` holds, from the classes of the two; None when they do not tell."""
    if op not in _ORDERS:
        return None
    mirrored, opposite = _ORDERS[op]
    less = _less(right, left) if mirrored else _less(left, right)
    return None if less is None else less != opposite


def apart(values: Values, expr: Binary, left: Value, right: Value, made: AbstractSet[Value]) -> bool:
    """Whether the sides of ``expr`` surely differ: memory that was just ``made`` is nothing that was there before.

    What was set to one constant is no other.  How two constants compare that stand there the configuration decides.
    """
    if values.named_apart(left, right):
        return not (_is_constant(expr.left) and _is_constant(expr.right))
    return any(new in made and values.nodes[other][0] in _OLD for new, other in ((left, right), (right, left)))


def _is_constant(expr: Expr) -> bool:
    return isinstance(expr, Name) and expr.id.isupper()


def _less(left: int, right: int) -> bool | None:
    if (not left & POS and right == POS) or (left == NEG and not right & NEG):
        return True
    if (not left & NEG and not right & POS) or (left == POS and right == NEG):
        return False
    return None
