"""Joining states that hold the same things (property simulation: Das, Lerner, Seigle, "ESP", PLDI 2002).

Paths are kept apart while they differ in what they hold; where they agree on that, what they know is reduced to
what both know.  This keeps the number of states near the number of blocks and loses correlations only between
branches that meet again without having taken or dropped anything.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from patchlint.dataflow.state import Facts, State
from patchlint.dataflow.values import Value

_K = TypeVar("_K")
Tag: TypeAlias = tuple[str, int]

FEARED = frozenset(("freed", "dropped", "stale"))
NEVER_FOLLOWED = frozenset(("rcu-access",))


def property_key(st: State, facts: Facts, returned: frozenset[str], *, fears: bool = True) -> object:
    """What makes two states different in kind: holds, who points to them, the class of the result.

    With ``fears`` also which pointers are dead; a summary tells what is gone, not who uses it afterwards.
    """
    roots = facts.values.root
    held = {roots[h.obj] for h in st.holds}
    bound = frozenset((n, v) for n, v in st.env.items() if roots[v] in held) if held else None
    feared = frozenset((v, t[0]) for v, t in st.tags.items() if t[0] in FEARED) if fears and st.tags else None
    result = tuple((n, facts.mask(st, st.env[n])) for n in returned if n in st.env)
    return (st.holds, bound, feared, result, st.vague)


def thin(st: State, *, hard: bool) -> None:
    """Give up what was handed on or, ``hard``, all that goes with a pointer: fewer states differ.

    For functions that would not be walked to their end otherwise.  Locks and sections are never given up.
    """
    kept = tuple(h for h in st.holds if not h.owned or not (hard or h.stored))
    if len(kept) != len(st.holds):
        st.holds = kept
        st.vague = True


def join(old: State, new: State, block: int, facts: Facts) -> bool:
    """Reduce ``old`` to what holds in ``new`` as well; whether that changed it."""
    changed = _join_env(old, new, block, facts)
    changed |= _join_memory(old, new, block, facts)
    for key in list(old.facts):
        theirs = new.facts.get(key)
        mine = old.facts[key]
        if key < 0:
            if theirs != mine:
                del old.facts[key]
                changed = True
            continue
        union = mine | (facts.mask(new, key) if theirs is None else theirs)
        if union != mine:
            changed = True
            if union == facts.values.static[key]:
                del old.facts[key]
            else:
                old.facts[key] = union
    return _join_tags(old, new) or changed


def _join_tags(old: State, new: State) -> bool:
    """What either says of a value; of two tags the one that forbids to follow it."""
    changed = False
    for value, tag in new.tags.items():
        known = old.tags.get(value)
        if known is None or (tag[0] in NEVER_FOLLOWED and known[0] not in NEVER_FOLLOWED):
            old.tags[value] = tag
            changed = True
    return changed


def _join_env(old: State, new: State, block: int, facts: Facts) -> bool:
    changed = False
    for name in list(old.env):
        mine, theirs = old.env[name], new.env.get(name)
        if theirs is None:
            del old.env[name]
            changed = True
        elif mine != theirs:
            changed |= _merge(old, new, facts, mine, theirs, facts.values.make("phi", block, name), old.env, name)
    return changed


def _join_memory(old: State, new: State, block: int, facts: Facts) -> bool:
    changed = False
    for address in {*old.mem, *new.mem}:
        mine, theirs = old.mem.get(address), new.mem.get(address)
        if mine == theirs:
            continue
        initial = facts.values.make("ld", address)
        phi = facts.values.make("phi", block, address)
        mine, theirs = initial if mine is None else mine, initial if theirs is None else theirs
        changed |= _merge(old, new, facts, mine, theirs, phi, old.mem, address)
    return changed


def _merge(
    old: State, new: State, facts: Facts, mine: Value, theirs: Value, phi: Value, where: dict[_K, Value], key: _K
) -> bool:
    """Put ``phi`` where the two differ, knowing of it what holds for both."""
    mask = facts.mask(old, mine) | facts.mask(new, theirs)
    tag = _merged_tag(old.tags.get(mine), new.tags.get(theirs))
    new.facts[phi] = mask  # not what is known of the bearer of an earlier turn, or nothing
    if mine == phi:
        if facts.mask(old, phi) == mask and old.tags.get(phi) == tag:
            return False
        old.facts[phi] = mask
        _retag(old, phi, tag)
        return True
    for user in facts.values.users[phi]:
        old.facts.pop(user, None)
        old.facts.pop(~user, None)
    old.facts[phi] = mask
    _retag(old, phi, tag)
    where[key] = phi
    return True


def _retag(st: State, value: Value, tag: Tag | None) -> None:
    if tag is not None:
        st.tags[value] = tag


def _merged_tag(mine: Tag | None, theirs: Tag | None) -> Tag | None:
    """The tag of either, the worse of two; a pointer counts as dead only when both are."""
    if mine is None or theirs is None:
        one = mine or theirs
        return None if one is None or one[0] in FEARED else one
    if (mine[0] in FEARED) != (theirs[0] in FEARED):
        return theirs if mine[0] in FEARED else mine
    return theirs if theirs[0] in NEVER_FOLLOWED else mine
