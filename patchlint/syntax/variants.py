"""The arrangements of a function's ``#if`` directives, as texts to parse."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from patchlint.syntax.conditions import (
    Atom,
    Both,
    Choice,
    Condition,
    Either,
    Group,
    Not,
    atoms,
    choices,
    config_atom,
    dead,
    selected,
)
from patchlint.syntax.outline import blank, span

MAX_VARIANTS = 16
"""Arrangements kept of one function."""
MAX_ATOMS = 4
"""Tests that are varied: 2 ** MAX_ATOMS is MAX_VARIANTS."""

MAX_NESTING = 50
"""Directives around one place that are looked at."""
MAX_GROUPS = 100
"""Directives of one function that are looked at."""

_ENABLED = re.compile(rb"\bIS_(?:ENABLED|BUILTIN|REACHABLE)\s*\(\s*(CONFIG_\w+)\s*\)")
_DECLARATIONS = re.compile(rb"(?:\s*+(?!(?:return|goto|break|continue|case|default|else|do)\b)[\w*,\[\]\s]*+;)*+\s*+")


class Arrangement(NamedTuple):
    """One arrangement: what it is called, its text, and the symbols it decides."""

    config: tuple[str, ...]
    text: bytes
    decided: Mapping[str, bool]


class Arrangements(NamedTuple):
    """All arrangements of a function; ``bound_hit`` when there are more."""

    kept: tuple[Arrangement, ...]
    bound_hit: bool


class Facts(NamedTuple):
    """What rules arrangements out: tests of which one at most holds, and the offsets of ``#error`` directives."""

    exclusive: tuple[frozenset[str], ...] = ()
    errors: tuple[int, ...] = ()

    def allow(self, choice: Choice, varied: Sequence[Atom]) -> bool:
        """Whether the tests can have these truths together.  Where all of a set are told, one of them holds."""
        for tests in self.exclusive:
            told = [choice[atom.name] for atom in varied if atom.yes in tests]
            if sum(told) > 1 or (len(told) == len(tests) and not any(told)):
                return False
        return True

    def compile(self, group: Group, index: int) -> bool:
        """Whether the branch taken does not stop the compiler."""
        if index < 0 or not self.errors:
            return True
        low, high = span(group, index)
        return bisect_right(self.errors, low) == bisect_right(self.errors, high)


def arrange(text: bytes, start: int, end: int, inner: Sequence[Group], fixed: Choice, facts: Facts) -> Arrangements:
    """The arrangements of the text between two offsets; ``inner`` are the groups that begin inside.

    ``fixed`` holds what the enclosing directives already decide.
    """
    enabled = _ENABLED.findall(text, start, end) if b"IS_" in text[start:end] else []
    if not inner and not enabled:
        return Arrangements((Arrangement((), text[start:end], {}),), False)
    bound_hit = len(inner) > MAX_GROUPS
    live = [group for group in inner[:MAX_GROUPS] if _matters(text, group)]
    varied = _varied([atom for group in live for branch in group.branches for atom in atoms(branch.condition)], fixed)
    bound_hit = bound_hit or len(varied) > MAX_ATOMS
    symbols = _varied([config_atom(symbol.decode()) for symbol in enabled], fixed)
    varied = [*varied, *(atom for atom in symbols if atom not in varied)][:MAX_ATOMS]
    names = {atom.name for atom in symbols} & {atom.name for atom in varied}
    found: dict[tuple[object, ...], list[dict[str, bool]]] = {}
    for choice in choices(varied, fixed, MAX_VARIANTS):
        taken = _taken(live, choice)
        possible = facts.allow(choice, varied) and all(facts.compile(group, index) for group, index in taken)
        if possible:
            key = (*((group.start, index) for group, index in taken), *(choice[name] for name in sorted(names)))
            found.setdefault(key, []).append(choice)
    same = list(found.values()) or [[dict(fixed) | {atom.name: True for atom in varied}]]
    kept = [_arrangement(text, start, end, inner, varied, group, names) for group in same]
    if len(kept) == 1:
        kept = [kept[0]._replace(config=())]
    return Arrangements(tuple(kept), bound_hit)


