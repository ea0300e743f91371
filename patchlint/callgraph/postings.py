"""Postings: from a token to the files of one segment that hold it, packed for a database row.

A segment is up to 65,535 files, numbered from 0.  Tokens are known by their CRC only: two of four billion share one now
and then, which costs a look into a file that has nothing to say.  Tokens are spread over :data:`BUCKETS` rows; a row
holds the sorted CRCs, how many files each has, and the numbers of the files.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

BUCKETS = 2048
MAX_FILES = 65535

_SIGNIFICANT = ord("A")
"""Tokens that start below it are numbers and punctuation."""


def bucket_of(token: bytes) -> int:
    """The row in which a token is found."""
    return zlib.crc32(token) % BUCKETS


def invert(files: Iterable[Iterable[bytes]]) -> dict[bytes, list[int]]:
    """Token to the ascending numbers of the files that hold it, from the tokens of each file."""
    postings: dict[bytes, list[int]] = {}
    for number, found in enumerate(files):
        for token in found:
            if token in postings:
                postings[token].append(number)
            else:
                postings[token] = [number]
    return postings


def pack(postings: Mapping[bytes, list[int]]) -> Iterator[tuple[int, bytes]]:
    """The rows of a segment: (bucket, data)."""
    rows: list[list[tuple[int, list[int]]]] = [[] for _ in range(BUCKETS)]
    for token, numbers in postings.items():
        if token[0] >= _SIGNIFICANT:
            code = zlib.crc32(token)
            rows[code % BUCKETS].append((code, numbers))
    for bucket, row in enumerate(rows):
        if row:
            row.sort()
            yield bucket, _pack_row(row)


def _pack_row(row: list[tuple[int, list[int]]]) -> bytes:
    codes = array("I", [code for code, _ in row])
    counts = array("H", [len(numbers) for _, numbers in row])
    files = array("H", chain.from_iterable([numbers for _, numbers in row]))
    if sys.byteorder == "big":
        for part in (codes, counts, files):
            part.byteswap()
    head = len(row).to_bytes(4, "little")
    return zlib.compress(b"".join((head, codes.tobytes(), counts.tobytes(), files.tobytes())), 1)


def look_up(data: bytes, token: bytes) -> array[int]:
    """The numbers of the files that hold ``token``, from the row of its bucket.

    Raises zlib.error or ValueError for a damaged row.
    """
    raw = zlib.decompress(data)
    size = int.from_bytes(raw[:4], "little")
    codes = _numbers("I", raw[4 : 4 + 4 * size])
    code = zlib.crc32(token)
    at = bisect_left(codes, code)
    if at == len(codes) or codes[at] != code:
        return array("H")
    counts = _numbers("H", raw[4 + 4 * size : 4 + 6 * size])
    first = 4 + 6 * size + 2 * sum(counts[:at])
    return _numbers("H", raw[first : first + 2 * counts[at]])


def _numbers(kind: str, raw: bytes) -> array[int]:
    numbers = array(kind, raw)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
