"""The port through which this room sees a tree; ``host/`` implements it for git and for folders."""

from __future__ import annotations

from typing import Protocol

from patchlint.model import BaseKind


class TreeReader(Protocol):
    """A kernel tree at one revision, read only."""

    @property
    def kind(self) -> BaseKind:
        """What the base is: a commit, HEAD, blobs, or nothing."""

    @property
    def rev(self) -> str:
        """The revision read, for people; empty for a plain folder."""

    def read(self, path: str) -> bytes | None:
        """The file at the base; None when absent. Never reads outside the tree."""

    def blob(self, blob_id: str) -> bytes | None:
        """The blob with this (abbreviated) id; None when missing, ambiguous, or there is no git."""
