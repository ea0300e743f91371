"""Who called us: the processes above this one, as /proc tells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
_MAX_DEPTH = 64


class Process(NamedTuple):
    """A running process; ``started`` (clock ticks since boot) tells it from a later one with the same number."""

    pid: int
    parent: int
    started: str
    argv: tuple[str, ...]


def process(pid: int) -> Process | None:
    """The process with that number; None when it is gone or this system has no /proc."""
    folder = PROC / str(pid)
    try:
        status = (folder / "stat").read_text(errors="replace")
        command = (folder / "cmdline").read_bytes()
    except OSError:
        return None
    # The name in parentheses may hold anything, so the numbers are counted from its end.
    fields = status.rpartition(")")[2].split()
    if len(fields) < 20:
        return None
    words = command.rstrip(b"\0").split(b"\0")
    return Process(pid, int(fields[1]), fields[19], tuple(os.fsdecode(word) for word in words))


def ancestors() -> Iterator[Process]:
    """The processes above this one, the nearest first."""
    pid = os.getppid()
    for _ in range(_MAX_DEPTH):
        found = process(pid) if pid > 1 else None
        if found is None:
            return
        yield found
        pid = found.parent


def first_folder(pid: int) -> Path | None:
    """The folder a process was started in, as its environment remembers it."""
    try:
        variables = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((Path(os.fsdecode(each[4:])) for each in variables if each.startswith(b"PWD=")), None)
