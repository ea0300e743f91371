"""Pairs that the function itself shows: what one path calls to undo what an unmodelled call did.

A name that by the regular forms (``foo_map``/``foo_unmap``) has a counterpart is taken for an acquire only where
the same function calls that counterpart on the same thing: its own unwinding is the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from patchlint.cfg import Branch, Cfg, Leave, Select, render, walk
from patchlint.dataflow import Callees
from patchlint.effects import ANY, POS, ZERO, Cleanup, Effect, Family, GuardClass, Loop, Macro, Place, Summary
from patchlint.ir import Assign, Binary, Call, Decl, Evaluate, Expr, Name, Num
from patchlint.ruleset import Models

UNDOING = re.compile(
    r"(?:^|_)(?:un\w+|de(?:init|register|stroy|tach|assert|activate|configure)\w*|dis(?:able|connect|card)\w*|free\w*|put|"
    r"release\w*|remove\w*|clean\w*|clear\w*|exit|fini\w*|stop\w*|shutdown|teardown|tear|close|down|off|reset|suspend|"
    r"delete|del|abort|cancel|rollback|revert|drop|flush|kill|rearm)(?:_|$|\d)"
)
"""Names that by their sound undo something; nothing is known of most of them."""
SHOWN = "shown"
"""Flag of effects that come from here."""


class Use(NamedTuple):
    """A call and the variable that gets its result ("" for none, "?" where it is tested or used at once)."""

    call: Call
    target: str


class Unwinding:
    """What ``base`` knows, and the pairs that one function shows."""

    def __init__(self, base: Callees, summaries: Mapping[str, Summary], families: Mapping[str, Family]) -> None:
        self._base = base
        self._summaries = summaries
        self._families = families

    def summary(self, name: str) -> Summary | None:
        """The shown pair's half, else what the base knows."""
        return self._summaries.get(name) or self._base.summary(name)

    def family(self, resource: str) -> Family | None:
        """A shown pair's family, else the base's."""
        return self._families.get(resource) or self._base.family(resource)

    def macro(self, name: str) -> Macro | None:
        """As the base."""
        return self._base.macro(name)

    def loop(self, name: str) -> Loop | None:
        """As the base."""
        return self._base.loop(name)

    def guard(self, name: str) -> GuardClass | None:
        """As the base."""
        return self._base.guard(name)

    def scope_release(self, name: str) -> Cleanup | None:
        """As the base."""
        return self._base.scope_release(name)


def shown_pairs(cfg: Cfg, base: Callees, models: Models) -> Callees:
    """``base`` with the pairs that the function of ``cfg`` shows; ``base`` itself when it shows none."""
    uses = tuple(_uses(cfg))
    first = {use.call.name: use for use in reversed(uses)}
    summaries: dict[str, Summary] = {}
    families: dict[str, Family] = {}
    for name, use in first.items():
        others = [other for other in models.counterpart(name) if other in first]
        if not others or name in summaries or _has_effect(base, name, "acquire"):
            continue
        for other in others:
            undo = first.get(other)
            if undo is None or _has_effect(base, other, "release"):
                continue
            pair = _pair(use, undo, _tests_negative(cfg, use.target))
            if pair is not None:
                family = Family(f"{name}/{other}", "pair", f"what {name}() set up", (other,))
                families[family.name] = family
                summaries[name], summaries[other] = _halves(base, name, other, family.name, pair)
                break
    return Unwinding(base, summaries, families) if summaries else base


def _has_effect(base: Callees, name: str, action: str) -> bool:
    summary = base.summary(name)
    return summary is not None and (
        any(effect.action == action for effect in summary.effects) or summary.never_returns
    )


class _Pair(NamedTuple):
    taken: Place
    ended: Place
    when: int


def _pair(use: Use, undo: Use, negative: bool) -> _Pair | None:
    """Where the two calls speak of the same thing."""
    texts = [render(arg) for arg in undo.call.args]
    if use.target not in ("", "?") and use.target in texts:
        return _Pair(Place("result"), Place("arg", texts.index(use.target)), POS)
    when = ANY if use.target == "" else ZERO | POS if negative else ZERO
    for index, arg in enumerate(use.call.args):
        text = render(arg)
        if text in texts and not isinstance(arg, Num):
            return _Pair(Place("arg", index), Place("arg", texts.index(text)), when)
    if not use.call.args and not undo.call.args:
        return _Pair(Place("global", path=use.call.name), Place("global", path=use.call.name), when)
    return None


def _halves(base: Callees, name: str, other: str, family: str, pair: _Pair) -> tuple[Summary, Summary]:
    flags = frozenset((SHOWN,))
    took, ended = base.summary(name), base.summary(other)
    acquire = Effect("acquire", family, pair.taken, pair.when, flags=flags)
    release = Effect("release", family, pair.ended, null_ok=True, err_ok=True, flags=flags)
    return (
        (took or Summary(name, origin="pattern"))._replace(effects=(*(took.effects if took else ()), acquire)),
        (ended or Summary(other, origin="pattern"))._replace(effects=(*(ended.effects if ended else ()), release)),
    )


def _uses(cfg: Cfg) -> Iterator[Use]:
    for expr, alone in _expressions(cfg):
        target = ""
        value = expr
        if isinstance(expr, Assign):
            target, value = render(expr.target), expr.value
        for node in walk(expr):
            if isinstance(node, Call) and node.name:
                yield Use(node, target if node is value and (target or alone) else "?")


def _expressions(cfg: Cfg) -> Iterator[tuple[Expr, bool]]:
    """All expressions of the function in order; true for those that stand alone as a statement."""
    for block in cfg.blocks:
        for op in block.ops:
            if isinstance(op, Evaluate):
                yield op.expr, True
            elif isinstance(op, Decl) and op.init is not None:
                yield Assign("=", Name(op.name, op.pos), op.init, op.pos), True
        term = block.term
        if isinstance(term, Branch):
            yield term.test, False
        elif isinstance(term, Leave | Select):
            value: Expr | None = term.value
            if value is not None:
                yield value, False


def _tests_negative(cfg: Cfg, target: str) -> bool:
    """Whether the function asks ``target < 0``: then a positive result is success as well."""
    return any(
        isinstance(block.term, Branch)
        and isinstance(block.term.test, Binary)
        and block.term.test.op in ("<", ">=")
        and render(block.term.test.left) == target
        for block in cfg.blocks
    )
