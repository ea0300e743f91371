"""Which decrement answers which increment of a counted key, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from patchlint.checkers.canonical import atom, strip
from patchlint.checkers.conditions import (
    OWNED,
    STATE,
    Condition,
    Kind,
    Lit,
    agree,
    atoms_of,
    common,
    keep,
    kinds_of,
    tell,
)
from patchlint.checkers.standing import Standing, Store, reachable
from patchlint.checkers.static_key_sites import KeyFacts, KeySite
from patchlint.ir import Expr, Name, Num, Unary

Relation = Literal["same", "remembered", "switch", "undo", "unknown", "differs", "own state", "cleared"]
"""How a decrement relates to an increment.  same: equal conditions.  remembered: it tests a flag that the set-up set.
switch: the other arm of one function.  undo: after it in one function.  differs: other state of the object.
own state: it asks the key itself, not the object.  cleared: it tests a field emptied before."""

ANSWERS: Final[frozenset[Relation]] = frozenset(("same", "remembered", "unknown"))


@dataclass(frozen=True, slots=True)
class Pairing:
    """The verdict on one increment: the best answer found, or why there is none."""

    inc: KeySite
    dec: KeySite | None
    relation: Relation | Literal["none"]


def pairings(facts: KeyFacts) -> tuple[Pairing, ...]:
    """For each increment of the key the decrement that answers it best."""
    decs = facts.having("dec")
    balanced = _balanced(facts)
    return tuple(_best(inc, decs, balanced) for inc in facts.having("inc"))


def relation(inc: KeySite, dec: KeySite) -> Relation:
    """How ``dec`` relates to ``inc``."""
    if (inc.path, inc.function) == (dec.path, dec.function):
        return _within(inc, dec)
    if _cleared(dec):
        return "cleared"
    if _own_state(dec) and not _own_state(inc):
        return "own state"
    if agree(inc.condition, dec.condition):
        return "same"
    if _remembered(inc, dec):
        return "remembered"
    if _certain(inc.condition) and _certain(dec.condition):
        return "differs"
    return "unknown"


def told(site: KeySite) -> str:
    """The condition of a site for people: the lasting part, or all of it where that is nothing."""
    lasting = tell(site.condition, OWNED)
    return lasting if lasting != "always" else tell(site.condition, OWNED | {"param", "key"})


def _best(inc: KeySite, decs: tuple[KeySite, ...], balanced: frozenset[tuple[str, str]]) -> Pairing:
    """The answer to ``inc``: a decrement elsewhere that fits, else the other arm of its own function."""
    order: tuple[Relation, ...] = ("same", "remembered", "unknown", "cleared", "own state", "differs", "undo")
    related = [(relation(inc, dec), dec) for dec in decs]
    own = (inc.path, inc.function)
    for name, dec in related:
        if name == "switch":
            return Pairing(inc, dec, "switch")
    outside = [(name, dec) for name, dec in related if (dec.path, dec.function) not in balanced | {own}]
    for pool in (outside, [pair for pair in related if own in balanced or pair[0] == "undo"]):
        for wanted in order:
            for name, dec in pool:
                if name == wanted:
                    return Pairing(inc, dec, name)
    return Pairing(inc, None, "none")


def _balanced(facts: KeyFacts) -> frozenset[tuple[str, str]]:
    """Functions that both increment and decrement, in different arms: each call leaves a state that they keep."""
    found = set()
    for inc in facts.having("inc"):
        for dec in facts.having("dec"):
            if (inc.path, inc.function) == (dec.path, dec.function) and _within(inc, dec) == "switch":
                found.add((inc.path, inc.function))
    return frozenset(found)


def _within(inc: KeySite, dec: KeySite) -> Relation:
    """Two sites of one function: arms of a switch, or a decrement on the way after the increment."""
    if inc.place is None or dec.place is None or inc.place[0].variant.config != dec.place[0].variant.config:
        return "switch"
    placed, stand = inc.place
    if dec.place[1].block in reachable(placed.cfg, stand.block) and not _opposed(inc.condition, dec.condition):
        return "switch" if _exchanges(inc.condition, dec.condition) and not _asks_note(inc, dec) else "undo"
    return "switch"


def _exchanges(inc: Condition, dec: Condition) -> bool:
    """``if (new) inc; if (old) dec;``: both under tests of different values, neither of which is a failure."""
    mine = (common(inc, True) - common(dec, True)) | (common(inc) - common(dec))
    theirs = (common(dec, True) - common(inc, True)) | (common(dec) - common(inc))
    return bool(mine and theirs) and not any(lit.kind == "progress" for lit in mine | theirs)


def _opposed(one: Condition, other: Condition) -> bool:
    """Whether a literal of one is denied by the other."""
    return any(Lit(lit.atom, not lit.holds, lit.kind) in common(other, True) for lit in common(one, True))


def _own_state(site: KeySite) -> bool:
    """Guarded by the key's own count and by nothing lasting of the object."""
    own = f"key {site.key}"
    return own in atoms_of(site.condition, frozenset(("key",))) and not kinds_of(site.condition) & OWNED


