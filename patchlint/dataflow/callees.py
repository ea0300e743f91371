"""The port through which the engine learns what calls, macros, loops and guards do."""

from __future__ import annotations

from typing import Protocol

from patchlint.effects import Cleanup, Family, GuardClass, Loop, Macro, Summary


class Callees(Protocol):
    """Knowledge about names, by name alone; bound to one file by whoever implements it.

    Implementations answer from API models first and from bodies of callees where those are known.
    """

    def summary(self, name: str) -> Summary | None:
        """What a call of ``name`` does; None when nothing is known."""

    def macro(self, name: str) -> Macro | None:
        """A macro whose value the engine understands by itself."""

    def loop(self, name: str) -> Loop | None:
        """A loop macro."""

    def guard(self, name: str) -> GuardClass | None:
        """A ``guard()``/``CLASS()`` class."""

    def scope_release(self, name: str) -> Cleanup | None:
        """What ``__free(name)`` or ``__cleanup(name)`` releases; None when unknown."""

    def family(self, resource: str) -> Family | None:
        """The family called ``resource``."""
