"""File names in diff headers, by git's rules (builtin apply, ``-p1``).

unidiff takes ``--- linux.orig/file`` for a rename, keeps carriage returns and does
not decode quoted names, so names are read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}
ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')
# "2009-01-01 12:00:00.000000000 +0100" and the like behind a name that no tab ends.
TIMESTAMP = re.compile(rb"[ \t]+(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d) \d\d:\d\d:\d\d.*$")
EPOCH = re.compile(rb"\t(?:1970-01-01 00:00:00|1969-12-31 (?:1[2-9]|2\d):\d\d:00)(?:\.0+)? [-+]\d{4}\s*$")
NULL = b"/dev/null"
MAX_HEADER = 8200
"""Bytes of a ``diff --git`` line that are looked at: two names of 4,096."""
MAX_TRIES = 10
"""Spaces tried as the one between the two names."""


def text(name: bytes) -> str:
    """A name as shown and looked up; bytes that are not UTF-8 become visible escapes."""
    return name.decode("utf-8", "backslashreplace")


def unquote(name: bytes) -> bytes:
    """Decode git's C-style quoting (without the quotes)."""
    return ESCAPE.sub(_escape, name)


def _escape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code.isdigit():
        return bytes((int(code, 8),))
    return bytes((ESCAPES.get(code, code[0]),))


def written(field: bytes) -> bytes:
    """The name in what follows ``--- ``, ``+++ `` or ``rename from ``: unquoted, without time and tab."""
    field = field[:MAX_HEADER]
    quoted = QUOTED.match(field)
    if quoted is not None:
        return unquote(quoted[1])
    return TIMESTAMP.sub(b"", field.split(b"\t")[0].rstrip(b"\r\n"))


def strip(name: bytes) -> bytes:
    """Drop the first component (``-p1``); a name of one component stays."""
    name = re.sub(rb"/{2,}", b"/", name)
    head, slash, tail = name.partition(b"/")
    return tail if slash and tail else head


def pair(old: bytes, new: bytes) -> tuple[bytes | None, bytes | None]:
    """Names from a ``---``/``+++`` pair without ``diff --git``: never a rename; the shorter of variants wins."""
    first, second = written(old), written(new)
    if first == NULL or EPOCH.search(old):
        return None, strip(second)
    if second == NULL or EPOCH.search(new):
        return strip(first), None
    one, two = strip(first), strip(second)
    name = one if len(one) < len(two) and two.startswith(one) else two
    return name, name


def header_name(rest: bytes) -> bytes | None:
    """The one name of ``diff --git a/NAME b/NAME``; None where the two differ."""
    rest = rest.rstrip(b"\r\n")[:MAX_HEADER]
    if rest.startswith(b'"'):
        return _quoted_pair(rest)
    for at in _middles(rest):
        first, second = rest[:at], rest[at + 1 :]
        if b"/" in first and strip(first) == strip(second):
            return strip(first)
    return None


def _middles(rest: bytes) -> Iterator[int]:
    """Spaces that may stand between the names: the middle one, as prefixes mostly have one length, then others."""
    middle = len(rest) // 2
    if rest[middle : middle + 1] == b" ":
        yield middle
    for match in islice(re.finditer(rb" ", rest), MAX_TRIES):
        yield match.start()


def _quoted_pair(rest: bytes) -> bytes | None:
    first = QUOTED.match(rest)
    if first is None:
        return None
    one, two = unquote(first[1]), written(rest[first.end() :].lstrip(b" "))
    return strip(one) if strip(one) == strip(two) else None
