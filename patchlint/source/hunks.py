"""Placing hunks in a file, exactly as git's ``apply`` does without options.

The rules (git 2.39, apply.c): the search starts at the line that the hunk gives for the
new file, in the file as earlier hunks left it, and goes outward, forward first; no
context line may differ; a hunk that starts at line 0 or 1 must meet the beginning, one
without trailing context the end; lines that an earlier hunk wrote cannot match again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from patchlint.model import Hunk

MAX_SEARCH = 2_000_000_000
"""Bytes looked at while searching places for the hunks of one file; about two seconds."""

IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?=\s*\()")


class Placed(NamedTuple):
    """Where a hunk went: 0-based line in the file as it then was, and the lines it is off by."""

    hunk: Hunk
    at: int
    offset: int
    several: bool = False
    """More than one place fits."""


@dataclass(slots=True)
class Text:
    """A file being patched: its lines with their ends, and two facts about each of them."""

    lines: list[bytes]
    was: list[int]
    """Its line number before the patch; 0 for an added line."""
    written: bytearray
    """1 where a hunk wrote the line, context included: it cannot match again."""
    searched: int = 0


class Rejected(Exception):
    """The hunk fits nowhere."""


def text_of(data: bytes) -> Text:
    """Split a file into lines at newlines only."""
    lines = data.split(b"\n")
    last = lines.pop()
    whole = [line + b"\n" for line in lines]
    if last:
        whole.append(last)
    return Text(whole, list(range(1, len(whole) + 1)), bytearray(len(whole)))


def sides(hunk: Hunk) -> tuple[list[bytes], list[bytes]]:
    """The lines that the hunk wants to find and those that it leaves, with their ends."""
    old = [text + b"\n" for tag, text in hunk.lines if tag != "+"]
    new = [text + b"\n" for tag, text in hunk.lines if tag != "-"]
    if "-" in hunk.no_newline and old:
        old[-1] = old[-1][:-1]
    if "+" in hunk.no_newline and new:
        new[-1] = new[-1][:-1]
    return old, new


def place(text: Text, hunk: Hunk) -> Placed:
    """Apply one hunk to ``text``. Raises :class:`Rejected`."""
    if not any(tag != " " for tag, _ in hunk.lines):
        raise Rejected
    old, new = sides(hunk)
    want = hunk.new_start - 1 if hunk.new_start else 0
    at, several = _find(text, hunk, old, want)
    _write(text, hunk, at, len(old), new)
    return Placed(hunk, at, at - want, several)


def _find(text: Text, hunk: Hunk, old: list[bytes], want: int) -> tuple[int, bool]:
    begins, ends = hunk.old_start <= 1, hunk.lines[-1][0] != " "
    if begins or ends:
        at = 0 if begins else len(text.lines) - len(old)
        if at < 0 or not _fits(text, old, at, exactly=ends) or (ends and at + len(old) != len(text.lines)):
            raise Rejected
        return at, False
    want = min(want, len(text.lines))
    if _fits(text, old, want):
        return want, False
    return _search(text, old, want)


def _fits(text: Text, old: list[bytes], at: int, *, exactly: bool = False) -> bool:
    end = at + len(old)
    if end > len(text.lines):
        return False
    if any(text.written[at:end]):
        return False
    found = text.lines[at:end]
    if found == old:
        return True
    # git compares bytes, so away from the end a last line without newline also fits one that goes on with white space.
    return not exactly and bool(old) and found[:-1] == old[:-1] and _goes_on_blank(found[-1], old[-1])


def _goes_on_blank(line: bytes, start: bytes) -> bool:
    return not start.endswith(b"\n") and line.startswith(start) and not line[len(start) :].strip()


def _search(text: Text, old: list[bytes], want: int) -> tuple[int, bool]:
    """The fitting place nearest to ``want``, later ones first, and whether there is another."""
    places = _places(text, old)
    if not places:
        raise Rejected
    nearest = min(places, key=lambda at: (abs(at - want), at < want))
    return nearest, len(places) > 1


def _places(text: Text, old: list[bytes]) -> list[int]:
    """Every line at which ``old`` fits.

    Found through its longest line, so that blank lines and braces do not make the search
    quadratic.
    """
    ended = [i for i, line in enumerate(old) if line.endswith(b"\n")]
    if not ended:
        return [at for at in range(len(text.lines)) if _fits(text, old, at)] if old else []
    lines = text.lines
    text.searched += sum(map(len, lines))
    probe = max(ended, key=lambda i: len(old[i]))
    needle = old[probe]
    found: list[int] = []
    at = -1
    while text.searched < MAX_SEARCH:
        try:
            at = lines.index(needle, at + 1)
        except ValueError:
            return found
        text.searched += 64 * len(old)
        if at >= probe and _fits(text, old, at - probe):
            found.append(at - probe)
    return found


def why_rejected(text: Text, hunk: Hunk) -> str:
    """A reason that helps, when there is one: applied already, or white space that a mailer changed."""
    old, new = sides(hunk)
    if new and _contains(text.lines, new):
        return "the file has its result already"
    if old and _contains([_dense(line) for line in text.lines], [_dense(line) for line in old]):
        return "it fits when white space is ignored, as if a mailer had changed tabs"
    return ""


def _dense(line: bytes) -> bytes:
    return b"".join(line.split()) + b"\n"


def _contains(lines: list[bytes], part: list[bytes]) -> bool:
    """Whether ``part`` stands somewhere in ``lines``; linear, as both are searched joined."""
    return b"\n" + b"".join(part) in b"\n" + b"".join(lines)


def _write(text: Text, hunk: Hunk, at: int, length: int, new: list[bytes]) -> None:
    kept = iter(text.was[at : at + length])
    was: list[int] = []
    for tag, _ in hunk.lines:
        if tag == "+":
            was.append(0)
            continue
        number = next(kept)
        if tag == " ":
            was.append(number)
    end = at + length
    text.lines[at:end] = new
    text.was[at:end] = was
    text.written[at:end] = b"\1" * len(new)


def doubtful(placed: Placed, lines: list[bytes]) -> str:
    """The other function in which a hunk landed, when its place is doubtful; else empty.

    Doubtful: more than one place fits, it is not the expected one, and the ``@@`` section
    names a function that is not the last one to start above the place.  Of ``lines`` only
    those above the hunk are looked at.
    """
    if not placed.several or not placed.offset:
        return ""
    said = _function(placed.hunk.section)
    found = _enclosing(lines, placed.at)
    return found if said and found and said != found else ""


def _function(section: str) -> str:
    match = IDENTIFIER.search(section)
    return match[0] if match is not None else ""


def _enclosing(lines: list[bytes], at: int) -> str:
    """What ``diff -p`` would say for line ``at``: the nearest line above that starts with a letter, ``_`` or ``$``."""
    for index in range(min(at, len(lines)) - 1, -1, -1):
        line = lines[index]
        if line[:1].isalpha() or line[:1] in (b"_", b"$"):
            if line.rstrip().endswith(b":"):
                continue
            return _function(line.decode("utf-8", "replace"))
    return ""
