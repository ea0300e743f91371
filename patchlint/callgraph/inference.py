"""The effects of one body, by exploring its paths with a hold on every pointer parameter.

Only what happens on every path, or on every path with a result of certain classes, becomes an effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from patchlint.callgraph.addresses import Pointers, content_place, lock_place, out_place
from patchlint.callgraph.emptied import emptied, let_go
from patchlint.callgraph.flows import evaluated, graphs
from patchlint.callgraph.results import counted
from patchlint.cfg import Cfg, Leave, walk
from patchlint.dataflow import SEED, Callees, Exit, Hold, PathReport, Policy, explore
from patchlint.effects import ANY, NEG, POS, ZERO, Cleanup, Effect, Family, GuardClass, Loop, Macro, Place, Summary
from patchlint.ir import Call, Function

MAX_STATES = 400
"""States explored of one callee; a body that needs more stays unknown."""

_VOID = 8
"""The class of the result of a function that has none."""
_INFERRED = frozenset(("inferred",))
_OR_UNTOUCHED = frozenset(("or-untouched",))
"""Some path with the same result leaves the out-parameter as it was."""


class Inferred(NamedTuple):
    """What the paths of one body agree on."""

    effects: tuple[Effect, ...] = ()
    args: tuple[str, ...] = ()
    """For each parameter "take", "released" (an effect says when), "some" (taken on some paths), "open", "paid" (what
    may be kept has a reference of its own), or ""."""
    result: int = ANY
    never_returns: bool = False
    let_go: tuple[str, ...] = ()
    """Families of the caller's locks, sections and states that some path ends."""


NOTHING = Inferred()


def infer(function: Function, callees: Callees, pointers: Pointers, stored: frozenset[int]) -> Inferred:
    """The effects of a function, as far as all its variants agree.

    ``stored``: parameters that are put where they outlive the call.
    """
    if not function.whole or function.bound_hit:
        return NOTHING
    return agreed(_of_graph(function, cfg, _Seeded(callees, pointers), stored) for cfg in graphs(function))


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
    left = tuple(sorted({family for one in every for family in one.let_go}))
    return Inferred(effects, args, result, all(one.never_returns for one in every), left)


class _Seeded:
    """The callees, with the family of the holds that parameters start with: any release of an object ends it."""

    def __init__(self, callees: Callees, pointers: Pointers) -> None:
        self._callees = callees
        self.owned = pointers.owned
        self._seed = Family(SEED, "ref", "parameter", (), pointers.owned | pointers.handles, nests=True)

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
        return self._seed if resource == SEED else self._callees.family(resource)


def _of_graph(function: Function, cfg: Cfg, callees: _Seeded, stored: frozenset[int]) -> Inferred:
    report = counted(explore(cfg, function, callees, Policy(seed_params=True, max_states=MAX_STATES)))
    if report.bound_hit or any(leaving.vague for leaving in report.exits):
        return NOTHING
    if not report.exits:
        return Inferred((), ("",) * len(function.params), 0, True)
    paths = _Paths(function, cfg, report, callees, stored)
    inferred = paths.inferred()
    acquires = [one for one in inferred.effects if one.action == "acquire" and one.resource in callees.owned]
    gains = paths.gains()
    if not acquires and not gains:
        return inferred
    # What an unknown call may have kept is not surely the caller's: only what is left even so is told as such.
    doubted = counted(explore(cfg, function, callees, Policy(True, MAX_STATES, seed_params=True)))
    doubting = _Paths(function, cfg, doubted, callees, stored)
    left = doubting.left()
    effects = tuple(one for one in inferred.effects if one not in acquires or one._replace(where="") in left)
    args = tuple("paid" if at in gains and doubting.keeps(at) else what for at, what in enumerate(inferred.args))
    return inferred._replace(effects=effects, args=args)


