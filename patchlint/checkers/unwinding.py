"""Pairs that the function itself shows: what one path calls to undo what an unmodelled call did.

A name that by the regular forms (``foo_map``/``foo_unmap``) has a counterpart is taken for an acquire only where
the same function calls that counterpart on the same thing: its own unwinding is the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import Final, NamedTuple

from patchlint.cfg import Branch, Cfg, Leave, Select, render, walk
from patchlint.checkers.beside import Beside, followers
from patchlint.checkers.teardown import Teardowns, last_word, undone
from patchlint.dataflow import Callees
from patchlint.effects import ANY, POS, ZERO, Cleanup, Effect, Family, GuardClass, Loop, Macro, Place, Summary
from patchlint.ir import Assign, Binary, Call, Decl, Evaluate, Expr, Index, Name, Num, Unary
from patchlint.ruleset import Models

UNDOING = re.compile(
    r"(?:^|_)(?:un\w+|de(?:init|register|stroy|tach|assert|activate|configure)\w*|dis(?:able|connect|card)\w*|free\w*|put|"
    r"release\w*|remove\w*|clean\w*|clear\w*|exit|fini\w*|stop\w*|shutdown|teardown|tear|close|(?:power)?down|(?:power)?off|reset|suspend|"
    r"delete|del|abort|cancel|rollback|revert|drop|flush|kill|rearm)(?:_|$|\d)"
)
"""Names that by their sound undo something; nothing is known of most of them."""
_HALVES: Final = ("acquire", "release")
"""What a call with a model of its own does: its name tells nothing more (``local_irq_enable`` takes nothing)."""
SHOWN = "shown"
"""Flag of effects that come from here."""
ELSEWHERE = "elsewhere"
"""Flag of those whose other half is in a teardown function of the file."""
_UNNAMED: Final = ("", "?", "!", "NULL")
"""Words for results that no variable gets."""
_ASKING: Final = (Branch, Leave, Select)
_NAMED_AFTER_SUCCESS = re.compile(r"(?:^|_)(?:register|request|attach|enable)(?:_|$)")
"""What such a call does counts as done even where its result is thrown away."""


class Use(NamedTuple):
    """A call and the variable that gets its result ("" for none, "?" where it is tested or used at once, "!" where
    it is tested for 0, "NULL" where it is compared with that)."""

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


def shown_pairs(
    cfg: Cfg, called: Set[str], base: Callees, models: Models, teardowns: Teardowns, near: Beside
) -> Callees:
    """``base`` with the pairs that the function of ``cfg`` shows, alone or with other functions of its file.

    ``called``: all names that it calls.  ``base`` itself when there are none.
    """
    halves = called | undone(teardowns) | followers(near)
    if all(halves.isdisjoint(models.counterpart(name)) for name in called):
        return base
    uses = tuple(_uses(cfg))
    first = {use.call.name: use for use in reversed(uses)}
    summaries: dict[str, Summary] = {}
    families: dict[str, Family] = {}
    unpaired, tells = (models.table("unpaired").get(key, ()) for key in ("starts", "prefixes"))
    managed = models.table("managed").get("prefixes", ())
    for name, use in first.items():
        counterparts = models.counterpart(name)
        others = [other for other in counterparts if other in first]
        if not counterparts or name in summaries or name in unpaired or _told_by_name(cfg, use.target):
            continue
        if name.startswith(tells):
            continue
        if any(_has_effect(base, name, action) for action in _HALVES) and not (others and _half_read(base, name)):
            continue
        for other in others:
            undo = first.get(other)
            if undo is None or _has_effect(base, other, "release") or _only_look(base, name, other):
                continue
            pair = _pair(use, undo, _tests_negative(cfg, use))
            if pair is not None and (pair.taken.root == "result" or _tells_of_failure(cfg, use.target)):
                family = Family(f"{name}/{other}", "pair", f"what {name}() set up", (other,))
                families[family.name] = family
                summaries[name], summaries[other] = _halves(base, name, other, family.name, pair)
                break
        if others or name.startswith(managed):
            continue
        torn = _torn_down(use, counterparts, teardowns) or _ended_beside(use, counterparts, near)
        if torn is not None:
            family = Family(f"{name}/{torn[0]}", "pair", f"what {name}() set up", (torn[0],))
            families[family.name] = family
            when = POS if torn[1].root == "result" else _when(use, _tests_negative(cfg, use))
            effect = Effect("acquire", family.name, torn[1], when, flags=frozenset((SHOWN, ELSEWHERE)))
            took = base.summary(name) or Summary(name, origin="pattern")
            summaries[name] = took._replace(effects=(*took.effects, effect))
    return Unwinding(base, summaries, families) if summaries else base


def _half_read(base: Callees, name: str) -> bool:
    """All that is known of what ``name`` takes comes from its body: another half that tells nothing is the same."""
    summary = base.summary(name)
    return summary is not None and all("inferred" in e.flags for e in summary.effects if e.action in _HALVES)


def _only_look(base: Callees, *names: str) -> bool:
    """Whether all have regular names of functions that only look at what they get (``nla_get_u8``, ``nla_put_u8``)."""
    found = map(base.summary, names)
    return all(one is not None and one.origin == "pattern" and not one.effects for one in found)


def _has_effect(base: Callees, name: str, action: str) -> bool:
    summary = base.summary(name)
    return summary is not None and (
        any(effect.action == action for effect in summary.effects) or summary.never_returns
    )


def _torn_down(use: Use, counterparts: tuple[str, ...], teardowns: Teardowns) -> tuple[str, Place] | None:
    """Which counterpart of a call the file's teardown functions make on the same thing, and where that is."""
    if use.target in ("!", "NULL") or (use.target == "" and not _NAMED_AFTER_SUCCESS.search(use.call.name)):
        return None
    words = [last_word(render(arg)) for arg in use.call.args]
    left = [teardown for teardown in teardowns if use.call.name not in teardown.arranged_by]
    for other in counterparts:
        for call in sorted({call for teardown in left for call in teardown.calls if call.name == other}):
            if use.target not in ("", "?") and last_word(use.target) in call.words:
                return other, Place("result")
            at = next((i for i, word in enumerate(words) if word and word in call.words), -1)
            if at >= 0:
                return other, Place("arg", at)
            if not words and not call.words:
                return other, Place("global", path=use.call.name)
    return None


