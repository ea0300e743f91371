"""Versions of one series: which belong together, which is the newest, which is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from patchlint.model import PatchlintError, Series
from patchlint.series.subject import parse_version, version_text
from patchlint.series.threads import ADDRESS

MAX_HOMES = 20
"""Groups with one title that are looked at; more are postings of one patch over and over."""


def choose(series: Sequence[Series], revision: str | None) -> tuple[Series, ...]:
    """Of each series the newest version, or the one that ``revision`` ("v2", "2.1") names.

    Series that have no such version are left out.  Raises :class:`PatchlintError` when
    ``revision`` is no version or no series has it.
    """
    groups = lineages(series)
    if revision is None:
        return tuple(max(versions, key=rank) for versions in groups)
    asked = parse_version(revision)
    if asked is None:
        raise PatchlintError(f"--revision {revision}: not a version such as v2")
    found = [[s for s in versions if parse_version(s.version) == asked] for versions in groups]
    chosen = tuple(max(versions, key=rank) for versions in found if versions)
    if not chosen:
        there = ", ".join(dict.fromkeys(s.version for s in series)) or "no series"
        raise PatchlintError(f"--revision {version_text(asked)}: not in the input, which has {there}")
    return chosen


def rank(series: Series) -> tuple[bool, tuple[int, ...], bool]:
    """Sort key of a version within its lineage: an RFC of any version comes before a plain posting."""
    words = series.prefix.upper().split()
    plain = not any("RFC" in word for word in words)
    return plain, parse_version(series.version) or (1,), "RESEND" in words


def lineages(series: Sequence[Series]) -> list[list[Series]]:
    """Group the versions of each series: same author, and the same title or half of the patches in common."""
    groups: list[list[Series]] = []
    # Groups by a title that they have, so that a mailbox of thousands of series is not compared pair by pair.
    homes: dict[str, list[int]] = {}
    for one in series:
        titles = {_plain(one.subject), *_titles(one)}
        near = sorted({i for title in titles for i in homes.get(title, ())[-MAX_HOMES:]})
        home = next((i for i in near if _belongs(one, groups[i])), None)
        if home is None:
            home = len(groups)
            groups.append([])
        groups[home].append(one)
        for title in titles:
            if home not in homes.setdefault(title, [])[-MAX_HOMES:]:
                homes[title].append(home)
    return groups


def _belongs(one: Series, group: Sequence[Series]) -> bool:
    # Two postings of the same version are two series, whatever their titles: none may hide the other.
    if any(rank(one) == rank(other) and one.prefix == other.prefix for other in group):
        return False
    return any(_related(one, other) for other in group)


def _related(one: Series, other: Series) -> bool:
    if _address(one) != _address(other):
        return False
    if _plain(one.subject) == _plain(other.subject):
        return True
    first, second = _titles(one), _titles(other)
    return 2 * len(first & second) >= max(1, min(len(first), len(second)))


def _address(series: Series) -> str:
    match = ADDRESS.search(series.author)
    return (match[1] if match is not None else series.author).strip().lower()


def _titles(series: Series) -> set[str]:
    """Titles of the patches, those that are missing but announced included."""
    return {_plain(t) for t in (*series.announced, *(p.subject for p in series.patches))}


def _plain(title: str) -> str:
    return " ".join(title.split()).lower()
