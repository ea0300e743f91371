"""Reading one hunk out of a mail, damaged or not.

This is a reader of our own because unidiff drops the lines that follow a hunk with
too small counts, splits text at form feeds and lone carriage returns, and raises at
the first wrapped line.  A mail reviewer has to name such a line and read on.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from patchlint.mail.text import exact, readable
from patchlint.model import Hunk

HEADER = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)")
SIGNATURES = (b"-- ", b"--", b"-- \r", b"--\r")
BOUNDARIES = (b"diff --git ", b"Index: ")

SHORT = "hunk ends before its counts are used up"

Lines = list[tuple[str, bytes]]


class Damage(NamedTuple):
    """What is wrong with a hunk, and the index of the body line that shows it."""

    line: int
    what: str


class HunkRead(NamedTuple):
    """A hunk, the index of the line after it, and its damage."""

    hunk: Hunk
    end: int
    damage: tuple[Damage, ...] = ()


class _Body(NamedTuple):
    lines: Lines
    end: int
    no_newline: str
    bad: int | None
    """Index of the line that cannot belong to the hunk as counted; None when the counts came out."""


def read_hunk(body: list[bytes], index: int, mail_line: int) -> HunkRead | None:
    """Read the hunk whose ``@@`` header is ``body[index]``; None when that is no header."""
    header = HEADER.match(body[index])
    if header is None:
        return None
    counts = _count(header[2]), _count(header[4])
    read = _read_body(body, index + 1, counts)
    damage: tuple[Damage, ...] = ()
    if read.bad is not None:
        read, damage = _repair(body, index + 1, counts, read)
    elif _left_over(body, read.end):
        damage = (Damage(read.end, "line left over after a hunk whose counts say that it has ended"),)
    return HunkRead(_hunk(header, read, mail_line), read.end, damage)


def _count(digits: bytes | None) -> int:
    return 1 if digits is None else int(digits)


def _hunk(header: re.Match[bytes], read: _Body, mail_line: int) -> Hunk:
    old = sum(tag != "+" for tag, _ in read.lines)
    new = sum(tag != "-" for tag, _ in read.lines)
    section = readable(exact(header[5].strip()))
    return Hunk(
        int(header[1]),
        old,
        int(header[3]),
        new,
        section,
        tuple(read.lines),
        read.no_newline,
        mail_line,
        read.bad is not None,
    )


def _read_body(body: list[bytes], index: int, counts: tuple[int, int], skip: frozenset[int] = frozenset(),
               lost: frozenset[int] = frozenset()) -> _Body:  # fmt: skip
    """Read lines until the counts are used up.

    Lines in ``skip`` are continuations that belong to the line before them, lines in
    ``lost`` are context without its leading space.
    """
    old, new = counts
    lines: Lines = []
    sides = ""
    while old > 0 or new > 0:
        if index >= len(body):
            return _Body(lines, index, sides, index)
        line = body[index]
        if index in skip:
            # Before the first line it continues the section of the @@ header, which is only a hint.
            lines[-1:] = [(tag, text + b" " + line.lstrip()) for tag, text in lines[-1:]]
        elif line[:1] == b"\\" and lines:
            sides += _unended(lines[-1])
        else:
            tag, text = (" ", line) if index in lost else _tagged(line)
            old, new = old - (tag != "+"), new - (tag != "-")
            if not tag or old < 0 or new < 0:
                return _Body(lines, index, sides, index)
            # Only the last line of a side can lack its newline.
            sides = sides and "".join(side for side in sides if side not in _sides(tag))
            lines.append((tag, text))
        index += 1
    if index < len(body) and body[index].startswith(b"\\ ") and lines:
        sides += _unended(lines[-1])
        index += 1
    return _Body(lines, index, sides, None)


def _tagged(line: bytes) -> tuple[str, bytes]:
    """Tag and text of a hunk line; an empty line is empty context, as GNU diff and stripping mailers write it."""
    if line in (b"", b"\r"):
        return " ", line
    if line[:1] in (b" ", b"+", b"-"):
        return line[:1].decode(), line[1:]
    return "", line


def _unended(line: tuple[str, bytes]) -> str:
    """The sides that end in this line without a newline; an empty line cannot."""
    return _sides(line[0]) if line[1] else ""


def _sides(tag: str) -> str:
    return {"-": "-", "+": "+", " ": "-+"}[tag]


def _signature(body: list[bytes], start: int, stop: int) -> int | None:
    """Index of a line taken as removed that is really the mail's signature: only a version and blank lines follow."""
    for index in range(start, min(stop, len(body))):
        if body[index] in SIGNATURES:
            rest = [line for line in body[index + 1 : index + 8] if line.strip()]
            if len(rest) <= 1 and all(line[:1] not in b" +-@" for line in rest):
                return index
    return None


def _left_over(body: list[bytes], index: int) -> bool:
    """Tell whether ``body[index]`` looks like one more line of the hunk that ended before it."""
    if index >= len(body) or body[index][:1] not in (b" ", b"+", b"-"):
        return False
    line = body[index]
    if not line.strip() or line in SIGNATURES or line.rstrip() == b"---":
        return False
    return not (line.startswith(b"--- ") and index + 1 < len(body) and body[index + 1].startswith(b"+++ "))


def _repair(body: list[bytes], start: int, counts: tuple[int, int], read: _Body) -> tuple[_Body, tuple[Damage, ...]]:
    """Explain the line that does not fit by what mailers do, when that makes the counts come out."""
    bad = read.end
    signature = _signature(body, start, bad)
    if signature is not None:
        return _read_body(body[:signature], start, counts), (Damage(signature, SHORT),)
    stop = _boundary(body, bad)
    odd = frozenset(i for i in range(bad, stop) if not _tagged(body[i])[0] and body[i][:1] != b"\\")
    if odd and bad in odd:
        wrapped = _read_body(body, start, counts, skip=odd)
        if wrapped.bad is None and not _left_over(body, wrapped.end):
            return wrapped, (_named(odd, "line was wrapped by a mailer"),)
        spaceless = _read_body(body, start, counts, lost=odd)
        if spaceless.bad is None and not _left_over(body, spaceless.end):
            return spaceless, (_named(odd, "context line lost its leading space"),)
    if bad >= stop or body[bad] in SIGNATURES:
        return read, (Damage(min(bad, len(body) - 1), SHORT),)
    return read, (Damage(bad, "line does not belong to the hunk as its counts say"),)


def _named(odd: frozenset[int], what: str) -> Damage:
    """One damage for all such lines of a hunk, at the first of them."""
    others = len(odd) - 1
    return Damage(min(odd), f"{what} (and {others} more in this hunk)" if others else what)


def _boundary(body: list[bytes], index: int) -> int:
    """Index of the next line at which this hunk must have ended."""
    while index < len(body):
        line = body[index]
        if line.startswith(BOUNDARIES) or HEADER.match(line) or line in SIGNATURES:
            return index
        if line.startswith(b"--- ") and index + 1 < len(body) and body[index + 1].startswith(b"+++ "):
            return index
        index += 1
    return index
