"""What RCU asks of more than one function: who frees what readers may hold, and who waits for callbacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from patchlint.checkers.rcu_heads import freed_at_once
from patchlint.checkers.rcu_module import unbarred_exit
from patchlint.checkers.tree_change import new_findings
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece, TreeView
from patchlint.model import Finding
from patchlint.ruleset import Ruleset
from patchlint.syntax import Head

CHECKER: Final = "rcu"


def check_rcu(before: TreeView | None, after: TreeView, ruleset: Ruleset) -> tuple[Finding, ...]:
    """Findings in the functions that differ between two states, without what ``before`` has as well."""
    return new_findings(before, after, _faults, CHECKER, ruleset)


def _faults(view: TreeView, piece: Piece, head: Head) -> Iterator[TreeFault]:
    yield from unbarred_exit(view, piece, head)
    yield from freed_at_once(view, piece, head)
