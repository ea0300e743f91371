"""The port behind which the index lives: a database in ``host``, a dictionary in tests."""

from __future__ import annotations

from typing import Protocol


class Store(Protocol):
    """One tree at one revision, as the word scan knows it, and a memory for what was worked out."""

    @property
    def state(self) -> str:
        """A name for exactly this state of the tree; "" when there is none and nothing may be remembered by it."""

    def files_with(self, token: bytes) -> tuple[str, ...]:
        """Paths of the files that hold the token, ascending. A few may be wrong, none is missing."""

    def read(self, path: str) -> bytes | None:
        """Contents of a file of the tree; None when there is none."""

    def has(self, path: str) -> bool:
        """Whether the tree holds a C file at ``path``."""

    def remembered(self, kind: str, key: bytes) -> str | None:
        """What :meth:`remember` was told under this kind and key, now or in an earlier run."""

    def remember(self, kind: str, key: bytes, value: str) -> None:
        """Keep a value that follows from its key alone (a digest of all it was made from)."""


class NoStore:
    """No tree: nothing is known."""

    state = ""

    def files_with(self, token: bytes) -> tuple[str, ...]:
        return ()

    def read(self, path: str) -> bytes | None:
        return None

    def has(self, path: str) -> bool:
        return False

    def remembered(self, kind: str, key: bytes) -> str | None:
        return None

    def remember(self, kind: str, key: bytes, value: str) -> None:
        return None
