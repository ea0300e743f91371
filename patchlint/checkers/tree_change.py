"""Which functions differ between two states of the tree, and which calls they lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from patchlint.checkers.tree_fault import TreeFault, findings
from patchlint.checkers.tree_view import Piece, TreeView
from patchlint.model import Finding
from patchlint.ruleset import Ruleset
from patchlint.syntax import Head

_CALLED: Final = re.compile(rb"\b([A-Za-z_]\w*)[ \t]*\(")


Check: TypeAlias = Callable[[TreeView, Piece, Head], Iterator[TreeFault]]
"""Faults of one function in one state."""


class Changed(NamedTuple):
    """A function that is new, gone or different. None where it does not exist."""

    path: str
    name: str
    before: Piece | None
    after: Piece | None


def changed_functions(before: TreeView | None, after: TreeView) -> Iterator[Changed]:
    """Functions of the touched files whose text differs; with no state before, all of them."""
    paths = dict.fromkeys((*(before.touched if before is not None else ()), *after.touched))
    for path in paths:
        old = _texts(before, path) if before is not None else {}
        new = _texts(after, path)
        for name in dict.fromkeys((*old, *new)):
            was, now = old.get(name), new.get(name)
            if was is None or now is None or was[1] != now[1]:
                yield Changed(path, name, was and was[0], now and now[0])


def new_findings(
    before: TreeView | None, after: TreeView, check: Check, checker: str, ruleset: Ruleset, kind: str = ""
) -> tuple[Finding, ...]:
    """Findings in the functions that differ between two states, or with no ``before`` in all of ``after``.

    What ``before`` has as well is left out.
    """

    def found(view: TreeView, places: list[tuple[Piece, str]]) -> tuple[Finding, ...]:
        heads = ((piece, head) for piece, name in places for head in piece.unit.heads if head.name == name)
        faults = (fault for piece, head in heads for fault in check(view, piece, head))
        return findings(tuple(faults), checker, ruleset, kind)

    changes = tuple(changed_functions(before, after))
    now = found(after, [(one.after, one.name) for one in changes if one.after is not None])
    if before is None or not now:
        return now
    known = {one.key for one in found(before, [(one.before, one.name) for one in changes if one.before is not None])}
    return tuple(one for one in now if one.key not in known)


def changed_outside(before: TreeView | None, after: TreeView, path: str) -> bool:
    """Whether the file-level text (all but the functions) differs."""
    return before is None or _outside(before, path) != _outside(after, path)


def dropped_calls(change: Changed) -> frozenset[str]:
    """Names that the function calls less often than before; () unless it exists in both states."""
    if change.before is None or change.after is None:
        return frozenset()
    was, now = _called(change.before, change.name), _called(change.after, change.name)
    return frozenset(name for name, count in was.items() if count > now[name])


def added_calls(change: Changed) -> frozenset[str]:
    """Names that the function calls more often than before."""
    now = _called(change.after, change.name) if change.after is not None else Counter()
    was = _called(change.before, change.name) if change.before is not None else Counter()
    return frozenset(name for name, count in now.items() if count > was[name])


def text_of(piece: Piece, name: str) -> bytes:
    """The text of a function of this name, with all its definitions one after the other."""
    return b"\n".join(piece.unit.source[h.start : h.end] for h in piece.unit.heads if h.name == name)


def _texts(view: TreeView, path: str) -> dict[str, tuple[Piece, bytes]]:
    found: dict[str, tuple[Piece, bytes]] = {}
    for piece in view.pieces(path):
        for head in piece.unit.heads:
            found.setdefault(head.name, (piece, text_of(piece, head.name)))
    return found


def _outside(view: TreeView, path: str) -> bytes:
    parts = []
    for piece in view.pieces(path):
        at = 0
        for head in piece.unit.heads:
            parts.append(piece.unit.source[at : head.start])
            at = head.end
        parts.append(piece.unit.source[at:])
    return b"".join(parts)


def _called(piece: Piece, name: str) -> Counter[str]:
    return Counter(word.decode("ascii", "replace") for word in _CALLED.findall(text_of(piece, name)))