def _ended_beside(use: Use, counterparts: tuple[str, ...], near: Beside) -> tuple[str, Place] | None:
    """Which counterpart of a call the functions beside this one call with what it gives, where that is kept local."""
    ends = {one.other for one in near if one.name == use.call.name} if use.target.isidentifier() else frozenset()
    return next(((other, Place("result")) for other in counterparts if other in ends), None)


class _Pair(NamedTuple):
    taken: Place
    ended: Place
    when: int


def _pair(use: Use, undo: Use, negative: bool) -> _Pair | None:
    """Where the two calls speak of the same thing."""
    texts = [render(arg) for arg in undo.call.args]
    if use.target not in _UNNAMED and use.target in texts:
        return _Pair(Place("result"), Place("arg", texts.index(use.target)), POS)
    when = _when(use, negative)
    same = [i for i, arg in enumerate(use.call.args) if render(arg) in texts and not isinstance(arg, Num)]
    if same:
        # An element of an array says more than what all elements are part of.
        index = next((i for i in same if isinstance(use.call.args[i], Index)), same[0])
        return _Pair(Place("arg", index), Place("arg", texts.index(render(use.call.args[index]))), when)
    if not use.call.args and not undo.call.args:
        return _Pair(Place("global", path=use.call.name), Place("global", path=use.call.name), when)
    return None


