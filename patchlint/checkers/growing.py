"""Trees that allocate by flags in their root: flags that may sleep, and an insertion elsewhere with a spinlock held."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Final, NamedTuple

from patchlint.cfg import walk
from patchlint.checkers.evaluated import calls_in
from patchlint.checkers.held import Hold, held_at
from patchlint.checkers.sleeping import CHECKER, SLEEPING
from patchlint.checkers.standing import standing
from patchlint.checkers.tree_change import new_findings
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece, TreeView
from patchlint.ir import Binary, Call, Expr, Member, Name, Unary
from patchlint.model import Confidence, Finding, Step
from patchlint.ruleset import Models, Ruleset
from patchlint.syntax import Head

_FAULT: Final = "grows-in-context"
_KIND: Final = "lock"
_MOST_FILES: Final = 40
"""Files that are looked into for insertions."""


class _Insertion(NamedTuple):
    """A call that may allocate for a tree, and what it holds meanwhile."""

    piece: Piece
    call: Call
    hold: Hold


class _Known(NamedTuple):
    """What the models say."""

    roots: tuple[str, ...]
    """Calls that give a tree its flags: the tree, then the flags."""
    grows: tuple[str, ...]
    """Calls that add to a tree, their first argument."""
    contexts: tuple[str, ...]
    """Contexts that must not sleep."""
    models: Models


def check_growing(before: TreeView | None, after: TreeView, ruleset: Ruleset) -> tuple[Finding, ...]:
    """Findings in the functions that differ between two states, without what ``before`` has as well."""
    rule = ruleset.speaking_of(CHECKER, _FAULT, _KIND)
    contexts = rule.parameters.get("contexts") if rule is not None else None
    if not isinstance(contexts, tuple):
        return ()
    words = ruleset.models.table("context")
    known = _Known(words.get("roots", ()), words.get("grows", ()), contexts, ruleset.models)

    def faults(view: TreeView, piece: Piece, head: Head) -> Iterator[TreeFault]:
        return _faults(view, piece, head, known)

    return new_findings(before, after, faults, CHECKER, ruleset, _KIND)


def _faults(view: TreeView, piece: Piece, head: Head, known: _Known) -> Iterator[TreeFault]:
    if not _mentions(piece, head, known.roots):
        return
    for call in calls_in(piece.unit.function(head)):
        if call.name in known.roots and len(call.args) > 1 and _may_sleep(call.args[1]):
            member = _last_word(call.args[0])
            found = next(_insertions(view, piece.path, member, known), None) if member else None
            if found is not None:
                yield _fault(piece, head, call, member, found)


def _mentions(piece: Piece, head: Head, names: tuple[str, ...]) -> bool:
    text = piece.unit.source[head.start : head.end]
    return any(name.encode() in text for name in names)


def _may_sleep(flags: Expr) -> bool:
    """Constants or-ed together, of which one allows it; where some are masked out it is not known."""
    nodes = walk(flags)
    plain = all(isinstance(node, Name) or (isinstance(node, Binary) and node.op == "|") for node in nodes)
    return plain and any(isinstance(node, Name) and node.id in SLEEPING for node in nodes)


def _last_word(expr: Expr) -> str:
    """The member or variable behind ``&x->member``."""
    inner = expr.operand if isinstance(expr, Unary) and expr.op == "&" else expr
    return inner.field if isinstance(inner, Member) else inner.id if isinstance(inner, Name) else ""


def _insertions(view: TreeView, path: str, member: str, known: _Known) -> Iterator[_Insertion]:
    """Insertions into trees of that name that hold a spinlock, in this file, its folder, below and just above."""
    folder = posixpath.dirname(path)
    above = posixpath.dirname(folder)
    grown = {one for name in known.grows for one in view.files_with(name)} & set(view.files_with(member))
    near = sorted(
        (one for one in grown if one.startswith(f"{folder}/") or posixpath.dirname(one) == above),
        key=lambda one: (one != path, one),
    )
    for one in near[:_MOST_FILES]:
        for piece in view.pieces(one):
            for head in piece.unit.heads:
                if _mentions(piece, head, known.grows):
                    yield from _in_function(piece, head, member, known)


def _in_function(piece: Piece, head: Head, member: str, known: _Known) -> Iterator[_Insertion]:
    function = piece.unit.function(head)
    for variant in function.variants:
        placed = standing(function, variant)
        calls = frozenset(
            stand.call for stand in placed.stands
            if stand.call.name in known.grows and stand.call.args and _last_word(stand.call.args[0]) == member
        )  # fmt: skip
        for call, holds in held_at(placed, calls, known.models.summary, known.models.guard).items():
            atomic = [hold for hold in holds if hold.context in known.contexts]
            if atomic:
                yield _Insertion(piece, call, min(atomic, key=lambda hold: hold.pos))


def _fault(piece: Piece, head: Head, call: Call, member: str, found: _Insertion) -> TreeFault:
    line, where = piece.file_line(call.pos), found.piece
    flags = " | ".join(node.id for node in walk(call.args[1]) if isinstance(node, Name))
    message = f"'{member}' allocates with {flags}, which may sleep, and {found.call.name}() adds to it with a lock held"
    trace = (
        Step(piece.path, line, f"{call.name}() says how the tree allocates"),
        Step(where.path, where.file_line(found.hold.pos), "a spinlock is taken here"),
        Step(where.path, where.file_line(found.call.pos), f"{found.call.name}() may allocate"),
    )
    sure: Confidence = "high" if where.path == piece.path else "medium"
    column = piece.unit.lines.column(call.pos)
    return TreeFault(_FAULT, sure, message, piece.path, line, column, head.name, member, trace)
