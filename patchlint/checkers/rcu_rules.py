"""What RCU asks of more than one function: who frees what readers may hold, and who waits for callbacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from patchlint.checkers.rcu_heads import freed_at_once
from patchlint.checkers.rcu_module import unbarred_exit
from patchlint.checkers.tree_change import changed_functions
from patchlint.checkers.tree_fault import TreeFault, findings
from patchlint.checkers.tree_view import Piece, TreeView
from patchlint.model import Finding
from patchlint.ruleset import Ruleset

CHECKER: Final = "rcu"


def check_rcu(before: TreeView | None, after: TreeView, ruleset: Ruleset) -> tuple[Finding, ...]:
    """Findings in the functions that differ between two states, or with no ``before`` in all of ``after``.

    What ``before`` has as well is left out.
    """
    changes = tuple(changed_functions(before, after))
    faults = (fault for one in changes if one.after is not None for fault in _faults(after, one.after, one.name))
    now = findings(tuple(faults), CHECKER, ruleset)
    if before is None or not now:
        return now
    old = (fault for one in changes if one.before is not None for fault in _faults(before, one.before, one.name))
    known = {found.key for found in findings(tuple(old), CHECKER, ruleset)}
    return tuple(found for found in now if found.key not in known)


def _faults(view: TreeView, piece: Piece, name: str) -> Iterator[TreeFault]:
    for head in piece.unit.heads:
        if head.name == name:
            yield from unbarred_exit(view, piece, head)
            yield from freed_at_once(view, piece, head)
