"""Partial rerolls: a new version of some patches, sent into the old version's thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from patchlint.model import Patch, Problem, Series
from patchlint.series.patch import ID


def fill_holes(series: Series, older: Sequence[Series]) -> Series:
    """Fill what a partial reroll left out from the newest older version that has it, and say so.

    Only a version without a cover whose patches answer mails of that older version is a
    partial reroll; in any other the holes are patches that went missing.
    """
    if not series.missing or series.cover:
        return series
    for old in reversed(older):
        if old.total == series.total and _answers(series, old):
            return _filled(series, old)
    return series


def _answers(series: Series, old: Series) -> bool:
    ids = {p.message_id for p in old.patches} | {old.cover_message_id}
    ids.discard("")
    return all(ids & _references(p) for p in series.patches)


def _references(patch: Patch) -> set[str]:
    found: set[str] = set()
    for name, value in patch.headers:
        if name in ("in-reply-to", "references"):
            found.update(ID.findall(value))
    return found


def _filled(series: Series, old: Series) -> Series:
    taken = [p for p in old.patches if p.n in series.missing]
    if not taken:
        return series
    numbers = {p.n for p in taken}
    notes = tuple(
        Problem(
            "SER001", f"patch {p.n}/{series.total} is taken from {old.version}: {series.version} was sent in part",
            p.source, p.line, severity="note",
        )
        for p in taken
    )  # fmt: skip
    missing = tuple(n for n in series.missing if n not in numbers)
    # The hole's own problem no longer holds where all of it is filled.
    kept = tuple(p for p in series.problems if missing or "missing" not in p.message)
    patches = tuple(sorted((*series.patches, *taken), key=lambda p: p.n))
    return replace(
        series, patches=patches, missing=missing, problems=kept + notes,
        announced=series.announced or old.announced, base_commit=series.base_commit or old.base_commit,
    )  # fmt: skip
