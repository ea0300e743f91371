"""The tree index in the user's cache folder.

One file for each repository or folder, keyed by blob id: every commit and branch shares what is alike.  Segments of
scanned files are committed one by one, so a build that was killed is taken up where it stood.  Only one process writes
segments at a time (a lock file says who); readers never wait.  A file that is damaged or of another version is thrown
away and built again: it holds nothing that cannot be had anew.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path
from typing import Protocol

import platformdirs

from patchlint.callgraph import TreeIndex, bucket_of, look_up
from patchlint.host.index_build import scan_all
from patchlint.host.index_db import Database, IndexDamagedError, Manifest, SegmentRange, errors_told, remove
from patchlint.host.index_source import (
    Listing,
    blob_reader,
    distinct,
    folder_stats,
    identity,
    list_folder,
    list_git,
    reader_spec,
    tree_key,
)
from patchlint.host.tree import FolderTree, Tree
from patchlint.model import PatchlintError

_FLUSH = 500
"""Values worked out that are kept in memory before they are written."""


class Progress(Protocol):
    """Who is told how a build goes on."""

    def advance(self, done: int, total: int) -> None:
        """So many files of so many are scanned."""

    def note(self, text: str) -> None:
        """Something the user should know: the index was damaged, another process is waited for ..."""


class Silent:
    """Keeps the notes and the number of files scanned, shows nothing."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.scanned = 0

    def advance(self, done: int, total: int) -> None:
        self.scanned = done

    def note(self, text: str) -> None:
        self.notes.append(text)


def cache_folder() -> Path:
    """Where index files are kept: ``PATCHLINT_CACHE_DIR``, else the user's cache folder."""
    named = os.environ.get("PATCHLINT_CACHE_DIR")
    return Path(named) if named else Path(platformdirs.user_cache_dir("patchlint", appauthor=False))


def index_path(tree: Tree) -> Path:
    """The index file of a tree."""
    name = identity(tree)
    word = re.sub(r"[^\w.-]+", "-", Path(name.removesuffix("/.git")).name) or "tree"
    digest = sha1(os.fsencode(name), usedforsecurity=False).hexdigest()[:12]
    return cache_folder() / f"{word[:40]}-{digest}.sqlite"


def open_index(tree: Tree, progress: Progress | None = None, jobs: int = 0) -> TreeIndex:
    """The index of the tree at its revision, built or brought up to date first where that is needed.

    ``jobs``: processes to build with, 0 for one a processor.  Waits while another process builds.  Raises
    PatchlintError when the index can be neither read nor written (cache folder not writable, disk full).
    """
    return TreeIndex(IndexStore(tree, progress or Silent(), jobs or os.cpu_count() or 1))


class IndexStore:
    """:class:`patchlint.callgraph.Store` over the database; open one for each process."""

    def __init__(self, tree: Tree, progress: Progress, jobs: int) -> None:
        self.path = index_path(tree)
        self._tree = tree
        self._progress = progress
        self._jobs = jobs
        self._read = blob_reader(tree)
        self._fresh: dict[tuple[str, bytes], str] = {}
        self._open()
        # What was worked out is only ever a saving, so nobody need remember to close the store.
        atexit.register(self.flush)

    def _open(self) -> None:
        self._db, self._manifest = _ready(self.path, self._tree, self._progress, self._jobs)
        self._segments: tuple[SegmentRange, ...] = self._db.segments()

    @property
    def state(self) -> str:
        """See the port."""
        return self._manifest.state

    def files_with(self, token: bytes) -> tuple[str, ...]:
        """See the port."""
        try:
            return self._files_with(token)
        except IndexDamagedError as damage:
            self._rebuild(damage)
            return self._files_with(token)

    def _files_with(self, token: bytes) -> tuple[str, ...]:
        bucket = bucket_of(token)
        found: list[str] = []
        for segment in self._segments:
            data = self._db.posting(segment.id, bucket)
            if data is None:
                continue
            with errors_told(self.path):
                numbers = look_up(data, token)
            for number in numbers:
                found.extend(self._manifest.paths_of(segment.first + number))
        return tuple(sorted(found))

    def _rebuild(self, damage: IndexDamagedError) -> None:
        """Damage that shows only while the index is asked: throw it away and build it now."""
        self._db.close()
        with _locked(self.path, self._progress):
            _throw_away(self.path, damage, self._progress)
        self._open()

    def read(self, path: str) -> bytes | None:
        """See the port."""
        number = self._manifest.number_of.get(path)
        if number is None:
            return None
        try:
            sha = self._db.sha(number)
        except IndexDamagedError:
            sha = None
        return self._read(path, sha) if sha is not None else self._tree.read(path)

    def has(self, path: str) -> bool:
        """See the port."""
        return path in self._manifest.number_of

    def remembered(self, kind: str, key: bytes) -> str | None:
        """See the port."""
        if (kind, key) in self._fresh:
            return self._fresh[kind, key]
        try:
            return self._db.recall(kind, key)
        except IndexDamagedError:
            return None

    def remember(self, kind: str, key: bytes, value: str) -> None:
        """See the port. Written with :meth:`flush`."""
        self._fresh[kind, key] = value
        if len(self._fresh) >= _FLUSH:
            self.flush()

    def flush(self) -> None:
        """Write what was remembered. It can be worked out again, so a full disk or a busy file is no fault."""
        rows = [(kind, key, value) for (kind, key), value in self._fresh.items()]
        self._fresh.clear()
        if not rows:
            return
        try:
            self._db.keep(rows)
        except (PatchlintError, IndexDamagedError) as error:
            self._progress.note(f"{self.path}: what was worked out of the tree could not be kept: {error}")

    def close(self) -> None:
        """Flush and close the file."""
        self.flush()
        atexit.unregister(self.flush)
        self._db.close()


