"""What there is to index: the C files of a git commit or of a plain folder, each with its blob id."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from git import GitCommandError

from patchlint.host.tree import FolderTree, GitTree, Tree, open_tree
from patchlint.model import PatchlintError

_SUFFIXES = (".c", ".h")
_FILE_MODES = (b"100644", b"100755", b"100664")


class Listing(NamedTuple):
    """The files of a tree in ascending order of their paths, and the blob id (20 or 32 bytes) of each."""

    paths: tuple[str, ...]
    blobs: tuple[bytes, ...]
    stats: bytes = b""
    """For a folder: size and change time (ns) of each file as 64-bit numbers; compared before anything is read."""


def identity(tree: Tree) -> str:
    """What branches and work trees share: the git folder with the objects, or the plain folder."""
    if isinstance(tree, FolderTree):
        return str(tree.root)
    common = tree.place.folder / "commondir"
    if common.is_file():
        return str((tree.place.folder / common.read_text().strip()).resolve())
    return str(tree.place.folder.resolve())


def tree_key(tree: Tree) -> str:
    """A name for the state of the tree: its tree object; a folder has one state only, see :func:`folder_stats`."""
    if isinstance(tree, FolderTree):
        return "folder"
    try:
        hexsha, _, _ = tree.git.get_object_header(f"{tree.rev}^{{tree}}")
    except (ValueError, OSError) as error:
        raise PatchlintError(f"{tree.root}: git cannot tell the tree of {tree.rev}: {error}") from error
    return hexsha.decode("ascii") if isinstance(hexsha, bytes) else hexsha


def list_git(tree: GitTree) -> Listing:
    """All C files of the commit."""
    try:
        raw = tree.git.ls_tree(
            "-r", "-z", "--full-tree", tree.rev, stdout_as_string=False, strip_newline_in_stdout=False
        )
    except GitCommandError as error:
        raise PatchlintError(f"{tree.root}: git ls-tree failed: {error.stderr}") from error
    found = []
    for line in bytes(raw).split(b"\0"):
        head, _, name = line.partition(b"\t")
        if name.endswith((b".c", b".h")) and head[:6] in _FILE_MODES and b"\n" not in name:
            found.append((os.fsdecode(name), bytes.fromhex(head.rpartition(b" ")[2].decode("ascii"))))
    found.sort()
    return Listing(tuple(path for path, _ in found), tuple(blob for _, blob in found))


def folder_stats(root: Path) -> tuple[tuple[str, ...], bytes]:
    """The C files below a folder, links left out, with what :class:`Listing` keeps of their state."""
    found: list[tuple[str, int, int]] = []
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            entries = list(os.scandir(root / prefix))
        except OSError:
            continue
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git":
                    pending.append(path + "/")
            elif entry.name.endswith(_SUFFIXES) and "\n" not in path and entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                found.append((path, status.st_size, status.st_mtime_ns))
    found.sort()
    numbers = array("q", [number for _, size, time in found for number in (size, time)])
    return tuple(path for path, _, _ in found), numbers.tobytes()


def list_folder(tree: FolderTree, paths: tuple[str, ...], stats: bytes, old: Listing | None) -> Listing:
    """The folder's files with their blob ids; read are those only whose size or time differs from ``old``."""
    known = _stat_table(old) if old is not None else {}
    now = array("q")
    now.frombytes(stats)
    blobs = []
    for number, path in enumerate(paths):
        size, time = now[2 * number], now[2 * number + 1]
        before = known.get(path)
        same = before is not None and before[:2] == (size, time)
        blobs.append(before[2] if before is not None and same else _blob_id(tree.read(path) or b""))
    return Listing(paths, tuple(blobs), stats)


def _stat_table(old: Listing) -> dict[str, tuple[int, int, bytes]]:
    numbers = array("q")
    numbers.frombytes(old.stats)
    return {
        path: (numbers[2 * at], numbers[2 * at + 1], blob)
        for at, (path, blob) in enumerate(zip(old.paths, old.blobs, strict=True))
    }


def _blob_id(data: bytes) -> bytes:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()


class ReaderSpec(NamedTuple):
    """How a worker process opens the tree for itself."""

    root: str
    git: bool


def reader_spec(tree: Tree) -> ReaderSpec:
    """The spec of a tree."""
    if isinstance(tree, FolderTree):
        return ReaderSpec(str(tree.root), False)
    return ReaderSpec(str(tree.place.top or tree.place.folder), True)


def open_reader(spec: ReaderSpec) -> Callable[[str, bytes], bytes]:
    """A function from (path, blob id) to contents; a file that cannot be read counts as empty."""
    if spec.git:
        return blob_reader(open_tree(Path(spec.root)))
    return blob_reader(FolderTree(Path(spec.root)))


def blob_reader(tree: Tree) -> Callable[[str, bytes], bytes]:
    """See :func:`open_reader`."""
    if isinstance(tree, FolderTree):
        return lambda path, blob: tree.read(path) or b""
    return lambda path, blob: tree.blob(blob.hex()) or b""


def distinct(listing: Listing, known: Iterable[bytes]) -> list[tuple[str, bytes]]:
    """One (path, blob id) for each blob of the listing that is not known."""
    seen = set(known)
    found = []
    for path, blob in zip(listing.paths, listing.blobs, strict=True):
        if blob not in seen:
            seen.add(blob)
            found.append((path, blob))
    return found
