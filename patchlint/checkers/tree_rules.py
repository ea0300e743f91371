"""All rules that span functions, files and patches, over one state of the tree or from one state to another."""

from __future__ import annotations

from patchlint.checkers.driver_data import check_driver_data
from patchlint.checkers.dst_rules import check_dst
from patchlint.checkers.growing import check_growing
from patchlint.checkers.rcu_rules import check_rcu
from patchlint.checkers.static_key import check_keys
from patchlint.checkers.static_key_sites import KeyReader
from patchlint.checkers.tree_view import TreeView
from patchlint.model import Finding
from patchlint.ruleset import Ruleset


def check_tree(
    before: TreeView | None, after: TreeView, ruleset: Ruleset, reader: KeyReader | None = None
) -> tuple[Finding, ...]:
    """Findings that ``after`` has and ``before`` has not; with no ``before`` all that is found in the touched files.

    Findings of a whole state may stand in other files than those touched: a pair of a key has two ends.
    """
    return (
        *check_keys(before, after, ruleset, reader),
        *check_dst(before, after, ruleset),
        *check_rcu(before, after, ruleset),
        *check_growing(before, after, ruleset),
        *check_driver_data(before, after, ruleset),
    )
