"""Header blocks: recognising, unfolding and decoding them."""

from __future__ import annotations

import binascii
import re
from email.errors import HeaderParseError
from email.header import decode_header
from typing import NamedTuple

from patchlint.mail.text import decode

MAX_LINES = 5000
"""Longest header block that is read, in lines."""
MAX_VALUE = 32_000
"""Bytes of one field that are looked at; the widest Cc lists of the kernel have a tenth."""

# A block counts as mail headers when one of these is in it; "Index: file" or "Fixes: id" alone is text.
KNOWN = frozenset(
    b"from subject date message-id to cc in-reply-to references return-path received content-type "
    b"mime-version delivered-to x-mailer reply-to list-id content-transfer-encoding sender".split()
)
FIELD = re.compile(rb"([!-9;-~]+)[ \t]*:[ \t]*(.*)", re.DOTALL)
WORD = re.compile(rb"=\?[^?\s]+\?[bBqQ]\?")

Headers = tuple[tuple[str, str], ...]


class Block(NamedTuple):
    """A header block: decoded fields, and the number of source lines with its closing blank line."""

    fields: Headers
    lines: int


def starts_block(lines: list[bytes], first: int = 0) -> bool:
    """Tell whether a header block with a known mail field stands at ``lines[first]``."""
    for line in lines[first : first + 60]:
        match = FIELD.match(line)
        if match is None and line[:1] not in b" \t":
            return False
        if not line.strip():
            return False
        if match is not None and match[1].lower() in KNOWN:
            return True
    return False


def read_block(lines: list[bytes], first: int = 0) -> Block:
    """Read the header block at ``lines[first]`` up to its blank line, or to the first line that is no header."""
    found: list[list[bytes]] = []
    at = first
    limit = min(len(lines), first + MAX_LINES)
    while at < limit:
        line = lines[at].rstrip(b"\r\n")
        match = FIELD.match(line)
        if not line.strip():
            at += 1
            break
        if line[:1] in b" \t" and found:
            found[-1].append(line.strip())
        elif match is not None:
            found.append([match[1].lower(), match[2].strip()])
        elif not line.startswith((b">From ", b"From ")):
            break
        at += 1
    fields = tuple((f[0].decode("ascii", "replace"), decode_words(b" ".join(f[1:])[:MAX_VALUE])) for f in found)
    return Block(fields, at - first)


def decode_words(value: bytes) -> str:
    """Decode RFC 2047 words; undecodable ones stay as they are written."""
    text = decode(value)
    if WORD.search(value) is None:
        return text
    try:
        chunks = decode_header(text)
    except (HeaderParseError, binascii.Error, ValueError):
        return text
    return "".join(_chunk(data, charset) for data, charset in chunks)


def _chunk(data: bytes | str, charset: str | None) -> str:
    if isinstance(data, str):
        return data
    return decode(data, charset or "")
