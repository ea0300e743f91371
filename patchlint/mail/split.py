"""Cutting a mailbox into mails.

Python's ``mailbox.mbox`` finds nothing without a leading ``From `` line and cuts at
every body line that starts with ``From ``.  A separator here has to look like one to
git (a time and a year) and be followed by a header.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from patchlint.mail import gitlog

SEPARATOR = re.compile(
    rb"^From [^\n]*\d:\d\d[^\n]* (?:19|20)\d\d\b[^\n]*\n(?=(?:[ \t]*\r?\n)?(?:>?From |[A-Za-z][A-Za-z0-9-]*:))",
    re.MULTILINE,
)
MULTIPART = re.compile(rb"^Content-Type:[ \t]*multipart/", re.MULTILINE | re.IGNORECASE)
# format-patch output glued together without separators: the signature, then the next mail's headers.
GLUED = re.compile(rb"^-- ?\r?\n[^\n]{0,40}\r?\n(?:\r?\n)*(?=(?:From|Subject|Date): [^\n]*\n)", re.MULTILINE)
# A thread page of lore.kernel.org as text: "* subject", the thread around it, then the sender.
LORE_SENDER = re.compile(rb"^From: [^\n]* @ [^\n]*\(permalink / raw\)", re.MULTILINE)


class Cut(NamedTuple):
    """One mail's bytes, without its separator, and the source line on which they start."""

    data: bytes
    line: int


def split(data: bytes) -> tuple[Cut, ...]:
    """Cut ``data`` into its mails; a text without separators is one mail."""
    start = len(data) - len(data.lstrip(b"\r\n"))
    ends = [(m.start(), m.end()) for m in SEPARATOR.finditer(data)]
    if not ends and b"(permalink / raw)" in data:
        # The mark stays: it tells the reader what it has before it.
        ends = [(at, at) for at in _lore_mails(data)]
    if not ends or (ends[0][0] > start and _is_multipart(data)):
        ends = []
    if not ends:
        ends = [(at, at) for at in gitlog.starts(data)]
    # What stands before the first separator is a mail too, unless it is empty.
    if not ends or ends[0][0] > start:
        ends.insert(0, (start, start))
    return _number(data, ends)


def _lore_mails(data: bytes) -> list[int]:
    """Where the mails of a thread page start: at the last ``* `` line above each sender."""
    starts: list[int] = []
    done = 0
    for sender in LORE_SENDER.finditer(data):
        above = data.rfind(b"\n* ", done, sender.start())
        if above >= 0 or (not starts and data.startswith(b"* ")):
            starts.append(above + 1)
        done = sender.end()
    return starts


def _is_multipart(data: bytes) -> bool:
    """A lone mail with attachments: a ``From `` line inside it belongs to an attachment."""
    head = re.split(rb"\r?\n\r?\n", data[:200_000], maxsplit=1)[0]
    return MULTIPART.search(head) is not None


def _number(data: bytes, bounds: list[tuple[int, int]]) -> tuple[Cut, ...]:
    stops = [begin for begin, _ in bounds[1:]] + [len(data)]
    cuts: list[Cut] = []
    line, seen = 1, 0
    for (_, begin), stop in zip(bounds, stops, strict=True):
        for first, last in _unglue(data, begin, stop):
            line += data.count(b"\n", seen, first)
            seen = first
            cuts.append(Cut(data[first:last], line))
    return tuple(cuts)


def _unglue(data: bytes, begin: int, stop: int) -> list[tuple[int, int]]:
    """Cut where one patch's signature is followed by the next one's headers."""
    if MULTIPART.search(data, begin, min(stop, begin + 20_000)):
        return [(begin, stop)]
    marks = [m.end() for m in GLUED.finditer(data, begin, stop)]
    firsts = [begin, *marks]
    return list(zip(firsts, [*marks, stop], strict=True))
