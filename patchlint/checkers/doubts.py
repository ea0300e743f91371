"""Calls that nothing is known of: which of their answers tell that they have kept what they were given."""

from __future__ import annotations

from itertools import pairwise

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evidence import Outcomes, marks_since
from patchlint.checkers.exits import is_error
from patchlint.dataflow import Hold, Mark, PathReport


def taken_on_success(
    ctx: FunctionContext, report: PathReport, outcomes: Outcomes, hold: Hold, path: list[Mark]
) -> bool:
    """``if (!insert(p)) { free(p); return err; }``: another path fails at once where the answer is no.

    Then the answer that this path got, yes, is success: the call has kept what it was given.
    """
    agreed = {m.pos for m in path if m.kind == "if" and m.truth}
    freed = {r.pos for r in report.releases if r.obj == hold.obj}
    for exit_ in outcomes.of(hold.site)[0]:
        since = marks_since(outcomes.paths[id(exit_)], hold.site) if is_error(ctx, exit_) else []
        for asked, next_ in pairwise(since):
            refused = asked.kind == "if" and not asked.truth and asked.pos in agreed
            if refused and next_.kind == "release" and next_.pos in freed:
                return True
    return False
