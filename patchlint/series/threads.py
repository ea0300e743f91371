"""Which mails belong together: by counter, prefix and version, then by thread."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from patchlint.series.patch import ID, Read

ADDRESS = re.compile(r"<([^<>]+)>")
NUMBERED = re.compile(r"(?:v\d+-)?\d{2,5}-")


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
    """Where file order means something: one file, or the folder of files that are numbered by name."""
    path = PurePosixPath(read.message.source)
    return f"{path.parent}/" if NUMBERED.match(path.name) else read.message.source


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


def _join_loose(groups: list[list[Read]]) -> list[list[Read]]:
    """Mails sent without threading join the series of the same author that still lacks their number."""
    joined: list[list[Read]] = []
    for group in groups:
        home = next((g for g in joined if _completes(g, group)), None)
        if home is None:
            joined.append(list(group))
        else:
            home.extend(group)
    return joined


def _completes(home: list[Read], group: list[Read]) -> bool:
    if author(home[0]) != author(group[0]):
        return False
    if _threaded(home) and _threaded(group):
        return False
    return not _restarts(home, group)


def _threaded(group: list[Read]) -> bool:
    return len(group) > 1 or bool(parent(group[0]))


def _restarts(home: list[Read], group: list[Read]) -> bool:
    """The numbers begin anew with other patches: a second series of the same shape."""
    total = home[0].subject.total or 0
    have = {r.subject.n for r in home}
    fresh = {r.subject.n for r in group}
    if not have & fresh:
        return False
    covers = {r.subject.title for r in (*home, *group) if r.cover}
    same = {r.subject.title for r in home} & {r.subject.title for r in group}
    return not same and (len(covers) > 1 or have >= set(range(1, total + 1)))
