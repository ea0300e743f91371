"""Ways out of a function: which report failure, which alike, and how messages speak of them."""

from __future__ import annotations

from typing import Final

from patchlint.checkers.context import FunctionContext
from patchlint.dataflow import Exit
from patchlint.effects import NEG, POS, ZERO

_CLASS_NAMES: Final = {NEG: "an error", ZERO: "0", POS: "a positive value", NEG | POS: "non-zero"}


def is_error(ctx: FunctionContext, exit_: Exit) -> bool:
    """The exit reports failure: a negative value, no valid pointer, or what ``if (ret)`` told to be non-zero."""
    if ctx.function.return_pointer:
        return bool(exit_.mask) and exit_.mask & POS == 0
    if exit_.mask == NEG | POS:
        # What the caller passed in is no error number: ``return count``.
        return "bool" not in ctx.function.return_type and all(exit_.text != p.name for p in ctx.function.params)
    return exit_.mask == NEG


def alike(a: Exit, b: Exit) -> bool:
    """The two exits may leave with the same class of result."""
    return a.mask == b.mask or bool(a.mask & b.mask)


def fails_alike(exit_: Exit, ended: list[Exit]) -> bool:
    """The constant that is returned is what other paths return after undoing the same: ``return 1`` means failure."""
    return exit_.mask == POS and exit_.text.isdigit() and any(e.text == exit_.text for e in ended)


def leaving(exit_: Exit) -> str:
    """What the function does there, for messages."""
    if exit_.text:
        return f"returns {exit_.text}" + (f" ({_CLASS_NAMES[exit_.mask]})" if exit_.mask in (NEG,) else "")
    return "returns" if exit_.mask == 0 else "reaches its end"