def _when(use: Use, negative: bool) -> int:
    """With which results the call has done what it says."""
    if use.target == "" or use.target == "NULL":
        return POS if use.target else ANY
    return ZERO | POS if negative else ZERO


def _halves(base: Callees, name: str, other: str, family: str, pair: _Pair) -> tuple[Summary, Summary]:
    flags = frozenset((SHOWN,))
    took, ended = base.summary(name), base.summary(other)
    acquire = Effect("acquire", family, pair.taken, pair.when, flags=flags)
    release = Effect("release", family, pair.ended, null_ok=True, err_ok=True, flags=flags)
    kept = (e for e in took.effects if e.action != "acquire") if took else ()
    return (
        (took or Summary(name, origin="pattern"))._replace(effects=(*kept, acquire)),
        (ended or Summary(other, origin="pattern"))._replace(effects=(*(ended.effects if ended else ()), release)),
    )


def _uses(cfg: Cfg) -> Iterator[Use]:
    for expr, word in _expressions(cfg):
        value, target = expr, word
        if isinstance(expr, Assign):
            target, value = render(expr.target), expr.value
        elif isinstance(expr, Binary) and render(expr.right) == "NULL":
            value, target = expr.left, "NULL"
        for node in walk(expr):
            if isinstance(node, Call) and node.name:
                yield Use(node, target if node is value else "?")


def _expressions(cfg: Cfg) -> Iterator[tuple[Expr, str]]:
    """All expressions of the function in order, with the word for the result of a call that is all of one."""
    for block in cfg.blocks:
        for op in block.ops:
            if isinstance(op, Evaluate):
                yield op.expr, ""
            elif isinstance(op, Decl) and op.init is not None:
                yield Assign("=", Name(op.name, op.pos), op.init, op.pos), ""
        term = block.term
        if isinstance(term, Branch):
            # The part that runs first in the text runs on falsehood: ``if (!f(x))``.
            yield term.test, "!" if term.false < term.true else "?"
        elif isinstance(term, Leave | Select):
            value: Expr | None = term.value
            if value is not None:
                yield value, "?"


def _told_by_name(cfg: Cfg, target: str) -> bool:
    """Whether a result of its own name tells success or failure (``id == INVALID_ID``): which, is not known."""
    return any(
        isinstance(node, Binary)
        and node.op in ("==", "!=")
        and isinstance(node.right, Name)
        and node.right.id.isupper()
        and node.right.id != "NULL"
        and render(node.left) == target
        for block in cfg.blocks
        if isinstance(block.term, Branch)
        for node in walk(block.term.test)
    )


def _tells_of_failure(cfg: Cfg, target: str) -> bool:
    """Whether a result may be an error number: one in a variable that nothing asks is what the call was made for."""
    if target in _UNNAMED or not target.isidentifier():
        return True
    terms = (block.term for block in cfg.blocks)
    asked = (term.test if isinstance(term, Branch) else term.value for term in terms if isinstance(term, _ASKING))
    return any(_asks(expr, target) for expr in asked if expr is not None)


def _asks(expr: Expr, target: str) -> bool:
    """Whether a condition is about a variable itself, not about what a function makes of it."""
    if isinstance(expr, Call):
        return expr.name.isupper() and any(_asks(arg, target) for arg in expr.args)
    if isinstance(expr, Binary):
        return _asks(expr.left, target) or _asks(expr.right, target)
    return _asks(expr.operand, target) if isinstance(expr, Unary) else render(expr) == target


def _tests_negative(cfg: Cfg, use: Use) -> bool:
    """Whether the next question after the call is ``target < 0``: then a positive result is success as well."""
    later = (
        block.term.test for block in cfg.blocks
        if isinstance(block.term, Branch) and block.term.test.pos > use.call.pos
        and any(render(node) == use.target for node in walk(block.term.test))
    )  # fmt: skip
    test = min(later, key=lambda test: test.pos, default=None)
    return isinstance(test, Binary) and test.op in ("<", ">=") and render(test.left) == use.target
