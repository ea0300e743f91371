"""Finding the file diffs in a mail body, as git's ``apply`` finds them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from patchlint.model import FileDiff, Hunk
from patchlint.series import names
from patchlint.series.hunks import HEADER, SIGNATURES, Damage, read_hunk

MAX_HUNKS = 50_000
"""Hunks read from one mail; the widest treewide patches of the kernel have a fifth of this."""

INDEX = re.compile(rb"index ([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: (\d{6}))?")
BINARY = re.compile(rb"Binary files .* differ|GIT binary patch")

Kind = Literal["modify", "new", "delete", "rename", "copy", "mode"]
SourceLine = Callable[[int], int]


class Found(NamedTuple):
    """A file diff and the body lines [first, end) that it takes."""

    diff: FileDiff
    first: int
    end: int
    damage: tuple[Damage, ...] = ()


class Scan(NamedTuple):
    """All file diffs of a body, its ``---`` lines outside of them, and hunks without a file."""

    files: tuple[Found, ...]
    separators: tuple[int, ...]
    damage: tuple[Damage, ...] = ()


class _Hunks(NamedTuple):
    hunks: tuple[Hunk, ...]
    end: int
    damage: tuple[Damage, ...] = ()


@dataclass(slots=True)
class _Header:
    """What the extended header lines of ``diff --git`` said so far."""

    name: bytes | None = None
    old: bytes | None = None
    new: bytes | None = None
    kind: Kind = "modify"
    modes: list[str] = field(default_factory=lambda: ["", ""])
    blobs: tuple[str, str] = ("", "")
    end: int = 0
    contradicts: bool = False
    """A ``---`` or ``+++`` line names a file that was said not to be there."""


def scan(body: list[bytes], source_line: SourceLine) -> Scan:
    """Find every file diff in ``body`` (lines without newline)."""
    files: list[Found] = []
    separators: list[int] = []
    damage: list[Damage] = []
    budget = MAX_HUNKS
    index = 0
    # Behind a sound file diff a line with a tag must be explained; behind a signature, damage or prose it need not.
    behind_file = False
    while index < len(body):
        found = _diff_at(body, index, source_line, budget)
        if found is not None:
            files.append(found)
            budget -= len(found.diff.hunks)
            index = found.end
            behind_file = not found.damage and not found.diff.binary
            if budget <= 0:
                damage.append(Damage(index, f"more than {MAX_HUNKS} hunks in one mail; the rest is not read"))
                break
            continue
        line = body[index]
        if line.startswith(b"---") and line.rstrip() == b"---":
            separators.append(index)
        elif line in SIGNATURES:
            behind_file = False
        elif what := _stray(body, index, behind_file):
            damage.append(Damage(index, what))
            behind_file = False
        index += 1
    return Scan(tuple(files), tuple(separators), tuple(damage))


def _stray(body: list[bytes], index: int, behind_file: bool) -> str:
    """What is wrong with a line outside of all file diffs that looks like part of one; empty when nothing."""
    line = body[index]
    if line.startswith(b"@@ -"):
        return "hunk without a file header" if HEADER.match(line) else "hunk header that cannot be read"
    if line.startswith(b"--- ") and index + 1 < len(body) and body[index + 1].startswith(b"+++ "):
        return "file names without a hunk"
    if behind_file and line[:1] in (b"+", b"-"):
        return "line outside of any hunk"
    return ""


def _diff_at(body: list[bytes], index: int, source_line: SourceLine, budget: int) -> Found | None:
    line = body[index]
    if line.startswith(b"diff --git "):
        return _git_diff(body, index, source_line, budget)
    if line.startswith(b"--- ") and index + 2 < len(body) and body[index + 1].startswith(b"+++ "):
        return _plain_diff(body, index, source_line, budget)
    return None


def _plain_diff(body: list[bytes], index: int, source_line: SourceLine, budget: int) -> Found | None:
    if not HEADER.match(body[index + 2]):
        return None
    old, new = names.pair(body[index][4:], body[index + 1][4:])
    hunks, end, damage = _hunks(body, index + 2, source_line, budget)
    kind: Kind = "modify"
    if old is None or (len(hunks) == 1 and hunks[0].old_start == 0 and hunks[0].old_count == 0):
        # Without /dev/null the file may also exist and be empty, so the old name is kept.
        kind = "new"
    elif new is None:
        kind = "delete"
    diff = FileDiff(_text(old), _text(new), kind, hunks=hunks, mail_line=source_line(index))
    return Found(diff, index, end, damage)


def _text(name: bytes | None) -> str | None:
    return None if name is None else names.text(name)


def _git_diff(body: list[bytes], index: int, source_line: SourceLine, budget: int) -> Found | None:
    header = _read_header(body, index)
    if header.end == index + 1:
        return None
    old, new = header.old or header.name, header.new or header.name
    if header.kind == "new":
        old, new = None, new or old
    elif header.kind == "delete":
        old, new = old or new, None
    if old is None and new is None:
        return None
    end = header.end
    binary = end < len(body) and BINARY.match(body[end]) is not None
    read = _Hunks((), _after_binary(body, end)) if binary else _hunks(body, end, source_line, budget)
    kind: Kind = "modify" if header.kind == "mode" and read.hunks else header.kind
    damage = read.damage
    if kind == "modify" and not read.hunks and not binary:
        damage = (Damage(index, "file header without any change"),)
    elif header.contradicts:
        damage = (Damage(index, "header says new or deleted, but --- and +++ name a file on both sides"), *damage)
    diff = FileDiff(
        _text(old), _text(new), kind, header.blobs[0], header.blobs[1], header.modes[0], header.modes[1],
        binary, read.hunks, source_line(index),
    )  # fmt: skip
    return Found(diff, index, read.end, damage)


def _read_header(body: list[bytes], index: int) -> _Header:
    header = _Header(names.header_name(body[index][11:]), end=index + 1)
    while header.end < len(body) and _extended(header, body[header.end].rstrip(b"\r")):
        header.end += 1
    return header


def _extended(header: _Header, line: bytes) -> bool:
    """Take in one extended header line; False when it is none."""
    for prefix, take in _FIELDS:
        if line.startswith(prefix):
            take(header, line[len(prefix) :])
            return True
    return False


def _old_name(header: _Header, value: bytes) -> None:
    name = names.written(value)
    if name == names.NULL:
        header.kind = "new"
        return
    header.contradicts |= header.kind == "new"
    if header.kind not in ("rename", "copy"):
        header.old = names.strip(name)


def _new_name(header: _Header, value: bytes) -> None:
    name = names.written(value)
    if name == names.NULL:
        header.kind = "delete"
        return
    header.contradicts |= header.kind == "delete"
    if header.kind not in ("rename", "copy"):
        header.new = names.strip(name)


def _moved(kind: Kind, side: Literal["old", "new"]) -> Callable[[_Header, bytes], None]:
    def take(header: _Header, value: bytes) -> None:
        header.kind = kind
        setattr(header, side, names.written(value))

    return take


def _mode(kind: Kind, side: int) -> Callable[[_Header, bytes], None]:
    def take(header: _Header, value: bytes) -> None:
        header.modes[side] = value.decode("ascii", "replace").strip()
        if header.kind == "modify":
            header.kind = kind

    return take


def _index(header: _Header, value: bytes) -> None:
    match = INDEX.match(b"index " + value)
    if match is not None:
        header.blobs = (match[1].decode(), match[2].decode())


def _nothing(header: _Header, value: bytes) -> None:
    """Similarity figures say nothing that is used."""


_FIELDS: tuple[tuple[bytes, Callable[[_Header, bytes], None]], ...] = (
    (b"--- ", _old_name),
    (b"+++ ", _new_name),
    (b"index ", _index),
    (b"new file mode ", _mode("new", 1)),
    (b"deleted file mode ", _mode("delete", 0)),
    (b"old mode ", _mode("mode", 0)),
    (b"new mode ", _mode("mode", 1)),
    (b"rename from ", _moved("rename", "old")),
    (b"rename to ", _moved("rename", "new")),
    (b"rename old ", _moved("rename", "old")),
    (b"rename new ", _moved("rename", "new")),
    (b"copy from ", _moved("copy", "old")),
    (b"copy to ", _moved("copy", "new")),
    (b"similarity index ", _nothing),
    (b"dissimilarity index ", _nothing),
)


def _hunks(body: list[bytes], index: int, source_line: SourceLine, budget: int) -> _Hunks:
    """Read the consecutive hunks from ``index``; lines left over between two of them are passed over."""
    hunks: list[Hunk] = []
    damage: list[Damage] = []
    while index < len(body) and len(hunks) < budget:
        at = _next_hunk(body, index, bool(damage))
        read = read_hunk(body, at, source_line(at)) if at < len(body) else None
        if read is None:
            break
        hunks.append(read.hunk)
        damage.extend(read.damage)
        index = read.end
    return _Hunks(tuple(hunks), index, tuple(damage))


def _next_hunk(body: list[bytes], index: int, damaged: bool) -> int:
    """After damage the next hunk may stand further down, but before anything that starts another file."""
    if not damaged:
        return index
    at = index
    while at < len(body) and not body[at].startswith((b"diff --git ", b"Index: ", b"-- ")):
        if HEADER.match(body[at]):
            return at
        if body[at].startswith(b"--- ") and body[at + 1 : at + 2] and body[at + 1].startswith(b"+++ "):
            break
        at += 1
    return index


def _after_binary(body: list[bytes], index: int) -> int:
    """Skip the payload of a binary patch."""
    index += 1
    while index < len(body) and not body[index].startswith((b"diff --git ", b"-- ")) and body[index] != b"--":
        index += 1
    return index
