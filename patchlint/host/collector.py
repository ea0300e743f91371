"""The collector of cycles, told to leave reviews alone."""

from __future__ import annotations

import gc


def collect_rarely() -> None:
    """Look for cycles rarely.

    A review makes a million small values that live to its end; going over them again and again costs a tenth of it.
    """
    gc.set_threshold(200_000, 50, 100)
