"""Parameters that a function consumes: on one path it frees what it was handed, on another it forgets to."""

from __future__ import annotations

import re

from patchlint.checkers.context import FunctionContext
from patchlint.dataflow import Exit, Mark, PathReport
from patchlint.model import Confidence

_CONSUMED_KINDS = ("mem",)
_DROPS = re.compile(r"(?:^|_)(?:put|unref|deref|drop|release)(?:_|$|\d)")
"""Names of functions that free what they are given when its last user is gone."""


def consumed(ctx: FunctionContext, report: PathReport) -> tuple[tuple[int, str], ...]:
    """Parameters (from 0) that some path frees, and as what; () for a function that was not seen whole."""
    if not ctx.function.whole:
        return ()
    found: dict[tuple[int, str], None] = dict.fromkeys(by_contract(ctx))
    for release in report.releases:
        key = report.keys[release.obj]
        family = ctx.callees.family(release.family)
        if key[0] == "p" and not release.matched and family is not None and family.kind in _CONSUMED_KINDS:
            found[(key[1], release.family)] = None
    return tuple(found)


def by_contract(ctx: FunctionContext) -> tuple[tuple[int, str], ...]:
    """What a function of this type always consumes: the packet of a transmit routine."""
    params = ctx.function.params
    transmits = ctx.function.return_type.split()[-1:] == ["netdev_tx_t"] and ctx.mode != "changed"
    return ((0, "skb"),) if transmits and params and "sk_buff" in params[0].type else ()


def judge_handed(ctx: FunctionContext, exit_: Exit, path: list[Mark], ended: list[tuple[Exit, list[Mark]]]) -> (
    Confidence | None
):
    """How sure it is that leaving with a parameter unconsumed is wrong.

    Callers cannot tell exits of one result apart: where most of them consume, one that does not is a leak.  A
    function that frees only when a count says so decides by itself, and so does one with a single place that frees.
    """
    if exit_.text in ctx.ruleset.models.table("handed").get("kept_on", ()):
        return None
    if by_contract(ctx):
        kept = exit_.mask == 0 or not _constant(exit_)
        return None if kept else "medium"
    same = [(e, p) for e, p in ended if e.mask == exit_.mask and _plain(e.text) == _plain(exit_.text)]
    places = {m.pos for _, p in same for m in p if m.kind == "release" and m.site == ctx.function.start}
    if not same or not (len(places) > 1 or _constant(exit_)):
        return None
    if _DROPS.search(ctx.function.name) or _asks_only_of_parameters(ctx, path):
        return None
    if any(m.kind == "if" and ("test" in m.text or "ref" in m.text or "count" in m.text) for m in path):
        return None
    return "medium"


def _asks_only_of_parameters(ctx: FunctionContext, path: list[Mark]) -> bool:
    """Only what the caller passes decides: it knows what it is left with (``if (!size || !data) return 0;``)."""
    params = {p.name for p in ctx.function.params}
    asked = [m.text for m in path if m.kind in ("if", "case")]
    return all(set(re.findall(r"[A-Za-z_]\w*", text)) <= params for text in asked)


def _constant(exit_: Exit) -> bool:
    """The result is a constant: what is returned says nothing of what became of the parameter."""
    return exit_.mask != 0 and re.fullmatch(r"-?\w+", exit_.text) is not None and not exit_.text.islower()


def _plain(text: str) -> str:
    return text.strip("()").lower()
