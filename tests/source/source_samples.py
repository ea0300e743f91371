"""Trees and patches in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from patchlint.mail import read_mail
from patchlint.model import BaseKind, Patch, Series
from patchlint.series import assemble


@dataclass(frozen=True)
class MemoryTree:
    """A tree reader over a dictionary; remembers what it was asked for."""

    files: Mapping[str, bytes]
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    kind: BaseKind = "head"
    rev: str = "HEAD"

    def read(self, path: str) -> bytes | None:
        self.asked.append(path)
        return self.files.get(path)

    def blob(self, blob_id: str) -> bytes | None:
        self.asked.append(blob_id)
        return self.blobs.get(blob_id)


def series(*diffs: str) -> Series:
    """One patch per diff, numbered."""
    envelope = "From 0123456789 Mon Sep 17 00:00:00 2001\n"
    mails = (
        f"{envelope}Subject: [PATCH {n}/{len(diffs)}] p{n}\n\nText.\n---\n\n{diff}-- \n2\n\n"
        for n, diff in enumerate(diffs, 1)
    )
    (one,) = assemble(read_mail("".join(mails).encode(), "x.mbox"))
    return one


def patch(diff: str) -> Patch:
    return series(diff).patches[0]
