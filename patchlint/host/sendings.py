"""One run of ``git send-email``, gathered over the calls of its ``sendemail-validate`` hook.

Git calls the hook once for each mail.  From 2.41 on it tells which of how many files this is; before, the last one is
known by the command line of the ``git send-email`` above us, by the files beside the mail, or by its subject's n/m.
What is gathered lies in a folder named after that process and its start, so that two sendings never mix, and the
folders of processes that have ended are removed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from patchlint.host.processes import Process, ancestors, first_folder, process

_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "env", "git"))
_SUBJECT = re.compile(rb"^subject:((?:.*\n[ \t])*.*)", re.IGNORECASE | re.MULTILINE)
_COUNTER = re.compile(rb"\[[^\]]*?\b0*(\d+)\s*/\s*0*(\d+)\b[^\]]*\]")
_HEAD = 1 << 16
"""Bytes of a mail in which its subject is looked for."""


class Sending(NamedTuple):
    """The sending a hook call belongs to; ``sender`` is the process that sends (None: not found)."""

    ident: str
    sender: Process | None


class Counter(NamedTuple):
    """Which of how many."""

    n: int
    total: int


def current_sending() -> Sending:
    """The sending above this process."""
    chain = list(ancestors())
    for each in chain:
        if any("send-email" in Path(word).name for word in each.argv[:4]):
            return Sending(f"{each.pid}-{each.started}", each)
    for each in chain[1:]:
        # Called by something else (a test, another mailer): the process above the hook's own shells.
        if each.argv and Path(each.argv[0]).name not in _SHELLS:
            return Sending(f"{each.pid}-{each.started}", None)
    return Sending(f"session-{os.getsid(0)}", None)


def file_counter(environment: Mapping[str, str]) -> Counter | None:
    """What git from 2.41 on tells of this file, or None."""
    try:
        return Counter(int(environment["GIT_SENDEMAIL_FILE_COUNTER"]), int(environment["GIT_SENDEMAIL_FILE_TOTAL"]))
    except (KeyError, ValueError):
        return None


def subject_counter(mail: bytes) -> Counter | None:
    """n/m of the mail's subject, or None."""
    subject = _SUBJECT.search(mail[:_HEAD])
    found = _COUNTER.search(b" ".join(subject[1].split())) if subject else None
    return Counter(int(found[1]), int(found[2])) if found else None


class Gathered:
    """The mails of one sending so far, kept below ``home`` (a folder of our own in the repository's git folder)."""

    def __init__(self, home: Path, sending: Sending) -> None:
        self._home = home
        self._sending = sending
        self.folder = home / sending.ident

    def add(self, mail: Path, data: bytes, counter: Counter | None) -> bool:
        """Keep one mail; True when the series is whole, so that it is time to review it."""
        self._remove_ended()
        by_subject = subject_counter(data)
        if _starts(counter, by_subject, self._sending):
            self.clear()
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        number = len(self.mails()) + 1
        (self.folder / f"{number:05d}-{mail.name}").write_bytes(data)
        return _is_last(mail, counter, by_subject, self._sending)

    def mails(self) -> list[Path]:
        """The mails in the order in which they came."""
        return sorted(self.folder.iterdir()) if self.folder.is_dir() else []

    def clear(self) -> None:
        """Forget the mails."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _remove_ended(self) -> None:
        """Drop what sendings left behind whose process is gone (interrupted, or stopped by something else)."""
        for folder in self._home.iterdir() if self._home.is_dir() else ():
            pid, _, started = folder.name.partition("-")
            if not pid.isdigit() or folder == self.folder:
                continue
            alive = process(int(pid))
            if alive is None or alive.started != started:
                shutil.rmtree(folder, ignore_errors=True)


def _starts(counter: Counter | None, by_subject: Counter | None, sending: Sending) -> bool:
    """Whether this mail is surely the first of its sending, so that nothing may be kept from before."""
    if counter is not None:
        return counter.n == 1
    # Without a process to tell sendings apart, a cover letter or a first patch begins one.
    return sending.sender is None and by_subject is not None and by_subject.n == 0


def _is_last(mail: Path, counter: Counter | None, by_subject: Counter | None, sending: Sending) -> bool:
    if counter is not None:
        return counter.n >= counter.total
    if by_subject is not None and by_subject.n >= by_subject.total:
        return True
    files = _files_of(sending.sender, mail) if sending.sender else []
    if files:
        return _same(files[-1], mail)
    return by_subject is None


def _files_of(sender: Process, mail: Path) -> list[Path]:
    """The files a ``git send-email`` is sending, in order; [] when the mail is none of those found."""
    start = first_folder(sender.pid) or Path()
    named: list[Path] = []
    for word in sender.argv[1:]:
        place = start / word
        if place.is_dir():
            named += sorted(each for each in place.iterdir() if each.is_file())
        elif place.is_file():
            named.append(place)
    files = [each for each in named if not each.name.endswith(("~", ".bak", ".orig"))]
    if any(_same(each, mail) for each in files):
        return files
    # Made from revisions by git format-patch, alone in a folder of its own.
    beside = sorted(each for each in mail.parent.iterdir() if each.is_file())
    return beside if mail in beside else []


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
