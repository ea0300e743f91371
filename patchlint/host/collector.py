"""The collector of cycles, told to leave reviews alone."""

from __future__ import annotations

import gc


def collect_rarely() -> None:
    """Look for cycles rarely.

    A review makes a million small values that live to its end; going over them again and again costs a tenth of it.
    Twice is enough: what outlived one look is looked at once more, so that paths walked long ago do not pile up.
    """
    gc.set_threshold(200_000, 5, 100)


def collect_all() -> None:
    """Give back what was dropped just now, which refers to itself in circles: rarely is not soon enough for it."""
    gc.collect()