def _ready(path: Path, tree: Tree, progress: Progress, jobs: int) -> tuple[Database, Manifest]:
    """An open database that knows the tree at its revision."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PatchlintError(f"{path.parent}: no folder for the tree index: {error.strerror}") from error
    try:
        if path.exists():
            db = Database(path)
            manifest = _current(db, tree)
            if manifest is not None:
                return db, manifest
            db.close()
    except IndexDamagedError:
        pass  # told and mended below, under the lock
    with _locked(path, progress):
        db = _open_or_renew(path, progress)
        try:
            return db, _current(db, tree) or _update(db, tree, progress, jobs)
        except IndexDamagedError as damage:
            db.close()
            _throw_away(path, damage, progress)
        except PatchlintError:
            db.close()
            raise
        db = Database(path)
        return db, _update(db, tree, progress, jobs)


def _current(db: Database, tree: Tree) -> Manifest | None:
    """The manifest, when the index knows the tree as it stands."""
    key = tree_key(tree)
    if isinstance(tree, FolderTree) and db.stats(key) != folder_stats(tree.root):
        return None
    return db.manifest(key)


def _open_or_renew(path: Path, progress: Progress) -> Database:
    try:
        return Database(path)
    except IndexDamagedError as damage:
        _throw_away(path, damage, progress)
        return Database(path)


def _throw_away(path: Path, damage: IndexDamagedError, progress: Progress) -> None:
    progress.note(f"{path}: the tree index cannot be used ({damage}); it is built anew")
    remove(path)


def _update(db: Database, tree: Tree, progress: Progress, jobs: int) -> Manifest:
    """Scan what the index does not know of the tree."""
    key = tree_key(tree)
    listing = _list(db, tree, key)
    db.tidy(listing.blobs)
    known = db.known()
    files = distinct(listing, known)
    if known and files:
        progress.note(f"tree index: {len(files)} of {len(listing.paths)} files are new to it")
    done = 0
    for segment in scan_all(files, reader_spec(tree), blob_reader(tree), jobs):
        db.add_segment(segment)
        done += len(segment.blobs)
        progress.advance(done, len(files))
    return db.keep_tree(key, listing, db.known())


def _list(db: Database, tree: Tree, key: str) -> Listing:
    if not isinstance(tree, FolderTree):
        return list_git(tree)
    paths, stats = folder_stats(tree.root)
    return list_folder(tree, paths, stats, db.listing(key))


@contextmanager
def _locked(path: Path, progress: Progress) -> Iterator[None]:
    """Hold the lock file. The kernel frees it when its holder dies, however that happens."""
    lock = Path(f"{path}.lock")
    try:
        handle = lock.open("a+")
    except OSError as error:
        raise PatchlintError(f"{lock}: cannot be opened: {error.strerror}") from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            progress.note(f"tree index: waiting for process {_holder(lock)}, which builds it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        handle.seek(0)
        handle.truncate()
        handle.write(str(os.getpid()))
        handle.flush()
        yield


def _holder(lock: Path) -> str:
    return lock.read_text().strip() or "?"
