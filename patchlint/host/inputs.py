"""Reading what the user names: mailboxes, mails, folders of them, standard input.

Everything is bounded: a PATH gives at most :data:`MAX_BYTES`, compressed or not, and
all together at most :data:`MAX_TOTAL`.
"""

from __future__ import annotations

import lzma
import re
import stat
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from patchlint.model import PatchlintError

MIB = 1 << 20
MAX_BYTES = 64 * MIB
"""Largest single file read, after decompression; a month of a busy list has about half of that."""
MAX_TOTAL = 128 * MIB
"""Largest sum over all PATHs."""
MAX_FILES = 20_000
"""Most files read from one folder."""
XZ_MEMORY = 128 * MIB

STDIN = "-"
STDIN_NAME = "<stdin>"
# What editors, quilt and patch(1) leave beside patches.
LEFTOVER = re.compile(r"(~|\.orig|\.rej|\.bak|\.swp)$")
PATCH_NAME = re.compile(r"\.(patch|diff|eml|mbox|mail|txt)(\.gz|\.xz)?$|\.mbox\.[gx]z$", re.IGNORECASE)
NUMBER = re.compile(r"^\d+$")

Input = tuple[bytes, str]


def read_inputs(paths: Sequence[str], stdin: BinaryIO) -> tuple[Input, ...]:
    """Read every PATH: pairs of content and the name to show for it.

    A folder gives its patches in the order in which git and humans number them, or its
    mails when it is a maildir.  ``-`` is standard input.  Raises :class:`PatchlintError`
    with one line that names the PATH.
    """
    found: list[Input] = []
    total = 0
    for path in paths:
        for item in _read_path(path, stdin):
            total += len(item[0])
            if total > MAX_TOTAL:
                raise PatchlintError(f"{path}: more than {MAX_TOTAL // MIB} MiB of mail in all; review it in portions")
            found.append(item)
    return tuple(found)


def _read_path(name: str, stdin: BinaryIO) -> Iterator[Input]:
    if name == STDIN:
        yield _read_stream(stdin, STDIN_NAME), STDIN_NAME
        return
    if "\0" in name:
        raise PatchlintError(f"{name!r}: not a file name")
    path = Path(name)
    try:
        folder = path.is_dir()
    except OSError as error:
        raise PatchlintError(f"{name}: {error.strerror}") from None
    for file in _folder(path) if folder else (path,):
        yield _read_file(file), str(file)


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return _read_stream(stream, str(path))
    except OSError as error:
        raise PatchlintError(f"{path}: {error.strerror or 'cannot be read'}") from None


def _read_stream(stream: BinaryIO, name: str) -> bytes:
    """Read at most :data:`MAX_BYTES`; a compressed stream is told by its first bytes, not by its name."""
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise _too_large(name)
    if data.startswith(b"\x1f\x8b"):
        return _gunzip(data, name)
    if data.startswith(b"\xfd7zXZ\0"):
        return _unxz(data, name)
    return data


def _too_large(name: str) -> PatchlintError:
    return PatchlintError(f"{name}: larger than {MAX_BYTES // MIB} MiB; split the mailbox")


def _gunzip(data: bytes, name: str) -> bytes:
    """Decompress every member of a gzip file, up to the limit."""
    out = bytearray()
    try:
        while data.startswith(b"\x1f\x8b"):
            member = zlib.decompressobj(wbits=31)
            out += member.decompress(data, MAX_BYTES + 1 - len(out))
            if len(out) > MAX_BYTES:
                raise _too_large(name)
            if not member.eof:
                raise PatchlintError(f"{name}: the gzip data ends too early")
            data = member.unused_data
    except zlib.error:
        raise PatchlintError(f"{name}: damaged gzip data") from None
    return bytes(out)


def _unxz(data: bytes, name: str) -> bytes:
    try:
        stream = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
        out = stream.decompress(data, MAX_BYTES + 1)
    except lzma.LZMAError:
        raise PatchlintError(f"{name}: damaged xz data, or more memory needed than is allowed") from None
    if len(out) > MAX_BYTES:
        raise _too_large(name)
    if not stream.eof:
        raise PatchlintError(f"{name}: the xz data ends too early")
    return out


def _folder(path: Path) -> list[Path]:
    """The files of a maildir (``cur`` and ``new``) or the patches of a folder, in order."""
    try:
        maildir = [path / "cur", path / "new"] if (path / "cur").is_dir() or (path / "new").is_dir() else []
        if maildir:
            files = [f for folder in maildir if folder.is_dir() for f in _files(folder)]
        else:
            files = _patches(path)
    except OSError as error:
        raise PatchlintError(f"{path}: {error.strerror}") from None
    if not files:
        raise PatchlintError(f"{path}: no patches in this folder")
    if len(files) > MAX_FILES:
        raise PatchlintError(f"{path}: more than {MAX_FILES} files")
    return files


def _patches(path: Path) -> list[Path]:
    """Files called like patches; where none is, plainly numbered mails (an MH folder)."""
    files = _files(path)
    named = [f for f in files if PATCH_NAME.search(f.name)]
    return named or [f for f in files if NUMBER.match(f.name)]


def _files(folder: Path) -> list[Path]:
    """Regular files, hidden ones and leftovers aside; pipes and devices would block."""
    return sorted((f for f in folder.iterdir() if _wanted(f)), key=lambda f: natural(f.name))


def _wanted(path: Path) -> bool:
    if path.name.startswith(".") or LEFTOVER.search(path.name):
        return False
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Sort key by which ``2-x`` stands before ``10-x``, ``0002-x`` before ``0010-x``, and numbers before words."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name.lower())
    return tuple((False, int(p), "") if p[0] in "0123456789" else (True, 0, p) for p in parts)
