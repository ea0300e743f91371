"""MIME, as much of it as patches need, with bounds on depth and parts.

The standard library's parser recurses once per nesting level and loses the line on
which a part stood; both matter here, so the walk is our own and only the parsing of
single parameters is left to :mod:`email`.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from email.message import Message as Parameters
from typing import NamedTuple

from patchlint.mail.headers import Headers, read_block

MAX_DEPTH = 8
MAX_PARTS = 200
TEXTUAL = ("text/", "application/octet-stream", "application/x-patch", "application/x-diff", "application/mbox")
BASE64 = re.compile(rb"[A-Za-z0-9+/]*={0,2}")
PATCH_NAME = re.compile(r"\.(patch|diff|txt|mbox|eml)$", re.IGNORECASE)


class Part(NamedTuple):
    """A leaf: its media type and charset, decoded bytes, and the source line of each of their lines.

    ``lines`` is empty when line k of ``data`` is simply source line ``first + k``.
    """

    media: str
    charset: str
    attached: bool
    flowed: bool
    data: bytes
    first: int
    lines: tuple[int, ...] = ()


class TooDeep(ValueError):
    """Nested or split beyond :data:`MAX_DEPTH` or :data:`MAX_PARTS`."""


def parts(fields: Headers, lines: list[bytes], first: int) -> Iterator[Part]:
    """Yield the leaves that may hold text, in order; of alternatives, the plain one.

    ``lines`` is the body with line ends; ``first`` the source line of its first line.
    Raises :class:`TooDeep`.
    """
    budget = [MAX_PARTS]
    yield from _walk(fields, lines, first, 0, budget)


def _walk(fields: Headers, lines: list[bytes], first: int, depth: int, budget: list[int]) -> Iterator[Part]:
    budget[0] -= 1
    if depth > MAX_DEPTH or budget[0] < 0:
        raise TooDeep
    kind = _parameters(fields)
    media = kind.get_content_type()
    boundary = kind.get_boundary()
    if media == "message/rfc822":
        inner = read_block(lines)
        yield from _walk(inner.fields, lines[inner.lines :], first + inner.lines, depth + 1, budget)
    elif media.startswith("multipart/") and (pieces := _pieces(lines, boundary)):
        found = [list(_piece(lines, a, b, first, depth, budget)) for a, b in pieces]
        yield from _pick(found) if media == "multipart/alternative" else (p for f in found for p in f)
    elif media.startswith((*TEXTUAL, "multipart/")) or PATCH_NAME.search(kind.get_filename() or ""):
        yield _leaf(kind, media, lines, first)


def _piece(lines: list[bytes], a: int, b: int, first: int, depth: int, budget: list[int]) -> Iterator[Part]:
    block = read_block(lines[a:b]) if a < b else None
    if block is None:
        return
    start = a + block.lines
    yield from _walk(block.fields, lines[start:b], first + start, depth + 1, budget)


def _pick(alternatives: list[list[Part]]) -> list[Part]:
    """Of multipart/alternative the plain text; else whatever there is."""
    for found in alternatives:
        if any(p.media == "text/plain" for p in found):
            return found
    return alternatives[-1] if alternatives else []


def _pieces(lines: list[bytes], boundary: str | None) -> list[tuple[int, int]]:
    """Line ranges between the delimiters; a missing closing delimiter ends the last piece at the end.

    None at all where an exporter kept the header and decoded the body: that is plain text then.
    """
    if not boundary:
        return []
    delimiter = b"--" + boundary.encode("utf-8", "surrogateescape")
    marks = [i for i, line in enumerate(lines) if line.startswith(delimiter)]
    marks = [i for i in marks if lines[i].rstrip() in (delimiter, delimiter + b"--")]
    bounds: list[tuple[int, int]] = []
    for k, mark in enumerate(marks):
        if lines[mark].rstrip() != delimiter:
            break
        bounds.append((mark + 1, marks[k + 1] if k + 1 < len(marks) else len(lines)))
    return bounds


def _parameters(fields: Headers) -> Parameters:
    """The fields that speak of the content, as the library's object for reading parameters."""
    holder = Parameters()
    for name, value in fields:
        if name in ("content-type", "content-disposition", "content-transfer-encoding") and name not in holder:
            holder[name] = value.replace("\n", " ").replace("\r", " ")
    return holder


def _leaf(kind: Parameters, media: str, lines: list[bytes], first: int) -> Part:
    encoding = str(kind.get("content-transfer-encoding", "")).strip().lower()
    data, where = _decode(encoding, lines, first)
    flowed = str(kind.get_param("format", "")).lower() == "flowed"
    attached = kind.get_content_disposition() == "attachment"
    charset = kind.get_content_charset() or ""
    if charset.startswith(("utf-16", "utf-32", "utf-7")):
        data, charset = _narrow(data, charset), "utf-8"
    return Part(media, charset, attached, flowed, data, first, where)


def _narrow(data: bytes, charset: str) -> bytes:
    """Charsets in which ASCII is not ASCII have to be decoded before anything can be found in them."""
    try:
        return data.decode(charset).encode()
    except (UnicodeDecodeError, UnicodeEncodeError, LookupError):
        return data


def _decode(encoding: str, lines: list[bytes], first: int) -> tuple[bytes, tuple[int, ...]]:
    if encoding == "quoted-printable":
        return binascii.a2b_qp(b"".join(lines)), _joined_lines(lines, first)
    if encoding == "base64":
        return (_base64(lines), ()) if _is_base64(lines) else (b"".join(lines), ())
    return b"".join(lines), ()


def _joined_lines(lines: list[bytes], first: int) -> tuple[int, ...]:
    """Where each decoded line of quoted-printable text starts: soft breaks join source lines."""
    starts: list[int] = []
    fresh = True
    for number, line in enumerate(lines, first):
        if fresh:
            starts.append(number)
        fresh = not line.rstrip().endswith(b"=")
    return tuple(starts)


def _is_base64(lines: list[bytes]) -> bool:
    """Whether the first line that is not blank is base64; exporters decode bodies and keep the header."""
    first = next((line.strip() for line in lines if line.strip()), b"")
    return BASE64.fullmatch(first) is not None


def _base64(lines: list[bytes]) -> bytes:
    """Decode up to the first line that is no base64 (list footers get glued on unencoded)."""
    good: list[bytes] = []
    for line in lines:
        text = line.strip()
        if BASE64.fullmatch(text) is None:
            break
        good.append(text)
    joined = b"".join(good)
    try:
        return binascii.a2b_base64(joined + b"=" * (-len(joined) % 4))
    except binascii.Error:
        return b""
