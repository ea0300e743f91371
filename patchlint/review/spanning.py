"""Rules that span functions (static keys, cached routes): the whole tree compared state by state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchlint.checkers.static_key import check_keys
from patchlint.checkers.static_key_sites import KeyReader
from patchlint.model import Finding
from patchlint.review.knowledge import TreeKnowledge
from patchlint.review.timeline import Stage, State
from patchlint.review.verdicts import Change, FindingKey, by_key, judge
from patchlint.ruleset import Ruleset


def spanning_findings(timeline: Sequence[Stage], ruleset: Ruleset, knowledge: TreeKnowledge) -> Iterator[Finding]:
    """Findings of these rules over the series, each with verdict, patch and ``fixed_by``."""
    if not timeline:
        return
    base = timeline[0].before
    reader = KeyReader()

    def found_in(state: State) -> dict[FindingKey, Finding]:
        return by_key(check_keys(knowledge.snapshot(base), knowledge.snapshot(state), ruleset, reader))

    before = found_in(base)
    changes = []
    for stage in timeline:
        after = found_in(stage.after) if stage.changes else before
        changes.append(Change(stage.order, stage.patch.n, before, after))
        before = after
    yield from judge(changes)
