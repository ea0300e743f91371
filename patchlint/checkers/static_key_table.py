"""The table of a tree's static keys: their changes, pairs, conditions and what is to be said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from patchlint.checkers.static_key_pairs import Pairing, pairings
from patchlint.checkers.static_key_sites import COUNTED, KeyFacts, KeyReader
from patchlint.checkers.static_key_state import is_boot, is_tool
from patchlint.checkers.tree_view import TreeView, all_pieces

_SAID: Final = {
    "none": "never decremented",
    "undo": "decremented on a failing path only",
    "differs": "conditions differ",
    "own state": "decremented by the key's own count",
    "cleared": "condition emptied before the decrement",
    "unknown": "paired, conditions not told apart",
    "remembered": "paired by a flag",
    "switch": "switched in one function",
    "same": "paired",
}
"""Verdicts, the gravest first; a key has that of its worst increment."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One key of the table."""

    facts: KeyFacts
    pairs: tuple[Pairing, ...]
    counted: bool
    verdict: str


def key_table(view: TreeView, paths: Sequence[str], reader: KeyReader) -> tuple[KeyRow, ...]:
    """Rows for all keys that the files at ``paths`` change, by name."""
    kernel = [path for path in paths if not is_tool(path)]
    keys = sorted({site.key for piece in all_pieces(view, kernel) for site in reader.sites(piece)})
    return tuple(_row(view, reader.facts(view, key)) for key in keys)


def _row(view: TreeView, facts: KeyFacts) -> KeyRow:
    counted = any(site.op in COUNTED for site in facts.sites)
    pairs = pairings(facts)
    return KeyRow(facts, pairs, counted, _counted(view, facts, pairs) if counted else _switched(facts))


def _counted(view: TreeView, facts: KeyFacts, pairs: tuple[Pairing, ...]) -> str:
    if not pairs:
        return "never incremented"
    if not facts.having("dec") and all(is_boot(view, pair.inc) for pair in pairs):
        return "once, while starting"
    worst = {pair.relation for pair in pairs}
    return next((text for relation, text in _SAID.items() if relation in worst), _SAID["none"])


def _switched(facts: KeyFacts) -> str:
    ops = sorted({site.op for site in facts.sites})
    return "switched both ways" if len(ops) > 1 else f"{''.join(ops)}d only"


def told_pairs(row: KeyRow) -> Iterator[tuple[str, str, str]]:
    """(increment's function, decrement's function or "", how they relate) of each pair."""
    for pair in row.pairs:
        yield pair.inc.function, pair.dec.function if pair.dec is not None else "", _SAID[pair.relation]
