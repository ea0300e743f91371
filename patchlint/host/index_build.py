"""The word scan of many files, spread over processes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from patchlint.callgraph import invert, pack, tokens
from patchlint.host.index_source import ReaderSpec

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
    # Imported here because a review, which must be quick, finds the index built and starts no processes.
    from patchlint.host.index_workers import scan_in_processes

    yield from scan_in_processes([chunks[start::jobs] for start in range(min(jobs, count))], spec)
