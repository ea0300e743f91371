"""Rules that span functions (static keys, cached routes): the whole tree compared state by state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchlint.checkers.tree_rules import check_tree
from patchlint.model import Finding
from patchlint.review.knowledge import TreeKnowledge
from patchlint.review.timeline import Stage, State
from patchlint.review.verdicts import Change, FindingKey, by_key, judge
from patchlint.ruleset import Ruleset


def spanning_findings(timeline: Sequence[Stage], ruleset: Ruleset, knowledge: TreeKnowledge) -> Iterator[Finding]:
    """Findings of these rules over the series, each with verdict, patch and ``fixed_by``.

    Every state is compared with the base, so what was there before is not among them.
    """
    base = timeline[0].before if timeline else {}
    before: dict[FindingKey, Finding] = {}
    changes = []
    for stage in timeline:
        after = before
        if stage.changes:
            found = check_tree(knowledge.snapshot(base), knowledge.snapshot(stage.after), ruleset, knowledge.keys)
            after = by_key(found)
        changes.append(Change(stage.order, stage.patch.n, before, after))
        before = after
    yield from judge(changes)


def spanning_in_tree(state: State, ruleset: Ruleset, knowledge: TreeKnowledge) -> tuple[Finding, ...]:
    """Findings of these rules about the files of one state, as they stand in their tree."""
    return check_tree(None, knowledge.snapshot(state), ruleset, knowledge.keys)