@dataclass(slots=True)
class _Classes:
    """Classes of the result with which a place is left held, surely not held, and not written at all."""

    having: int = 0
    lacking: int = 0
    untouched: int = 0


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
        effects += emptied(self.report, self.callees.owned, {effect.place: effect.when for effect in effects})
        args = []
        for at in range(len(self.function.params)):
            what, effect = self._parameter(at)
            args.append(what)
            if effect is not None:
                effects.append(effect)
        result = self.classes & ANY or ANY
        return Inferred(tuple(effects), tuple(args), result, let_go=let_go(self.report, self.callees))

    def left(self) -> frozenset[Effect]:
        """The holds that the function leaves behind, without their places."""
        return frozenset(effect._replace(where="") for effect in self._acquired())

    def gains(self) -> frozenset[int]:
        """Parameters that stay the caller's although some path takes a reference on them and leaves it somewhere."""
        return frozenset(
            at for at in range(len(self.function.params))
            if any(self._gained(leaving, at) for leaving in self.report.exits) and self.keeps(at)
        )  # fmt: skip

    def keeps(self, at: int) -> bool:
        """Whether parameter ``at`` is the caller's on all ways out."""
        left = (self._seed(leaving, at) for leaving in self.report.exits if not self._absent(leaving, at))
        return all(seed is not None and not seed.stored and seed.cond < 0 for seed in left)

    # ------------------------------------------------------------- parameters

    def _parameter(self, at: int) -> tuple[str, Effect | None]:
        """What becomes of parameter ``at``, and the effect that says so."""
        if not self.function.params[at].pointer or not self.function.params[at].name:
            return "", None
        gone, kept, absent = 0, 0, 0
        for leaving in self.report.exits:
            mask = leaving.mask or _VOID
            if without := self._absent(leaving, at):
                absent |= without
                continue
            left = self._seed(leaving, at)
            if left is None:
                if any(hold.family == SEED and hold.site == at for hold in leaving.returned):
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
            surely = gone & ~kept & ANY
            return "some", self._ended(at, surely, absent)[1] if surely else None
        when = ANY if not kept else gone
        return self._ended(at, when, absent)

    def _ended(self, at: int, when: int, absent: int) -> tuple[str, Effect | None]:
        families = {one.family for one in self.report.releases if one.matched and one.site == at}
        stored = any((left := self._seed(leaving, at)) is not None and left.stored for leaving in self.report.exits)
        if len(families) != 1 or stored:
            return ("take", None) if when == ANY else ("released", Effect("take", "", Place("arg", at), when))
        family = families.pop()
        plain = self._plain_release(family)
        null_ok = bool(absent & ZERO) or (plain is not None and plain.null_ok)
        err_ok = bool(absent & NEG) or (plain is not None and plain.err_ok)
        frees = plain is not None and plain.frees
        effect = Effect("release", family, Place("arg", at), when, null_ok, err_ok, frees, flags=_INFERRED)
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
        return next((hold for hold in leaving.holds if hold.family == SEED and hold.site == at), None)

    def _gained(self, leaving: Exit, at: int) -> bool:
        """Whether the path took a reference of its own on the parameter: what it stored is paid for."""
        roots, keys = self.report.roots, self.report.keys
        return any(
            hold.family in self.callees.owned and keys[roots[hold.obj]][:2] == ("p", at) for hold in leaving.holds
        )

    def _absent(self, leaving: Exit, at: int) -> int:
        """The classes that parameter ``at`` may be in on a path that knows it to be NULL or an error; 0: it may be
        an object."""
        keys = self.report.keys
        known = (mask for value, mask in leaving.facts if value >= 0 and keys[value][:2] == ("p", at))
        return next((mask for mask in known if not mask & POS), 0)

    # ------------------------------------------------------------ acquisitions

    def _acquired(self) -> Iterator[Effect]:
        """Holds that the function leaves behind, on all paths or on those with certain results."""
        things = {thing: _Classes() for leaving in self.report.exits for thing, _ in self._left(leaving)}
        for leaving in self.report.exits:
            left = dict(self._left(leaving))
            for (family, place), classes in things.items():
                self._count(leaving, place, left.get((family, place), 0), classes)
        flagged = [(family, flag) for (_, family), site in self.report.sites.items() for flag in site.flags]
        weak, anew = ({family for family, flag in flagged if flag == wanted} for wanted in ("weak", "anew"))
        for (family, place), classes in things.items():
            if family in weak and place.root != "result":
                continue  # only set up: whoever calls it owes nothing for that alone
            surely = classes.having & ~classes.lacking
            flags = _INFERRED | ({"anew"} if family in anew else set())
            if surely & ~classes.untouched:
                surely &= ~classes.untouched
            elif surely:
                flags |= _OR_UNTOUCHED
            else:
                continue
            at = next(h.site for e in self.report.exits for h in (*e.holds, *e.returned) if h.family == family)
            context = known.context if (known := self.callees.family(family)) is not None else ""
            when = ANY if surely == self.classes else surely & ANY
            yield Effect("acquire", family, place, when, context=context, flags=flags, where=str(at))

    def _count(self, leaving: Exit, place: Place, present: int, classes: _Classes) -> None:
        """Note in ``classes`` how an exit leaves what is held at ``place`` with the results in ``present``."""
        mask = leaving.mask or _VOID
        classes.having |= present & mask
        absent = mask & ~present
        if not absent:
            return
        if place.deref and absent in (NEG, ZERO, _VOID):
            content = self._content(leaving, place)
            if content is None:
                classes.untouched |= absent
                return
            if absent == NEG and not self._classes_of(leaving, content) & POS:
                return  # a failure half way leaves what there is
        classes.lacking |= absent

    def _content(self, leaving: Exit, place: Place) -> int | None:
        """What an exit leaves at an out-parameter; None where it has not been written."""
        found = (value for address, value in leaving.memory if out_place(self.report.keys, address) == place)
        return next(found, None)

    def _classes_of(self, leaving: Exit, value: int) -> int:
        key = self.report.keys[value]
        if key[0] == "c":
            return ZERO if key[1] == 0 else NEG if key[1] < 0 else POS
        known = dict(leaving.facts).get(value, ANY)
        return known & NEG if key[0] == "neg" else known

    def _left(self, leaving: Exit) -> Iterator[tuple[tuple[str, Place], int]]:
        """What an exit leaves held: (family, place) and the classes of result with which it is."""
        for hold in (*leaving.holds, *leaving.returned):
            if hold.family == SEED:
                continue
            place = self._place(leaving, hold)
            if place is not None and not (place.root == "result" and self._known_elsewhere(leaving, hold)):
                if hold.cond >= 0 and hold.cond == leaving.value:
                    yield (hold.family, place), hold.mask
                elif hold.cond in (-1, hold.obj) or not dict(leaving.facts).get(hold.cond, ANY) & ~hold.mask:
                    yield (hold.family, place), ANY | _VOID

    def _known_elsewhere(self, leaving: Exit, hold: Hold) -> bool:
        """What is returned was put where others find it, or is registered: it belongs to that as well."""
        roots = self.report.roots
        return hold.stored or any(
            roots[other.obj] == roots[hold.obj] and "registers" in self.report.sites[other.site, other.family].flags
            for other in leaving.holds if other.family != SEED
        )  # fmt: skip

    def _place(self, leaving: Exit, hold: Hold) -> Place | None:
        if hold.family in self.callees.owned:
            return self._owned_place(leaving, hold)
        return lock_place(self.report.keys, hold.obj)

    def _owned_place(self, leaving: Exit, hold: Hold) -> Place | None:
        """Where the caller finds a reference or memory that is now its own; None when it does not."""
        keys, roots = self.report.keys, self.report.roots
        if hold in leaving.returned:
            # Often by way of the thing that it is a part of: ``return to_lamp(dev)``.
            return Place("result") if not hold.stored and roots[hold.obj] == roots[leaving.value] else None
        root = keys[roots[hold.obj]]
        if root[0] == "p" and not hold.stored:
            left = self._seed(leaving, root[1])
            path = where.path if (where := out_place(keys, hold.obj)) is not None else ""
            return Place("arg", root[1], path=path and "&" + path) if left is not None and not left.stored else None
        written = (address for address, value in leaving.memory if value == hold.obj)
        return next((place for address in written if (place := out_place(keys, address)) is not None), None)

    # ----------------------------------------------------------------- unlocks

    def _unlocked(self) -> Iterator[Effect]:
        """Locks and sections of the caller that every path leaves, and what every path frees of its structures."""
        blocks: dict[tuple[str, Place], set[int]] = {}
        events = [event for event in self.report.events if event.kind == "underflow"]
        where = self._blocks_of_calls() if events else {}
        for event in events:
            if event.pos not in where:
                continue
            owned = event.family in self.callees.owned
            place = (content_place if owned else lock_place)(self.report.keys, event.obj)
            if place is not None:
                blocks.setdefault((event.family, place), set()).add(where[event.pos])
        for (family, place), through in blocks.items():
            owned = family in self.callees.owned
            kept = self._classes_around(through)
            when = ANY if not kept else self.classes & ~kept & ANY if owned else 0
            if when:
                yield Effect("release", family, place, when, null_ok=owned, flags=_INFERRED)

    def _classes_around(self, through: set[int]) -> int:
        """The classes of result with which the function is left without passing any block of ``through``."""
        ends = (self.cfg.blocks[at].term for at in self.cfg.entered_without(through))
        left = {end.pos for end in ends if isinstance(end, Leave)}
        kept = _VOID if left else 0
        for leaving in self.report.exits:
            if leaving.pos in left:
                kept |= leaving.mask
        return kept

    def _blocks_of_calls(self) -> dict[int, int]:
        return {
            node.pos: at
            for at, block in enumerate(self.cfg.blocks)
            for expr in evaluated(block)
            for node in walk(expr)
            if isinstance(node, Call)
        }
