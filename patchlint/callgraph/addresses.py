"""Values of a body in terms of its caller: where an argument leads to them, what goes with a pointer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from patchlint.dataflow import Key
from patchlint.effects import Place
from patchlint.ruleset import Models


class Pointers(NamedTuple):
    """The families of holds that go with a pointer."""

    owned: frozenset[str]
    """References and memory."""
    handles: frozenset[str]
    """Mappings and the like, see ``Family.handle``."""


def pointers(models: Models) -> Pointers:
    """The families whose holds go with a pointer."""
    found = [family for name in models.families() if (family := models.family(name)) is not None]
    return Pointers(
        frozenset(one.name for one in found if one.kind in ("ref", "mem")),
        frozenset(one.name for one in found if one.handle),
    )


def out_place(keys: Sequence[Key], address: int) -> Place | None:
    """``*arg``, or a field of the structure that a parameter points to."""
    path: list[str] = []
    while keys[address][0] == "f":
        path.insert(0, keys[address][2])
        address = keys[address][1]
    return Place("arg", keys[address][1], True, ".".join(path)) if keys[address][0] == "p" else None


def lock_place(keys: Sequence[Key], value: int) -> Place | None:
    """A lock or section: global, or a field below an argument."""
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


def content_place(keys: Sequence[Key], value: int) -> Place | None:
    """The field below an argument, or ``*arg``, that ``value`` was read from."""
    if keys[value][0] != "ld":
        return None
    to = keys[keys[value][1]]
    if to[0] == "p":
        return Place("arg", to[1], True)
    place = lock_place(keys, value)
    return place if place is not None and place.root == "arg" and place.path else None
