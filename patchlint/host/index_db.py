"""The database file of a tree index: its tables, and how to tell that it is unusable."""

from __future__ import annotations

import sqlite3
import sys
import time
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

from patchlint.callgraph import BUCKETS
from patchlint.host.index_build import Segment
from patchlint.host.index_source import Listing
from patchlint.model import PatchlintError

VERSION = 1
"""Raised when the format or the meaning of tokens changes: files of other versions are built anew."""
_APPLICATION = 0x706C6978
_KEPT_TREES = 12
_SMALL = 1500
_MANY_SMALL = 16
"""So many segments of fewer than ``_SMALL`` files are scanned again into one."""
MOST_PAGES = 300_000
"""Pages of 4 kB in use beyond which all that was worked out is forgotten: each change of the rules adds its own."""
_WAIT = 20.0
"""Seconds to wait for another process that writes."""

_SCHEMA = f"""
BEGIN;
CREATE TABLE segment (id INTEGER PRIMARY KEY, first INTEGER NOT NULL, files INTEGER NOT NULL);
CREATE TABLE posting (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE blob (id INTEGER PRIMARY KEY, sha BLOB NOT NULL UNIQUE);
CREATE TABLE tree (key TEXT PRIMARY KEY, used INTEGER NOT NULL, paths BLOB NOT NULL, numbers BLOB NOT NULL, stats BLOB NOT NULL);
CREATE TABLE memory (kind TEXT NOT NULL, key BLOB NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {VERSION};
COMMIT;
"""  # noqa: E501


class IndexDamagedError(Exception):
    """The file cannot be used and must be built anew; the text says why."""


class SegmentRange(NamedTuple):
    """A segment and the numbers of its files: ``first`` and the ``files - 1`` that follow."""

    id: int
    first: int
    files: int


class Manifest:
    """Which files a tree has and under which numbers the index knows their contents."""

    def __init__(self, paths: tuple[str, ...], numbers: array[int]) -> None:
        self.paths = paths
        self.number_of = dict(zip(paths, numbers, strict=True))
        digest = sha1("\n".join(paths).encode("utf-8", "surrogateescape"), usedforsecurity=False)
        digest.update(numbers.tobytes())
        self.state = digest.hexdigest()
        """Names the files with their contents. Numbers are given once in the life of an index file."""
        self._numbers = numbers

    def paths_of(self, number: int) -> list[str]:
        """The paths that have these contents in the tree; none when only another tree has them."""
        first, last = self._ends
        start, end = first.get(number, 0), last.get(number, -1)
        if start == end:
            return [self.paths[start]]
        return [self.paths[at] for at in range(start, end + 1) if self._numbers[at] == number]

    @cached_property
    def _ends(self) -> tuple[dict[int, int], dict[int, int]]:
        """Where each number stands first and last: made in no time, and few files are alike."""
        places = range(len(self._numbers))
        return dict(zip(reversed(self._numbers), reversed(places), strict=True)), dict(
            zip(self._numbers, places, strict=True)
        )


