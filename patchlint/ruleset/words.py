"""The words of the model files, and what they mean as values of ``effects``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from patchlint.effects import ANY, NEG, POS, ZERO, Place

CLASSES: Mapping[str, int] = {"negative": NEG, "zero": ZERO, "positive": POS}
"""Names of the result classes for an explicit ``result = [...]``."""


class When(NamedTuple):
    """A condition on a result: the classes it may be in at all, and those in which the effect happens."""

    result: int
    holds: int


WHEN: Mapping[str, When] = {
    "always": When(ANY, ANY),
    "nonnull": When(ZERO | POS, POS),
    "valid": When(NEG | POS, POS),
    "valid_or_null": When(ANY, POS),
    "null": When(ZERO | POS, ZERO),
    "zero": When(NEG | ZERO, ZERO),
    "clear": When(ZERO | POS, ZERO),
    "true": When(ZERO | POS, POS),
    "nonneg": When(ANY, ZERO | POS),
    "positive": When(ANY, POS),
    "negative": When(NEG | ZERO, NEG),
    "nonzero": When(ANY, NEG | POS),
    "not_positive": When(ANY, NEG | ZERO),
}
"""``when`` words. nonnull: pointer that is never an ERR_PTR. valid: valid pointer or ERR_PTR, never NULL.
valid_or_null: all three, held when valid. zero: 0 or negative errno. clear: 0 is success, positive is failure.
true: non-zero of a bool or count. nonneg: errno or a number from 0."""

_PLACE = re.compile(r"(?P<star>\*?)(?P<root>arg(?P<number>[1-9])|result|global)(?:->(?P<path>[A-Za-z_][\w.]*))?")


def place(text: str) -> Place | None:
    """``argN`` (from 1), ``*argN`` (what it points to), ``argN->field``, ``result``, ``global``; else None."""
    match = _PLACE.fullmatch(text)
    if match is None:
        return None
    path = match["path"] or ""
    deref = bool(match["star"]) or bool(path)
    if match["number"]:
        return Place("arg", int(match["number"]) - 1, deref, path)
    if match["star"]:
        return None
    return Place("result", 0, deref, path) if match["root"] == "result" else Place("global")


def argument(text: str) -> int | None:
    """``argN`` as an index from 0; ``none`` and ``global`` are -1, ``result`` is -2; None when none of it."""
    if text in ("none", "global"):
        return -1
    if text == "result":
        return -2
    match = re.fullmatch(r"arg([1-9])", text)
    return int(match[1]) - 1 if match else None
