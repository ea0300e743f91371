"""Which mails belong together: by counter, prefix and version, then by thread."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from patchlint.series.patch import ID, Read

ADDRESS = re.compile(r"<([^<>]+)>")
NUMBERED = re.compile(r"(v\d+-)?\d{2,5}-")
MAX_HOMES = 20
"""Series of one author and shape that a mail without a thread may join; the latest."""


class Key(NamedTuple):
    """What all patches of one version of a series share."""

    prefix: frozenset[str]
    version: tuple[int, ...]
    resend: bool
    total: int


def key(read: Read) -> Key:
    """The key of a mail with a counter."""
    subject = read.subject
    return Key(frozenset(map(str.upper, subject.prefix)), subject.version, subject.resend, subject.total or 0)


def author(read: Read) -> str:
    """The sender's address, lower-case; the name where there is no address."""
    sender = read.message.header("from")
    match = ADDRESS.search(sender)
    return (match[1] if match is not None else sender).strip().lower()


def parent(read: Read) -> str:
    """Message id of the mail that this one answers, or nothing."""
    found = ID.findall(read.message.header("in-reply-to")) or ID.findall(read.message.header("references"))[-1:]
    return found[0] if found else ""


def container(read: Read) -> str:
    """Where file order means something: one file, or a folder's files that are numbered by name (``v2-0001-x``)."""
    path = PurePosixPath(read.message.source)
    match = NUMBERED.match(path.name)
    return read.message.source if match is None else f"{path.parent}/{match[1] or ''}"


def components(reads: Sequence[Read]) -> list[list[Read]]:
    """Split mails with one key into series, in order of first appearance.

    Mails are together when one answers the other, when both answer the same mail, or
    when they have no message id and stand in one file (format-patch output, whose
    patches may have several authors).
    """
    groups = _Groups(len(reads))
    owner: dict[str, int] = {}
    for i, read in enumerate(reads):
        for name in _bonds(read):
            groups.join(i, owner.setdefault(name, i))
    return _join_loose(groups.members(reads))


def _bonds(read: Read) -> Iterable[str]:
    """Names under which a mail meets its companions."""
    own = read.patch.message_id
    if own:
        yield own
    if above := parent(read):
        yield above
    if not own:
        yield "file:" + container(read)


class _Groups:
    """Union-find over positions."""

    def __init__(self, size: int) -> None:
        self._up = list(range(size))

    def find(self, i: int) -> int:
        while self._up[i] != i:
            self._up[i] = self._up[self._up[i]]
            i = self._up[i]
        return i

    def join(self, a: int, b: int) -> None:
        one, two = sorted((self.find(a), self.find(b)))
        self._up[two] = one

    def members(self, reads: Sequence[Read]) -> list[list[Read]]:
        groups: dict[int, list[Read]] = {}
        for i, read in enumerate(reads):
            groups.setdefault(self.find(i), []).append(read)
        return list(groups.values())


@dataclass(slots=True)
class _Home:
    """A series in the making, with what tells whether further mails belong to it."""

    reads: list[Read]
    threaded: bool
    numbers: set[int]
    titles: set[str]
    covers: set[str]

    def take(self, other: _Home) -> None:
        self.reads += other.reads
        self.numbers |= other.numbers
        self.titles |= other.titles
        self.covers |= other.covers

    def lacks(self, other: _Home) -> bool:
        """The mails may complete this series: not from another thread, and no second series of the same shape."""
        if self.threaded and other.threaded:
            return False
        if not self.numbers & other.numbers or self.titles & other.titles:
            return True
        total = self.reads[0].subject.total or 0
        begins_anew = len(self.numbers - {0}) >= total or len(self.covers | other.covers) > 1
        return not begins_anew


def _home(group: list[Read]) -> _Home:
    return _Home(
        list(group),
        len(group) > 1 or bool(parent(group[0])),
        {r.patch.n for r in group},
        {r.subject.title for r in group},
        {r.subject.title for r in group if r.cover},
    )


def _join_loose(groups: list[list[Read]]) -> list[list[Read]]:
    """Mails sent without threading join the series of the same author that still lacks their number."""
    homes: list[_Home] = []
    by_author: dict[str, list[_Home]] = {}
    for group in groups:
        fresh = _home(group)
        near = by_author.setdefault(author(group[0]), [])
        home = next((h for h in near[-MAX_HOMES:] if h.lacks(fresh)), None)
        if home is None:
            homes.append(fresh)
            near.append(fresh)
        else:
            home.take(fresh)
    return [home.reads for home in homes]