def _varied(found: Sequence[Atom], fixed: Choice) -> list[Atom]:
    return list(dict.fromkeys(atom for atom in found if atom.name not in fixed))


def _taken(groups: Sequence[Group], choice: Choice) -> list[tuple[Group, int]]:
    """Every group that the choice leaves visible, with the branch taken."""
    taken: list[tuple[Group, int]] = []
    hidden: list[tuple[int, int]] = []
    for group in groups:
        if any(low <= group.start < high for low, high in hidden):
            continue
        index = selected(group, choice)
        taken.append((group, index))
        hidden.extend(span(group, other) for other in range(len(group.branches)) if other != index)
    return taken


def _arrangement(
    text: bytes,
    start: int,
    end: int,
    inner: Sequence[Group],
    varied: Sequence[Atom],
    same: Sequence[dict[str, bool]],
    names: set[str],
) -> Arrangement:
    first = same[0]
    config = tuple(
        atom.yes if first[atom.name] else atom.no
        for atom in varied
        if all(choice[atom.name] == first[atom.name] for choice in same)
    )
    gone: list[tuple[int, int]] = []
    for group in inner:
        index = selected(group, first)
        gone.extend(span(group, other) for other in range(len(group.branches)) if other != index)
    cut = blank(text[start:end], ((low - start, min(high, end) - start) for low, high in gone))
    return Arrangement(config, cut, {name: first[name] for name in names})


def _matters(text: bytes, group: Group) -> bool:
    """Whether the branches of a group differ in more than plain declarations."""
    live = (span(group, index) for index in range(len(group.branches)) if index not in dead(group))
    return any(_DECLARATIONS.fullmatch(text, low, high) is None for low, high in live)


class Enclosing:
    """Answers in which branches an offset stands.  ``groups`` are in order of their start and nest."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._groups = groups
        self._starts = [group.start for group in groups]
        self._parents: list[int] = []
        around: list[int] = []
        for index, group in enumerate(groups):
            while around and groups[around[-1]].end <= group.start:
                around.pop()
            self._parents.append(around[-1] if around else -1)
            around.append(index)

    def at(self, offset: int) -> tuple[tuple[Group, int], ...]:
        """The groups around an offset, outermost first, with the branch it stands in."""
        found: list[tuple[Group, int]] = []
        index = bisect_right(self._starts, offset) - 1
        for _ in range(MAX_NESTING):
            if index < 0:
                break
            group = self._groups[index]
            branches = enumerate(group.branches)
            found.extend((group, number) for number, branch in branches if branch.start < offset < branch.end)
            index = self._parents[index]
        return tuple(reversed(found))


class Test(NamedTuple):
    """A plain test with its truth."""

    atom: Atom
    holds: bool


def decided(around: Sequence[tuple[Group, int]]) -> tuple[Test, ...]:
    """The plain tests whose truth is known inside the given branches."""
    found: list[Test] = []
    for group, index in around:
        for earlier in group.branches[:index]:
            found.extend(_plain(earlier.condition, False))
        found.extend(_plain(group.branches[index].condition, True))
    return tuple(found)


def _plain(condition: Condition, truth: bool) -> list[Test]:
    match condition:
        case Atom():
            return [Test(condition, truth)]
        case Not(operand):
            return _plain(operand, not truth)
        case Both(left, right) if truth:
            return [*_plain(left, True), *_plain(right, True)]
        case Either(left, right) if not truth:
            return [*_plain(left, False), *_plain(right, False)]
        case _:
            return []


def config_of(tests: Sequence[Test]) -> tuple[str, ...]:
    """The tests of configuration symbols as text."""
    words = [atom.yes if holds else atom.no for atom, holds in tests if atom.name.startswith("CONFIG_")]
    return tuple(dict.fromkeys(words))
