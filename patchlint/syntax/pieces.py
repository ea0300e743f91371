"""Reading the cut pieces of hunks: whether one is part of a function, and its statements."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, NamedTuple

from patchlint import ir
from patchlint.syntax.dialect import Dialect
from patchlint.syntax.expressions import MacroTable
from patchlint.syntax.fragments import CUT, Piece, Wrapped, other_wrappings, wrappings
from patchlint.syntax.lexical import BLANK
from patchlint.syntax.lower import HEAD, context_of
from patchlint.syntax.repair import repair
from patchlint.syntax.rewrite import Marks, Rewritten, rewrite
from patchlint.syntax.statements import Statements
from patchlint.syntax.tree import first_error, parse_text
from patchlint.syntax.variants import Arrangement

MAX_WAYS = 25
"""Wrappings that are tried."""
MAX_PIECE = 16384
"""Bytes of the longest piece for which more than the likeliest wrapping is tried."""
REPAIRED = 4
"""Wrappings whose errors are tried to be repaired."""


class Reading(NamedTuple):
    """One way to read a piece: the wrapped text, rewritten, and where its first error is (-1 for none)."""

    wrapped: Wrapped
    rewritten: Rewritten
    error: int

    @property
    def before(self) -> bytes:
        """What stands before the piece's text."""
        return HEAD + self.wrapped.before.encode()

    @property
    def text(self) -> bytes:
        """The whole text to parse."""
        return self.before + self.rewritten.text + self.wrapped.after.encode()


def read_body(text: bytes, above: bool, below: bool, dialect: Dialect) -> Reading:
    """The first way to read a piece as part of a function that is free of errors, else the likeliest."""
    found: list[Reading] = []
    for wrapped in islice(wrappings(text, above, below), MAX_WAYS if len(text) < MAX_PIECE else 1):
        reading = _read(Reading(wrapped, rewrite(wrapped.text, dialect), -1))
        if reading.error < 0:
            return reading
        found.append(reading)
    for reading in found[: REPAIRED if len(text) < MAX_PIECE else 0]:
        before, after = reading.before, reading.wrapped.after.encode()
        other = repair(reading.rewritten.text, dialect, lambda body: first_error(before + body + after))  # noqa: B023
        if other is not None:
            reading.rewritten.marks.heads.update(other.heads)
            return reading._replace(rewritten=Rewritten(other.text, reading.rewritten.marks), error=-1)
    return found[0] if found else Reading(Wrapped("{", text.translate(BLANK), "}", 0, 0), Rewritten(b"", Marks()), 0)


def _read(reading: Reading) -> Reading:
    error = first_error(reading.text)
    return reading._replace(error=max(0, error - len(reading.before)) if error >= 0 else -1)


def is_other(text: bytes, above: bool, below: bool, dialect: Dialect) -> bool:
    """Whether a piece reads without errors as something that is no function."""
    for before, kept, after in islice(other_wrappings(text, above, below), MAX_WAYS if len(text) < MAX_PIECE else 4):
        if first_error(before + rewrite(kept, dialect).text + after) < 0:
            return True
    return False


def lower_piece(
    piece: Piece,
    arrangement: Arrangement,
    source: bytes,
    dialect: Dialect,
    macros: MacroTable,
) -> tuple[ir.Variant, int]:
    """Lower one arrangement of a piece; also the offset of the first error, -1 for none."""
    start = piece.open if piece.open >= 0 else piece.start
    reading = read_body(arrangement.text, piece.above, piece.below, dialect)
    before = reading.before
    parsed = parse_text(reading.text)
    image = before + source[start : piece.end] + reading.wrapped.after.encode()
    marks = reading.rewritten.marks
    context = context_of(image, marks, len(before), arrangement, dialect, macros, reading.error >= 0)
    definition = parsed.root[3][0] if len(parsed.root[3]) == 1 else None
    low, high = start, piece.end
    if definition is None or definition[0] != "function_definition":
        body = ir.Compound((ir.Broken(low, high),), low, high)
    else:
        compound = Statements(context).compound(definition[3][-1])
        body = _Placer(start - len(before), low, high).place(compound)
    return ir.Variant(arrangement.config, _edges(body, piece, reading.wrapped, start)), (
        reading.error + start if reading.error >= 0 else -1
    )


def _edges(body: ir.Compound, piece: Piece, wrapped: Wrapped, start: int) -> ir.Compound:
    """Mark what is missing above, and what was left out at both ends."""
    statements = list(body.body)
    if piece.above:
        statements.insert(0, ir.Broken(start, start + wrapped.low))
    return ir.Compound(tuple(statements), body.pos, body.end)


class _Placer:
    """Moves nodes from the wrapped text to the image, and turns the cut marker into what it means."""

    def __init__(self, by: int, low: int, high: int) -> None:
        self.by = by
        self.low = low
        self.high = high

    def place(self, body: ir.Compound) -> ir.Compound:
        moved = self._move(body)
        assert isinstance(moved, ir.Compound)
        return moved

    def _at(self, pos: int) -> int:
        return min(max(pos + self.by, self.low), self.high)

    def _move(self, node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(self._move(item) for item in node)
        if isinstance(node, ir.Evaluate) and isinstance(node.expr, ir.Name) and node.expr.id == CUT:
            return ir.Broken(self._at(node.pos), self._at(node.pos))
        if isinstance(node, ir.Name) and node.id == CUT:
            return ir.Opaque((), self._at(node.pos))
        if not is_dataclass(node) or isinstance(node, type):
            return node
        values = {item.name: getattr(node, item.name) for item in fields(node)}
        return type(node)(
            **{name: self._at(value) if name in ("pos", "end") else self._move(value) for name, value in values.items()}
        )
