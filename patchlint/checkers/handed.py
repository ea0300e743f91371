"""Parameters that a function consumes: on one path it frees what it was handed, on another it forgets to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from patchlint.cfg import render
from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evaluated import calls_in
from patchlint.dataflow import Exit, Mark, PathReport, Site
from patchlint.model import Confidence

_CONSUMED_KINDS = ("mem",)
_DROPS = re.compile(r"(?:^|_)(?:put|unref|deref|drop|release)(?:_|$|\d)")
"""Names of functions that free what they are given when its last user is gone."""


def consumed(ctx: FunctionContext, report: PathReport) -> tuple[tuple[int, str], ...]:
    """Parameters (from 0) that some path frees, and as what; () for a function that was not seen whole."""
    if not ctx.function.whole:
        return ()
    found: dict[tuple[int, str], None] = dict.fromkeys((*by_contract(ctx), *queued(ctx)))
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


def queued(ctx: FunctionContext) -> Iterator[tuple[int, str]]:
    """Packets that a function without a result puts into a queue: who calls it cannot know when it did not."""
    if ctx.function.return_type.split()[-1:] != ["void"] or ctx.function.return_pointer:
        return
    packets = {p.name: index for index, p in enumerate(ctx.function.params) if "sk_buff" in p.type}
    for call in calls_in(ctx.function) if packets else ():
        summary = ctx.callees.summary(call.name) if call.name else None
        if summary is not None and summary.origin == "model":
            kept = (arg for arg, what in zip(call.args, summary.args, strict=False) if what == "take")
            yield from ((packets[text], "skb") for text in map(render, kept) if text in packets)


def judge_handed(
    ctx: FunctionContext, site: Site, exit_: Exit, path: list[Mark], ended: list[tuple[Exit, list[Mark]]]
) -> Confidence | None:
    """How sure it is that leaving with a parameter unconsumed is wrong.

    Callers cannot tell exits of one result apart: where most of them consume, one that does not is a leak.  A
    function that frees only when a count says so decides by itself, and so does one with a single place that frees.
    """
    if exit_.text in ctx.ruleset.models.table("handed").get("kept_on", ()):
        return None
    if by_contract(ctx):
        kept = exit_.mask == 0 or not _constant(exit_)
        return None if kept else "medium"
    if any(ctx.function.params[index].name == site.subject for index, _ in queued(ctx)):
        return None if _decides_itself(ctx, path) else "medium"
    same = [(e, p) for e, p in ended if e.mask == exit_.mask and _plain(e.text) == _plain(exit_.text)]
    places = {m.pos for _, p in same for m in p if m.kind == "release" and m.site == ctx.function.start}
    if not same or not (len(places) > 1 or _constant(exit_)):
        return None
    return None if _decides_itself(ctx, path) else "medium"


def _decides_itself(ctx: FunctionContext, path: list[Mark]) -> bool:
    """The function is one that drops a share, or its caller can tell as well as it can what becomes of the thing."""
    if _DROPS.search(ctx.function.name) or _asks_only_of_parameters(ctx, path):
        return True
    return any(m.kind == "if" and ("test" in m.text or "ref" in m.text or "count" in m.text) for m in path)


def _asks_only_of_parameters(ctx: FunctionContext, path: list[Mark]) -> bool:
    """Only what the caller passes decides: it knows what it is left with (``if (!size || !data) return 0;``)."""
    params = {p.name for p in ctx.function.params}
    asked = [m.text.partition(" is ")[0] if m.kind == "case" else m.text for m in path if m.kind in ("if", "case")]
    return all(set(re.findall(r"[A-Za-z_]\w*", text)) <= params for text in asked)


def _constant(exit_: Exit) -> bool:
    """The result is a constant: what is returned says nothing of what became of the parameter."""
    return exit_.mask != 0 and re.fullmatch(r"-?\w+", exit_.text) is not None and not exit_.text.islower()


def _plain(text: str) -> str:
    return text.strip("()").lower()
