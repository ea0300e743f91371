"""Processes that scan files for the index and send the segments to us."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from patchlint.host.index_build import File, Segment, scan_segment
from patchlint.host.index_source import ReaderSpec, open_reader
from patchlint.model import PatchlintError


def scan_in_processes(shares: Sequence[Sequence[Sequence[File]]], spec: ReaderSpec) -> Iterator[Segment]:
    """Segments as processes of ours send them, one for each share. Raises PatchlintError when one dies."""
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
