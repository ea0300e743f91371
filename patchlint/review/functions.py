"""Which functions a patch changes, and which function after it is which before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from patchlint.review.timeline import FileChange, View
from patchlint.syntax import Head

_SIMILAR = 0.6
"""Share of equal lines from which a function that vanished and one that appeared are one that was renamed or moved."""
_MOST_COMPARISONS = 400
_FEWEST_LINES = 4
"""Shorter bodies look alike by accident."""


class Site(NamedTuple):
    """A function in one view of its file."""

    view: View
    head: Head

    @property
    def text(self) -> bytes:
        """The function's source text."""
        return self.view.source[self.head.start : self.head.end]

    @property
    def place(self) -> tuple[str, str]:
        """Path and name."""
        return self.view.path, self.head.name


class Pair(NamedTuple):
    """One function before and after a patch; a side is None where it does not exist."""

    before: Site | None
    after: Site | None


def changed_functions(changes: Sequence[FileChange]) -> tuple[Pair, ...]:
    """The functions whose text one patch changes, renames and moves between its files paired by their bodies."""
    pairs = [pair for change in changes for pair in _pair_by_name(change)]
    gone = [pair.before for pair in pairs if pair.after is None and pair.before is not None]
    come = [pair.after for pair in pairs if pair.before is None and pair.after is not None]
    moved = _match_by_body(gone, come)
    taken = {id(site) for pair in moved for site in pair}
    kept = [pair for pair in pairs if id(pair.before or pair.after) not in taken]
    return (*kept, *(pair for pair in moved if not _same_text(pair)))


def _pair_by_name(change: FileChange) -> Iterable[Pair]:
    before, after = _sites(change.before), _sites(change.after)
    for key in dict.fromkeys((*after, *before)):
        pair = Pair(before.get(key), after.get(key))
        if not _same_text(pair):
            yield pair


def _sites(view: View | None) -> dict[tuple[str, int], Site]:
    """Functions by name and count (one name may be defined again under another ``#if``)."""
    found: dict[tuple[str, int], Site] = {}
    seen: Counter[str] = Counter()
    for head in view.unit.heads if view is not None else ():
        assert view is not None
        found[head.name, seen[head.name]] = Site(view, head)
        seen[head.name] += 1
    return found


def _same_text(pair: Pair) -> bool:
    return pair.before is not None and pair.after is not None and pair.before.text == pair.after.text


def _match_by_body(gone: Sequence[Site], come: Sequence[Site]) -> list[Pair]:
    """Each vanished function with the appeared one that is most like it, the best matches first."""
    if not gone or not come or len(gone) * len(come) > _MOST_COMPARISONS:
        return []
    rated = [(_likeness(old, new), i, j) for i, old in enumerate(gone) for j, new in enumerate(come)]
    pairs: list[Pair] = []
    used_old: set[int] = set()
    used_new: set[int] = set()
    for likeness, i, j in sorted(rated, reverse=True):
        if likeness < _SIMILAR:
            break
        if i not in used_old and j not in used_new:
            used_old.add(i)
            used_new.add(j)
            pairs.append(Pair(gone[i], come[j]))
    return pairs


def _likeness(old: Site, new: Site) -> float:
    lines_old, lines_new = _body_lines(old), _body_lines(new)
    if min(len(lines_old), len(lines_new)) < _FEWEST_LINES:
        return 0.0
    matcher = SequenceMatcher(None, lines_old, lines_new, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _SIMILAR else 0.0


def _body_lines(site: Site) -> list[bytes]:
    """Lines from the opening brace on, without white space at the ends, empty ones dropped."""
    _, _, body = site.text.partition(b"{")
    return [line.strip() for line in body.split(b"\n") if line.strip()]