@contextmanager
def errors_told(path: Path) -> Iterator[None]:
    """Turn what SQLite says into IndexDamagedError, or into PatchlintError where the disk is to blame."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = (error.sqlite_errorcode or 0) & 0xFF
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise PatchlintError(f"{path}: the tree index cannot be written ({error}); what is done is kept") from error
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
            raise PatchlintError(f"{path}: the tree index cannot be opened ({error})") from error
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise PatchlintError(f"{path}: another process holds the tree index for too long") from error
        raise IndexDamagedError(str(error)) from error
    except (sqlite3.DatabaseError, zlib.error, ValueError) as error:
        raise IndexDamagedError(str(error)) from error


class Database:
    """An open index file. Every method raises IndexDamagedError or PatchlintError, see :func:`errors_told`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with errors_told(path):
            self._connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
        try:
            with errors_told(path):
                self._prepare()
        except (IndexDamagedError, PatchlintError):
            self._connection.close()
            raise

    def _prepare(self) -> None:
        run = self._connection.execute
        size = self.path.stat().st_size
        if size:
            pages, page = run("PRAGMA page_count").fetchone()[0], run("PRAGMA page_size").fetchone()[0]
            application, version = (run(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
            if (application, version) != (_APPLICATION, VERSION):
                raise IndexDamagedError(f"it has format {version}, this patchlint wants {VERSION}")
            if size < pages * page and not Path(f"{self.path}-wal").exists():
                raise IndexDamagedError("it is cut off")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        if not size:
            self._connection.executescript(_SCHEMA)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with errors_told(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                # Also for an interrupt: half a segment must not be committed by a later statement.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def known(self) -> dict[bytes, int]:
        """Blob ids that are indexed, and their numbers."""
        with errors_told(self.path):
            return dict(self._connection.execute("SELECT sha, id FROM blob"))

    def segments(self) -> tuple[SegmentRange, ...]:
        """All segments."""
        with errors_told(self.path):
            return tuple(SegmentRange(*row) for row in self._connection.execute("SELECT * FROM segment ORDER BY id"))

    def add_segment(self, segment: Segment) -> None:
        """Store a scanned segment, whole or not at all."""
        with self._transaction() as connection:
            run = connection.execute
            first = run("SELECT coalesce(max(id), 0) + 1 FROM blob").fetchone()[0]
            number = run("SELECT coalesce(max(id), 0) + 1 FROM segment").fetchone()[0]
            run("INSERT INTO segment VALUES (?, ?, ?)", (number, first, len(segment.blobs)))
            connection.executemany("INSERT INTO blob VALUES (?, ?)", enumerate(segment.blobs, first))
            rows = ((number * BUCKETS + bucket, data) for bucket, data in segment.rows)
            connection.executemany("INSERT INTO posting VALUES (?, ?)", rows)

    def posting(self, segment: int, bucket: int) -> bytes | None:
        """A row of a segment."""
        with errors_told(self.path):
            row = self._connection.execute("SELECT data FROM posting WHERE id = ?", (segment * BUCKETS + bucket,))
            found = row.fetchone()
        return found[0] if found else None

    def sha(self, number: int) -> bytes | None:
        """The blob id of a number."""
        with errors_told(self.path):
            found = self._connection.execute("SELECT sha FROM blob WHERE id = ?", (number,)).fetchone()
        return found[0] if found else None

    def manifest(self, key: str) -> Manifest | None:
        """The files of a tree that was indexed before."""
        with errors_told(self.path):
            row = self._connection.execute("SELECT paths, numbers FROM tree WHERE key = ?", (key,)).fetchone()
            return Manifest(_unpack_paths(row[0]), _unpack_numbers(row[1])) if row else None

    def listing(self, key: str) -> Listing | None:
        """The files of a tree that was indexed before, with blob ids and stats."""
        with errors_told(self.path):
            row = self._connection.execute("SELECT paths, numbers, stats FROM tree WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            shas = dict(self._connection.execute("SELECT id, sha FROM blob"))
            try:
                blobs = tuple(shas[number] for number in _unpack_numbers(row[1]))
            except KeyError as error:
                raise IndexDamagedError(f"number {error} is missing") from error
            return Listing(_unpack_paths(row[0]), blobs, row[2])

    def stats(self, key: str) -> tuple[tuple[str, ...], bytes] | None:
        """The paths and stats of a folder that was indexed before."""
        with errors_told(self.path):
            row = self._connection.execute("SELECT paths, stats FROM tree WHERE key = ?", (key,)).fetchone()
            return (_unpack_paths(row[0]), row[1]) if row else None

    def keep_tree(self, key: str, listing: Listing, known: dict[bytes, int]) -> Manifest:
        """Remember which files a tree has; the oldest trees are forgotten."""
        numbers = array("I", [known[blob] for blob in listing.blobs])
        paths = zlib.compress("\n".join(listing.paths).encode("utf-8", "surrogateescape"), 1)
        with self._transaction() as connection:
            row = (key, int(time.time()), paths, _little_endian(numbers).tobytes(), listing.stats)
            connection.execute("INSERT OR REPLACE INTO tree VALUES (?, ?, ?, ?, ?)", row)
            connection.execute(
                "DELETE FROM tree WHERE key NOT IN (SELECT key FROM tree ORDER BY used DESC LIMIT ?)", (_KEPT_TREES,)
            )
        return Manifest(listing.paths, numbers)

    def recall(self, kind: str, key: bytes) -> str | None:
        """A remembered value."""
        with errors_told(self.path):
            found = self._connection.execute("SELECT value FROM memory WHERE kind = ? AND key = ?", (kind, key))
            row = found.fetchone()
        return row[0] if row else None

    def keep(self, rows: Sequence[tuple[str, bytes, str]]) -> None:
        """Remember values (kind, key, value); what has grown too large is forgotten before."""
        with self._transaction() as connection:
            counts = ("page_count", "freelist_count")
            pages, free = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in counts)
            if pages - free > MOST_PAGES:
                connection.execute("DELETE FROM memory")
            connection.executemany("INSERT OR REPLACE INTO memory VALUES (?, ?, ?)", rows)

    def tidy(self, wanted: Iterable[bytes]) -> bool:
        """Drop segments that are small and many, or mostly of no kept tree; their files are then scanned again.

        ``wanted`` are the blobs of the tree to be indexed.  True when something was dropped.
        """
        known = self.known()
        alive = {known[blob] for blob in wanted if blob in known} | self._kept_numbers()
        segments = self.segments()
        small = [one for one in segments if one.files < _SMALL]
        doomed = set(small) if len(small) >= _MANY_SMALL else set()
        for one in segments:
            used = sum(number in alive for number in range(one.first, one.first + one.files))
            if used * 3 < one.files:
                doomed.add(one)
        if doomed:
            self._drop(sorted(doomed))
        return bool(doomed)

    def _kept_numbers(self) -> set[int]:
        with errors_told(self.path):
            rows = self._connection.execute("SELECT numbers FROM tree").fetchall()
        return {number for (raw,) in rows for number in _unpack_numbers(raw)}

    def _drop(self, segments: Sequence[SegmentRange]) -> None:
        with self._transaction() as connection:
            for one in segments:
                low = one.id * BUCKETS
                connection.execute("DELETE FROM posting WHERE id >= ? AND id < ?", (low, low + BUCKETS))
                connection.execute("DELETE FROM blob WHERE id >= ? AND id < ?", (one.first, one.first + one.files))
                connection.execute("DELETE FROM segment WHERE id = ?", (one.id,))
            # Their numbers will be given anew: no tree and nothing named after its state may speak of the old ones.
            connection.execute("DELETE FROM tree")
            connection.execute("DELETE FROM memory WHERE kind IN ('summary', 'defined')")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def remove(path: Path) -> None:
    """Delete an index file with what SQLite keeps beside it."""
    for end in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{end}").unlink(missing_ok=True)


def _little_endian(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers


def _unpack_numbers(raw: bytes) -> array[int]:
    numbers = array("I")
    numbers.frombytes(raw)
    return _little_endian(numbers)


def _unpack_paths(raw: bytes) -> tuple[str, ...]:
    text = zlib.decompress(raw).decode("utf-8", "surrogateescape")
    return tuple(text.split("\n")) if text else ()
