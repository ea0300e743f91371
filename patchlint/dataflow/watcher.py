"""Who is told what the machine does."""

from __future__ import annotations

from typing import Protocol

from patchlint.dataflow.state import Hold, State
from patchlint.dataflow.values import Value
from patchlint.ir import Call, Expr


class Watcher(Protocol):
    """Who applies calls and is told of stores and uses (see ``calls``)."""

    def call(self, st: State, expr: Call) -> Value:
        """Apply a call; its result."""

    def place(self, st: State, expr: Call) -> Value:
        """The address that a call used as an lvalue stands for."""

    def by_value(self, st: State, expr: Expr) -> Value:
        """What is about to be given away or stored: its value, or the address of a whole structure."""

    def stored(self, st: State, value: Value, pos: int, *, local: bool, text: str = "") -> None:
        """``value`` was put into memory; ``local`` when that is this function's own."""

    def cleared(self, st: State, value: Value) -> None:
        """The place that ``value`` was in got NULL instead."""

    def used(self, st: State, value: Value, expr: Expr, pos: int, what: str) -> None:
        """``value`` was followed."""

    def is_new(self, hold: Hold) -> bool:
        """Whether what is held was made in this function."""
