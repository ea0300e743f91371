"""Cached routes over functions, files and patches: cookies, checks, references, sections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from patchlint.checkers.dst_attach import borrowed, freed_counted, noref_outside, overwritten
from patchlint.checkers.dst_cookie import (
    cached_without_cookie,
    lost_cookies,
    unstored_cookies,
    zero_cookies,
    zero_parameter,
)
from patchlint.checkers.dst_use import ignored_checks, stale_uses
from patchlint.checkers.dst_words import DstWords, dst_words
from patchlint.checkers.evaluated import nodes_in
from patchlint.checkers.noref import NorefPair, outliving, pairs_of
from patchlint.checkers.standing import Standing, standing
from patchlint.checkers.tree_change import Changed, changed_functions
from patchlint.checkers.tree_fault import TreeFault, findings
from patchlint.checkers.tree_view import Piece, TreeView, all_pieces
from patchlint.ir import Member, Name
from patchlint.model import Finding
from patchlint.ruleset import Models, Ruleset

CHECKER: Final = "dst"

_WORD: Final = re.compile(
    rb"dst_check|metadata_dst_free|ops->check|_dst_set|_noref|dst_cookie|rx_dst|tx_dst|dst_cache|get_cookie"
)


def check_dst(before: TreeView | None, after: TreeView, ruleset: Ruleset) -> tuple[Finding, ...]:
    """Findings in the functions that differ between two states, or with no ``before`` in all of ``after``.

    What ``before`` has as well is left out.
    """
    now = findings(tuple(_faults(before, after, ruleset)), CHECKER, ruleset)
    if before is None:
        return now
    known = {found.key for found in findings(tuple(_before(before, after, ruleset)), CHECKER, ruleset)}
    return tuple(found for found in now if found.key not in known)


def _faults(before: TreeView | None, after: TreeView, ruleset: Ruleset) -> Iterator[TreeFault]:
    known = _known(after, ruleset)
    for change in changed_functions(before, after):
        if change.after is not None:
            lost = tuple(_lost(before, after, change, known.words))
            yield from lost
            told = {fault.fault for fault in lost}
            found = _of_function(after, change.after, change.name, known)
            yield from (fault for fault in found if fault.fault not in told)


def _before(before: TreeView, after: TreeView, ruleset: Ruleset) -> Iterator[TreeFault]:
    known = _known(before, ruleset)
    for change in changed_functions(before, after):
        if change.before is not None:
            yield from _of_function(before, change.before, change.name, known)


class _Known(NamedTuple):
    """What calls do: by the models, and by the helpers that the touched files define."""

    words: DstWords
    pairs: tuple[NorefPair, ...]
    models: Models


def _known(view: TreeView, ruleset: Ruleset) -> _Known:
    words = dst_words(ruleset.models)
    return _Known(words, pairs_of(all_pieces(view, view.touched), words), ruleset.models)


def _of_function(view: TreeView, piece: Piece, name: str, known: _Known) -> Iterator[TreeFault]:
    words = known.words
    for head in piece.unit.heads:
        if head.name != name or not _WORD.search(piece.unit.source, head.start, head.end):
            continue
        yield from zero_parameter(piece, head)
        for placed in _variants(piece, name):
            yield from zero_cookies(piece, head, placed, words)
            yield from ignored_checks(piece, placed, words)
            yield from stale_uses(piece, placed, words)
            yield from unstored_cookies(view, piece, head, placed, words)
            yield from cached_without_cookie(view, piece, head, placed, words)
            yield from borrowed(piece, placed, words)
            yield from noref_outside(piece, placed, words, known.models)
            yield from overwritten(piece, placed, words)
            yield from freed_counted(piece, placed)
            yield from outliving(piece, head, placed, known.pairs, words, known.models)


def _lost(
    before: TreeView | None, after: TreeView, change: Changed, words: DstWords
) -> Iterator[TreeFault]:
    """What the function did about cookies before and does no more."""
    if before is None or change.before is None or change.after is None:
        return
    if not _mentions_cookies(change.before, change.name):
        return
    was, now = next(_variants(change.before, change.name), None), next(_variants(change.after, change.name), None)
    if was is not None and now is not None and any("cookie" in store.place for store in was.stores):
        yield from lost_cookies(after, change, was, now, words)


def _mentions_cookies(piece: Piece, name: str) -> bool:
    """Whether the function may store one: where it does not, what stands where need not be worked out."""
    nodes = (node for head in piece.unit.heads if head.name == name for node in nodes_in(piece.unit.function(head)))
    return any(
        (isinstance(node, Member) and "cookie" in node.field) or (isinstance(node, Name) and "cookie" in node.id)
        for node in nodes
    )


def _variants(piece: Piece, name: str) -> Iterator[Standing]:
    for head in piece.unit.heads:
        if head.name == name:
            function = piece.unit.function(head)
            yield from (standing(function, variant) for variant in function.variants)
