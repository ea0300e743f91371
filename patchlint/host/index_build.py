"""The word scan of many files, spread over processes."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from patchlint.callgraph import invert, pack, tokens
from patchlint.host.index_source import ReaderSpec, open_reader
from patchlint.model import PatchlintError

CHUNK = 8000
"""Files of one segment: some 115 MB of text, 350 MB of memory while it is inverted, 12 s of work."""
ALONE = 300
"""Up to so many files are scanned in this process: starting others costs more."""

File = tuple[str, bytes]
"""Path and blob id."""


class Segment(NamedTuple):
    """The scanned files in their order, and the rows to store."""

    blobs: tuple[bytes, ...]
    rows: tuple[tuple[int, bytes], ...]


def scan_segment(files: Sequence[File], read: Callable[[str, bytes], bytes]) -> Segment:
    """Scan some files, at most 65,535."""
    collecting = gc.isenabled()
    # Millions of small lists without a cycle among them: the collector would only walk over them again and again.
    gc.disable()
    try:
        postings = invert(tokens(read(path, blob)) for path, blob in files)
        return Segment(tuple(blob for _, blob in files), tuple(pack(postings)))
    finally:
        if collecting:
            gc.enable()


def scan_all(
    files: Sequence[File], spec: ReaderSpec, read: Callable[[str, bytes], bytes], jobs: int
) -> Iterator[Segment]:
    """Scan all files and yield segments as they are ready. Raises PatchlintError when a worker dies."""
    count = -(-len(files) // CHUNK)
    # Every n-th file: folders with huge headers are spread over all segments.
    chunks = [files[start::count] for start in range(count)]
    if len(files) <= ALONE or jobs < 2:
        yield from (scan_segment(chunk, read) for chunk in chunks)
        return
    yield from _scan_in_processes([chunks[start::jobs] for start in range(min(jobs, count))], spec)


def _scan_in_processes(shares: Sequence[Sequence[Sequence[File]]], spec: ReaderSpec) -> Iterator[Segment]:
    # Forked, for it needs no care from the program that runs us (spawn imports its main module again); nothing here has
    # started a thread yet.
    context = multiprocessing.get_context("fork")
    workers: dict[Connection, BaseProcess] = {}
    try:
        for share in shares:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(theirs, tuple(workers) + (ours,), spec, share), daemon=True)
            process.start()
            theirs.close()
            workers[ours] = process
        while workers:
            for ready in wait(list(workers)):
                assert isinstance(ready, Connection)
                segment = _receive(ready)
                if segment is None:
                    workers.pop(ready).join()
                else:
                    yield segment
    finally:
        for connection, worker in workers.items():
            worker.terminate()
            worker.join()
            connection.close()


def _receive(connection: Connection) -> Segment | None:
    """The next segment of a worker, None at its end."""
    try:
        message = connection.recv()
    except EOFError as error:
        raise PatchlintError("a process that scans files for the index was killed; what it sent is kept") from error
    if isinstance(message, str):
        raise PatchlintError(f"the index could not be built: {message}")
    return Segment(*message) if message is not None else None


def _work(
    connection: Connection, foreign: Sequence[Connection], spec: ReaderSpec, chunks: Sequence[Sequence[File]]
) -> None:
    """Runs in a worker: scan each chunk and send it. Ends by itself when nobody listens any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The reading ends came along with the fork; while any is open here, the death of the parent would not show.
    for reading_end in foreign:
        reading_end.close()
    try:
        read = open_reader(spec)
        for chunk in chunks:
            connection.send(tuple(scan_segment(chunk, read)))
        connection.send(None)
    except BrokenPipeError:
        return
    except (PatchlintError, OSError, MemoryError) as error:
        connection.send(str(error) or type(error).__name__)
