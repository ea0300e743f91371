"""Renderings of a mail that lost its headers: archive pages and copied text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from patchlint.mail.headers import FIELD, Headers, read_block

# A page's chrome stands before the mail's own header block; no page seen has more of it.
MAX_CHROME = 200
SENDER = re.compile(rb"\[([^\[\]<>]*<[^<>\s]+>)\]\s*$")
LORE_SENDER = re.compile(rb"From: (.*) @ .*\(permalink / raw\)")
BRACKET = re.compile(rb"\[[^\]]*\]")
DIFF_START = (b"diff --git ", b"--- ", b"Index: ", b"@@ ", b"===")
SHOWN = frozenset((b"from", b"subject", b"date", b"to", b"cc", b"message-id", b"list"))
TAG = re.compile(r"<(?:/?[A-Za-z]|!)[^<>]*>")
BREAK = re.compile(r"<(?:br|/p|/div|/tr|/h\d|hr|/li)\b[^<>]*>", re.IGNORECASE)
INVISIBLE = re.compile(r"<(/?)(script|style|head)\b[^<>]*>", re.IGNORECASE)


class Rendering(NamedTuple):
    """What could be told of a header-less text: its fields and the number of lines before its body."""

    fields: Headers
    lines: int
    lossy: bool


def recognise(lines: list[bytes]) -> Rendering:
    """Find subject and sender in text that does not start with headers."""
    thread = _lore(lines)
    if thread is not None:
        return thread
    at = _page_block(lines)
    if at is not None:
        block = read_block(lines, at)
        return Rendering(block.fields, at + block.lines, True)
    return _copied(lines)


def _lore(lines: list[bytes]) -> Rendering | None:
    """One message of a lore.kernel.org thread page copied as text."""
    if not lines or not lines[0].startswith(b"* "):
        return None
    for at, line in enumerate(lines[:MAX_CHROME]):
        sender = LORE_SENDER.match(line)
        if sender is not None:
            body = next((i for i in range(at + 1, len(lines)) if not lines[i].strip()), at)
            subject = lines[0][2:].strip().decode("utf-8", "replace")
            return Rendering((("subject", subject), ("from", sender[1].decode("utf-8", "replace"))), body + 1, True)
    return None


def _page_block(lines: list[bytes]) -> int | None:
    """Line of a header block shown inside a page: From, Subject and one more on lines of their own."""
    for at, line in enumerate(lines[:MAX_CHROME]):
        if line.startswith(DIFF_START):
            return None
        if FIELD.match(line) and (at == 0 or not lines[at - 1].strip()):
            names = _names(lines, at)
            if {b"from", b"subject"} <= names and len(names & SHOWN) > 2:
                return at
    return None


def _names(lines: list[bytes], at: int) -> set[bytes]:
    names: set[bytes] = set()
    for line in lines[at : at + 30]:
        match = FIELD.match(line)
        if match is None or not line.strip():
            break
        names.add(match[1].lower())
    return names


def _copied(lines: list[bytes]) -> Rendering:
    """Subject on the first line, ``[Name <address>]`` below; else the text is all body."""
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is None or lines[first].startswith(DIFF_START):
        return Rendering((), 0, False)
    subject = lines[first].strip().decode("utf-8", "replace")
    for at in range(first + 1, min(first + 4, len(lines))):
        match = SENDER.match(lines[at])
        if match is not None:
            sender = match[1].decode("utf-8", "replace")
            return Rendering((("subject", subject), ("from", sender)), at + 1, True)
    if BRACKET.match(lines[first]):
        return Rendering((("subject", subject),), first + 1, True)
    return Rendering((), 0, False)


def is_html(data: bytes) -> bool:
    """Tell whether the text is an HTML page."""
    head = data[:1000].lstrip().lower()
    return head.startswith((b"<!doctype html", b"<html", b"<?xml")) and b"<html" in data[:5000].lower()


def strip_html(text: str) -> str:
    """The text that a page shows, line by line."""
    return html.unescape(TAG.sub("", BREAK.sub("\n", "".join(_visible(text)))))


def _visible(text: str) -> Iterator[str]:
    """The text outside of scripts, styles and the head, in one pass (a lazy pattern would be quadratic)."""
    at = 0
    inside = ""
    for match in INVISIBLE.finditer(text):
        closing, name = bool(match[1]), match[2].lower()
        if not inside and not closing:
            yield text[at : match.start()]
            inside = name
        elif closing and name == inside:
            at, inside = match.end(), ""
    if not inside:
        yield text[at:]