def _certain(condition: Condition) -> bool:
    """One conjunction of field truths, nothing else that lasts: such conditions can be told apart for sure."""
    lasting = keep(condition, OWNED)
    return len(lasting) == 1 and bool(kinds_of(lasting)) and kinds_of(lasting) <= STATE


def _remembered(inc: KeySite, dec: KeySite) -> bool:
    """Whether all that the decrement asks was set by the set-up, or equals what the set-up asked."""
    asked = common(keep(dec.condition, OWNED))
    if not asked or len(keep(dec.condition, OWNED)) != 1:
        return False
    known = common(keep(inc.condition, OWNED)) | marks(inc)
    return all(any(lit.atom == other.atom and lit.holds == other.holds for other in known) for lit in asked)


def _asks_note(inc: KeySite, dec: KeySite) -> bool:
    """Whether the decrement asks, as it stands by then, what the increment noted: not a value read before."""
    asked = {(lit.atom, lit.holds) for lit in common(dec.condition, True) if lit.kind in OWNED}
    return bool(asked) and asked <= {(lit.atom, lit.holds) for lit in common(inc.condition) | marks(inc)}


def marks(inc: KeySite) -> frozenset[Lit]:
    """What the set-up leaves behind for the tear-down: flags set and values copied where the increment stands."""
    if inc.place is None:
        return frozenset()
    placed, _ = inc.place
    mine = common(inc.condition)
    found: set[Lit] = set()
    for store in placed.stores:
        if common(store.condition) <= mine | common(keep(store.condition, frozenset(("local",)))):
            found.update(_mark(store, placed))
            found.update(_copies(store, mine, placed))
    for stand in placed.stands:
        if "set_bit" in stand.call.name or stand.call.name.endswith("set_flag"):
            found.update(
                Lit(f"bit {a.id}", True, "bit") for a in stand.call.args if isinstance(a, Name) and a.id.isupper()
            )
    found.update(Lit(lit.atom, True, "bit") for lit in mine if lit.kind == "bit" and not lit.holds)
    return frozenset(found)


def _mark(store: Store, placed: Standing) -> Iterator[Lit]:
    """The truth that a store gives to its field: ``x->f = true``, ``x->flags |= F``, ``x->f = pointer``."""
    value = strip(store.value) if store.value is not None else None
    kind: Kind = "field" if store.place.startswith(".") else "global"
    if store.op == "|=" and isinstance(value, Name):
        yield Lit(f"({store.place}&{value.id})", True, "field")
    elif store.op != "=" or value is None:
        return
    elif isinstance(value, Num) and value.value is not None:
        yield Lit(store.place, value.value != 0, kind)
    elif isinstance(value, Name) and value.id in ("true", "false", "NULL"):
        yield Lit(store.place, value.id == "true", kind)
    elif (isinstance(value, Unary) and value.op == "&") or _known_true(value, placed, store.condition):
        yield Lit(store.place, True, kind)


def _known_true(value: Expr, placed: Standing, condition: Condition) -> bool:
    text = atom(value, placed.names)
    return any(lit.atom == text and lit.holds for lit in common(condition))


def _copies(store: Store, mine: frozenset[Lit], placed: Standing) -> frozenset[Lit]:
    """``obj->f = cfg->g`` with the increment under ``cfg->g``: asking ``obj->f`` later is asking the same."""
    if store.value is None or store.op != "=":
        return frozenset()
    text = atom(store.value, placed.names)
    return frozenset(Lit(store.place, lit.holds, "field") for lit in mine if lit.atom == text)


def _cleared(dec: KeySite) -> bool:
    """Whether a field that the decrement asks was emptied in the same function before it was asked."""
    return cleared_before(dec) is not None


def cleared_before(dec: KeySite) -> Store | None:
    """The store that empties a field before the decrement asks it, so that it never stands."""
    if dec.place is None:
        return None
    placed, stand = dec.place
    asked = {lit.atom for lit in common(dec.condition) if lit.kind == "field" and lit.holds}
    for store in placed.stores:
        if store.place in asked and store.op == "=" and is_nothing(store.value):
            lits = {lit.atom for lit in common(store.condition) if lit.holds}
            before = store.pos < stand.call.pos and stand.block in {store.block, *reachable(placed.cfg, store.block)}
            if before and store.place not in lits:
                return store
    return None


def is_nothing(value: Expr | None) -> bool:
    """NULL, 0 or false."""
    value = strip(value) if value is not None else None
    if isinstance(value, Num):
        return value.value == 0
    return isinstance(value, Name) and value.id in ("NULL", "false")
