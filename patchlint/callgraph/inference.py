"""The effects of one body, by exploring its paths with a hold on every pointer parameter.

Only what happens on every path, or on every path with a result of certain classes, becomes an effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from patchlint.callgraph.flows import evaluated, transparent
from patchlint.cfg import Cfg, Leave, build, walk
from patchlint.dataflow import Callees, Exit, Hold, PathReport, Policy, explore
from patchlint.effects import ANY, ZERO, Cleanup, Effect, Family, GuardClass, Loop, Macro, Place, Summary
from patchlint.ir import Call, Function, Variant

MAX_STATES = 300
"""States explored of one callee; a body that needs more stays unknown."""

_SEED = "param"
_VOID = 8
"""The class of the result of a function that has none."""
_INFERRED = frozenset(("inferred",))


class Inferred(NamedTuple):
    """What the paths of one body agree on."""

    effects: tuple[Effect, ...] = ()
    args: tuple[str, ...] = ()
    """For each parameter "take", "released" (an effect says when), "some" (taken on some paths), "open", or ""."""
    result: int = ANY
    never_returns: bool = False


NOTHING = Inferred()


def infer(function: Function, callees: Callees, owned: frozenset[str], stored: frozenset[int]) -> Inferred:
    """The effects of a function, as far as all its variants agree.

    ``owned``: families of references and memory; ``stored``: parameters that are put where they outlive the call.
    """
    if not function.whole or function.bound_hit:
        return NOTHING
    found = [_of_variant(function, variant, _Seeded(callees, owned), stored) for variant in function.variants]
    return agreed(found)


def agreed(found: Iterable[Inferred]) -> Inferred:
    """What several bodies have in common."""
    every = list(found)
    if not every:
        return NOTHING
    first = every[0]
    if all(one == first for one in every[1:]):
        return first
    others = [{effect._replace(where="") for effect in one.effects} for one in every[1:]]
    effects = tuple(effect for effect in first.effects if all(effect._replace(where="") in one for one in others))
    args = tuple(
        column[0] if len(set(column)) == 1 else "open" for column in zip(*(one.args for one in every), strict=False)
    )
    # An effect that only some have leaves its argument open.
    agreed_on = {effect._replace(where="") for effect in effects}
    lost = {effect.place.index for one in every for effect in one.effects if effect._replace(where="") not in agreed_on}
    args = tuple("open" if at in lost else what for at, what in enumerate(args))
    result = 0
    for one in every:
        result |= one.result
    return Inferred(effects, args, result, all(one.never_returns for one in every))


class _Seeded:
    """The callees, with the family of the holds that parameters start with: any release of an object ends it."""

    def __init__(self, callees: Callees, owned: frozenset[str]) -> None:
        self._callees = callees
        self.owned = owned
        self._seed = Family(_SEED, "ref", "parameter", (), owned, nests=True)

    def summary(self, name: str) -> Summary | None:
        return self._callees.summary(name)

    def macro(self, name: str) -> Macro | None:
        return self._callees.macro(name)

    def loop(self, name: str) -> Loop | None:
        return self._callees.loop(name)

    def guard(self, name: str) -> GuardClass | None:
        return self._callees.guard(name)

    def scope_release(self, name: str) -> Cleanup | None:
        return self._callees.scope_release(name)

    def family(self, resource: str) -> Family | None:
        return self._seed if resource == _SEED else self._callees.family(resource)


def _of_variant(function: Function, variant: Variant, callees: _Seeded, stored: frozenset[int]) -> Inferred:
    cfg = build(variant, transparent)
    report = explore(cfg, function, callees, Policy(seed_params=True, max_states=MAX_STATES))
    if report.bound_hit or any(leaving.vague for leaving in report.exits):
        return NOTHING
    if not report.exits:
        return Inferred((), ("",) * len(function.params), 0, True)
    inferred = _Paths(function, cfg, report, callees, stored).inferred()
    if not any(effect.action == "acquire" and effect.resource in callees.owned for effect in inferred.effects):
        return inferred
    # What an unknown call may have kept is not surely the caller's: only what is left even so is told as such.
    doubting = explore(cfg, function, callees, Policy(True, MAX_STATES, seed_params=True))
    left = _Paths(function, cfg, doubting, callees, stored).left()
    return inferred._replace(
        effects=tuple(
            effect
            for effect in inferred.effects
            if effect.action != "acquire" or effect.resource not in callees.owned or effect._replace(where="") in left
        )
    )


class _Paths:
    """Compares the exits of one exploration."""

    def __init__(
        self, function: Function, cfg: Cfg, report: PathReport, callees: _Seeded, stored: frozenset[int]
    ) -> None:
        self.function = function
        self.stored = stored
        self.cfg = cfg
        self.report = report
        self.callees = callees
        self.classes = 0
        for leaving in report.exits:
            self.classes |= leaving.mask or _VOID

    def inferred(self) -> Inferred:
        """The effects and what becomes of the parameters."""
        effects = [*self._acquired(), *self._unlocked()]
        args = []
        for at in range(len(self.function.params)):
            what, effect = self._parameter(at)
            args.append(what)
            if effect is not None:
                effects.append(effect)
        result = self.classes & ANY or ANY
        return Inferred(tuple(effects), tuple(args), result)

    def left(self) -> frozenset[Effect]:
        """The holds that the function leaves behind, without their places."""
        return frozenset(effect._replace(where="") for effect in self._acquired())

    # ------------------------------------------------------------- parameters

    def _parameter(self, at: int) -> tuple[str, Effect | None]:
        """What becomes of parameter ``at``, and the effect that says so."""
        if not self.function.params[at].pointer or not self.function.params[at].name:
            return "", None
        gone, kept, null_ok = 0, 0, False
        for leaving in self.report.exits:
            mask = leaving.mask or _VOID
            if self._null(leaving, at):
                null_ok = True
                continue
            left = self._seed(leaving, at)
            if left is None:
                if any(hold.family == _SEED and hold.site == at for hold in leaving.returned):
                    kept |= mask
                else:
                    gone |= mask
            elif left.stored and not self._gained(leaving, at):
                if at in self.stored:
                    gone |= mask
                else:
                    # In a structure of the function's own: borrowed for a while, or handed on by way of that.
                    return "open", None
            elif left.cond >= 0 and left.cond == leaving.value:
                kept |= mask & left.mask
                gone |= mask & ~left.mask
            elif left.cond >= 0:
                kept, gone = kept | mask, gone | mask
            else:
                kept |= mask
        if not gone:
            return "", None
        if gone & kept:
            return "some", None
        when = ANY if not kept else gone
        return self._ended(at, when, null_ok)

    def _ended(self, at: int, when: int, null_ok: bool) -> tuple[str, Effect | None]:
        families = {one.family for one in self.report.releases if one.matched and one.site == at}
        stored = any((left := self._seed(leaving, at)) is not None and left.stored for leaving in self.report.exits)
        if len(families) != 1 or stored:
            return ("take", None) if when == ANY else ("released", Effect("take", "", Place("arg", at), when))
        family = families.pop()
        plain = self._plain_release(family)
        null_ok = null_ok or (plain is not None and plain.null_ok)
        frees = plain is not None and plain.frees
        effect = Effect("release", family, Place("arg", at), when, null_ok, frees=frees, flags=_INFERRED)
        return "released", effect

    def _plain_release(self, family: str) -> Effect | None:
        """The effect of the API that usually ends a hold of the family."""
        known = self.callees.family(family)
        for name in known.releases if known is not None else ():
            summary = self.callees.summary(name)
            for effect in summary.effects if summary is not None else ():
                if effect.action == "release" and effect.resource == family:
                    return effect
        return None

    def _seed(self, leaving: Exit, at: int) -> Hold | None:
        return next((hold for hold in leaving.holds if hold.family == _SEED and hold.site == at), None)

    def _gained(self, leaving: Exit, at: int) -> bool:
        """Whether the path took a reference of its own on the parameter: what it stored is paid for."""
        roots, keys = self.report.roots, self.report.keys
        return any(
            hold.family in self.callees.owned and keys[roots[hold.obj]][:2] == ("p", at) for hold in leaving.holds
        )

    def _null(self, leaving: Exit, at: int) -> bool:
        keys = self.report.keys
        return any(value >= 0 and keys[value][:2] == ("p", at) and mask == ZERO for value, mask in leaving.facts)

    # ------------------------------------------------------------ acquisitions

    def _acquired(self) -> Iterator[Effect]:
        """Holds that the function leaves behind, on all paths or on those with certain results."""
        having: dict[tuple[str, Place], int] = {}
        lacking: dict[tuple[str, Place], int] = {}
        per_exit = [(leaving.mask or _VOID, dict(self._left(leaving))) for leaving in self.report.exits]
        for _, left in per_exit:
            having.update(dict.fromkeys(left, 0))
        for mask, left in per_exit:
            for thing in having:
                present = left.get(thing, 0) & mask
                having[thing] |= present
                lacking[thing] = lacking.get(thing, 0) | (mask & ~present)
        for (family, place), yes in having.items():
            no = lacking[family, place]
            if not yes & ~no:
                continue
            at = next(h.site for e in self.report.exits for h in (*e.holds, *e.returned) if h.family == family)
            context = known.context if (known := self.callees.family(family)) is not None else ""
            when = ANY if not no else yes & ~no & ANY
            yield Effect("acquire", family, place, when, context=context, flags=_INFERRED, where=str(at))

    def _left(self, leaving: Exit) -> Iterator[tuple[tuple[str, Place], int]]:
        """What an exit leaves held: (family, place) and the classes of result with which it is."""
        for hold in (*leaving.holds, *leaving.returned):
            if hold.family == _SEED:
                continue
            place = self._place(leaving, hold)
            if place is not None:
                mask = hold.mask if hold.cond >= 0 and hold.cond == leaving.value else ANY | _VOID
                yield (hold.family, place), mask

    def _place(self, leaving: Exit, hold: Hold) -> Place | None:
        if hold.family in self.callees.owned:
            return self._owned_place(leaving, hold)
        return self._address(hold.obj)

    def _owned_place(self, leaving: Exit, hold: Hold) -> Place | None:
        """Where the caller finds a reference or memory that is now its own; None when it does not."""
        keys, roots = self.report.keys, self.report.roots
        if hold in leaving.returned:
            return Place("result") if not hold.stored and roots[hold.obj] == leaving.value else None
        root = keys[roots[hold.obj]]
        if root[0] == "p" and not hold.stored:
            left = self._seed(leaving, root[1])
            return Place("arg", root[1]) if left is not None and not left.stored else None
        for address, value in leaving.memory:
            key = keys[address]
            if value == hold.obj and key[0] == "p":
                return Place("arg", key[1], deref=True)
            if value == hold.obj and key[0] == "f" and keys[key[1]][0] == "p":
                return Place("arg", keys[key[1]][1], deref=True, path=key[2])
        return None

    def _address(self, value: int) -> Place | None:
        """A lock or section in terms of the caller: global, or a field below an argument."""
        keys = self.report.keys
        path: list[str] = []
        while keys[value][0] in ("f", "ld") and len(path) < 4:
            if keys[value][0] == "f":
                path.insert(0, keys[value][2])
            value = keys[value][1]
        key = keys[value]
        if key[0] == "p":
            return Place("arg", key[1], path=".".join(path))
        if key[0] == "&g" and not path:
            return Place("global", path=key[1])
        return None

    # ----------------------------------------------------------------- unlocks

    def _unlocked(self) -> Iterator[Effect]:
        """Locks and sections of the caller that every path leaves."""
        blocks: dict[tuple[str, Place], set[int]] = {}
        where = self._blocks_of_calls()
        for event in self.report.events:
            if event.kind != "underflow" or event.family in self.callees.owned or event.pos not in where:
                continue
            place = self._address(event.obj)
            if place is not None:
                blocks.setdefault((event.family, place), set()).add(where[event.pos])
        for (family, place), through in blocks.items():
            if not _avoidable(self.cfg, through):
                yield Effect("release", family, place, flags=_INFERRED)

    def _blocks_of_calls(self) -> dict[int, int]:
        return {
            node.pos: at
            for at, block in enumerate(self.cfg.blocks)
            for expr in evaluated(block)
            for node in walk(expr)
            if isinstance(node, Call)
        }


def _avoidable(cfg: Cfg, through: set[int]) -> bool:
    """Whether some way from the entry to a return passes by none of the blocks."""
    seen, work = set(through), [0]
    while work:
        at = work.pop()
        if at in seen:
            continue
        seen.add(at)
        if isinstance(cfg.blocks[at].term, Leave):
            return True
        work.extend(cfg.successors(at))
    return False
