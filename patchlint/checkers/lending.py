"""Calls that by policy may keep what they are given, but that the function itself shows only to look at it.

Where another path frees the thing after the same call gave the same answer, the call has not taken it; so a path that
leaves after that answer without freeing it forgets to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.exits import is_error
from patchlint.dataflow import Exit, Hold, Mark, PathReport, Released, Site
from patchlint.effects import Family

_Answers: TypeAlias = dict[int, tuple[int, bool] | None]
"""Place of a call -> the first question about its result and the answer; None where nobody asked."""
_KINDS = ("mem", "ref")


def lent_calls(ctx: FunctionContext, report: PathReport) -> frozenset[tuple[int, int]]:
    """Places of a taking, and of calls that may have kept what was taken there although some path ends it later."""
    if ctx.mode != "new":
        return frozenset()
    owned = [r for r in report.releases if _owns(ctx, r.family)]
    ended = {site.pos for site in report.sites.values() if any(_is_of(report, r, site) for r in owned)}
    return frozenset((site, call) for site, call in report.kept if site in ended)


def _is_of(report: PathReport, release: Released, site: Site) -> bool:
    """Whether a release may end what was taken at ``site``: its value, or by its name where paths were joined."""
    key = report.keys[report.roots[release.obj]]
    return release.family == site.family and (
        (key[0] == "s" and key[1] == site.pos) or (key[0] == "phi" and release.subject == site.subject)
    )


def _owns(ctx: FunctionContext, name: str) -> bool:
    family: Family | None = ctx.callees.family(name)
    travels = ctx.ruleset.models.table("handed").get("travels", ())
    return family is not None and family.kind in _KINDS and name not in travels


def borne_out(
    ctx: FunctionContext, exit_: Exit, hold: Hold, path: Sequence[Mark], others: Sequence[tuple[Exit, list[Mark]]]
) -> bool:
    """Whether ``others``, that end the hold, show that no call on ``path`` has taken it over.

    A path that succeeds shows it of all; one that fails may have undone what the call did, so it speaks for others
    that fail.
    """
    lent = _answers(path, hold.site)
    fails = is_error(ctx, exit_)
    return not lent or any(
        (fails or (exit_.mask != 0 and not is_error(ctx, other))) and lent.items() <= _answers(taken, hold.site).items()
        for other, taken in others
    )


def _answers(path: Sequence[Mark], site: int) -> _Answers:
    found: _Answers = {}
    for mark in path:
        if mark.kind == "acquire" and mark.pos == site:
            found = {}
        elif mark.kind == "lend" and mark.site == site:
            found[mark.pos] = None
        elif mark.kind == "answer" and mark.site in found and found[mark.site] is None:
            found[mark.site] = mark.pos, mark.truth
    return found


def is_lent(hold: Hold, path: Sequence[Mark]) -> bool:
    """Whether some call on the path could have kept it, had other paths not shown otherwise."""
    return bool(_answers(path, hold.site))
