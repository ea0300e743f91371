"""Static keys over functions, files and patches: pairs, conditions, failing paths, contexts, declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from patchlint.checkers.static_key_change import lost_halves, lost_helpers, moved_conditions
from patchlint.checkers.static_key_context import wrong_contexts
from patchlint.checkers.static_key_declare import declarations, mixed, not_exported
from patchlint.checkers.static_key_paths import failing_paths
from patchlint.checkers.static_key_reach import other_releases
from patchlint.checkers.static_key_sites import KeyFacts, KeyReader, definitions_in
from patchlint.checkers.static_key_state import Known, forgotten, unequal, unpaired
from patchlint.checkers.tree_change import Changed, changed_functions, changed_outside, text_of
from patchlint.checkers.tree_fault import TreeFault, findings
from patchlint.checkers.tree_view import TreeView
from patchlint.model import Finding
from patchlint.ruleset import Ruleset

CHECKER: Final = "static_key"

_WORD: Final = re.compile(rb"\bstatic_(?:branch|key)_\w+")


def check_keys(
    before: TreeView | None, after: TreeView, ruleset: Ruleset, reader: KeyReader | None = None
) -> tuple[Finding, ...]:
    """Findings about the keys that differ between two states, or with no ``before`` about all keys of ``after``.

    ``before`` is the state that the series starts from, ``after`` any later one.  What ``before`` has as well is left
    out, so comparing ``before`` with itself finds nothing.
    """
    reader = reader or KeyReader()
    changes = tuple(changed_functions(before, after))
    keys = keys_of(before, after, changes, reader)
    now = findings(tuple(_after(before, after, changes, keys, ruleset, reader)), CHECKER, ruleset)
    if before is None:
        return now
    known = {found.key for found in findings(tuple(_before(before, keys, ruleset, reader)), CHECKER, ruleset)}
    return tuple(found for found in now if found.key not in known)


def _after(
    before: TreeView | None, after: TreeView, changes: tuple[Changed, ...], keys: tuple[str, ...], ruleset: Ruleset,
    reader: KeyReader,
) -> Iterator[TreeFault]:  # fmt: skip
    for path in after.touched:
        if changed_outside(before, after, path):
            yield from declarations(after, path)
    for key in keys:
        was = reader.facts(before, key) if before is not None else None
        yield from _of_key(was, reader.facts(after, key), before, after, ruleset)
    if before is not None:
        yield from lost_helpers(changes, before, after, reader)


def _before(before: TreeView, keys: tuple[str, ...], ruleset: Ruleset, reader: KeyReader) -> Iterator[TreeFault]:
    for path in before.touched:
        yield from declarations(before, path)
    for key in keys:
        yield from _of_key(None, reader.facts(before, key), None, before, ruleset)


def keys_of(
    before: TreeView | None, after: TreeView, changes: tuple[Changed, ...], reader: KeyReader
) -> tuple[str, ...]:
    """Keys that changed functions change, and keys defined in changed files."""
    found: dict[str, None] = {}
    for change in changes:
        for piece in (change.before, change.after):
            if piece is not None and _WORD.search(text_of(piece, change.name)):
                for site in reader.sites(piece):
                    if site.function == change.name:
                        found[site.key] = None
    for path in after.touched:
        if changed_outside(before, after, path):
            for piece in after.pieces(path):
                found.update((d.key, None) for d in definitions_in(piece))
    return tuple(found)


def _of_key(
    was: KeyFacts | None, now: KeyFacts, before: TreeView | None, after: TreeView, ruleset: Ruleset
) -> Iterator[TreeFault]:
    fresh = before is not None and bool(now.definitions) and was is not None and not was.definitions
    private = bool(now.definitions) and all(d.static for d in now.definitions) and _whole_file(after, now)
    known = Known(after.whole or fresh or private, fresh, _added(was, now))
    lost = list(lost_halves(was, now, after)) if was is not None else []
    yield from lost
    if not lost:
        yield from unpaired(after, now, known)
        yield from unequal(now)
        yield from forgotten(after, now)
        yield from other_releases(after, now)
    if was is not None:
        yield from moved_conditions(was, now)
    yield from failing_paths(after, now, known.complete)
    yield from wrong_contexts(after, now, ruleset)
    yield from mixed(now)
    yield from not_exported(after, now)


def _whole_file(view: TreeView, facts: KeyFacts) -> bool:
    """Whether the files that define the key are seen whole, not by hunks."""
    pieces = [piece for definition in facts.definitions for piece in view.pieces(definition.path)]
    return all(head.whole for piece in pieces for head in piece.unit.heads) and len(pieces) == len(facts.definitions)


def _added(was: KeyFacts | None, now: KeyFacts) -> frozenset[tuple[str, str]]:
    """Functions that increment the key and did not before."""
    if was is None:
        return frozenset()
    old = {(site.path, site.function) for site in was.having("inc")}
    return frozenset((site.path, site.function) for site in now.having("inc")) - old
