"""The output of ``git show`` and ``git log -p``, which people save and send as patches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from patchlint.mail.headers import Headers
from patchlint.mail.text import readable

COMMIT = re.compile(rb"^commit [0-9a-f]{7,64}\b[^\n]*\n(?:Merge: [^\n]*\n)?Author: ", re.MULTILINE)
FIELD = re.compile(rb"(Author|AuthorDate|Date|Commit|CommitDate|Merge): +(.*)")
INDENT = b"    "
DATE = "%a %b %d %H:%M:%S %Y %z"
"""What git prints unless told otherwise."""


class Commit(NamedTuple):
    """A commit as text: fields like a mail's, its body without the indentation, and the lines before that."""

    fields: Headers
    body: list[bytes]
    lines: int


def starts(data: bytes) -> list[int]:
    """Where the commits of a log begin; empty when the text does not begin with one."""
    found = [match.start() for match in COMMIT.finditer(data)]
    return found if found and not data[: found[0]].strip() else []


def read_commit(lines: Sequence[bytes]) -> Commit | None:
    """Read one commit; None when the text is none."""
    if COMMIT.match(b"".join(lines[:3])) is None:
        return None
    at = 1
    fields: list[tuple[str, str]] = []
    while at < len(lines) and (match := FIELD.match(lines[at])):
        name = {b"Author": "from", b"Date": "date", b"AuthorDate": "date"}.get(match[1])
        if name:
            fields.append((name, readable(match[2].strip().decode("utf-8", "surrogateescape"))))
        at += 1
    while at < len(lines) and not lines[at].strip():
        at += 1
    if at < len(lines) and lines[at].startswith(INDENT):
        fields.append(("subject", readable(lines[at].strip().decode("utf-8", "surrogateescape"))))
        at += 1
    return Commit(tuple(fields), _unindented(lines[at:]), at)


def _unindented(lines: Sequence[bytes]) -> list[bytes]:
    """The message without its indentation; what follows it as it is."""
    end = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith(INDENT)), len(lines))
    return [*(line.removeprefix(INDENT) for line in lines[:end]), *lines[end:]]


def newest_first(dates: Sequence[str]) -> bool:
    """Whether a log stands in git's own order, which is the reverse of the order of application."""
    try:
        return len(dates) > 1 and datetime.strptime(dates[0], DATE) > datetime.strptime(dates[-1], DATE)
    except ValueError:
        return len(dates) > 1
