"""Bytes to messages: the mail room's front door."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from patchlint.mail import gitlog
from patchlint.mail.headers import Headers, read_block, starts_block
from patchlint.mail.mime import Part, TooDeep, parts
from patchlint.mail.rendering import is_html, recognise, strip_html
from patchlint.mail.split import Cut, split
from patchlint.mail.text import exact, raw
from patchlint.model import Message, PatchlintError, Problem

MAX_LINES = 2_000_000
"""Lines of one input; real mail of the most bytes that are read (64 MiB) has fewer."""
MAX_MAILS = 20_000
"""Mails of one input."""

LOG_HEAD = 1000
"""Bytes at the beginning in which a log shows that it is one."""

DIFF = re.compile(rb"^(?:diff --git |--- [^\n]*\n\+\+\+ )", re.MULTILINE)
MAIL_FIELD = re.compile(rb"^(?:From|Subject|Date|Message-ID): ", re.MULTILINE | re.IGNORECASE)
ENVELOPE = re.compile(rb"From \S+ [^\n]*\d:\d\d[^\n]*\n")
# What archive pages write behind the fields they show.
PAGE_MARKS = ("(raw)", "[thread overview]")
QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_mail(data: bytes, source: str) -> tuple[Message, ...]:
    """Read every message of a mailbox, a mail, a patch file or an archive page.

    ``source`` is the name shown to the user.  Raises :class:`PatchlintError` when the
    input is empty or is no text at all; damage inside a mail becomes a ``Problem`` of
    that message.
    """
    if not data.strip():
        raise PatchlintError(f"{source}: empty, there is nothing to review")
    if _is_binary(data):
        raise PatchlintError(f"{source}: a binary file, not mail")
    if data.count(b"\n") > MAX_LINES:
        raise PatchlintError(f"{source}: more than {MAX_LINES:,} lines; split the mailbox")
    text = _as_utf8(data)
    page = is_html(text)
    if page:
        text = raw(strip_html(exact(text)))
    cuts = split(text)
    if len(cuts) > MAX_MAILS:
        raise PatchlintError(f"{source}: more than {MAX_MAILS:,} mails; split the mailbox")
    messages = tuple(message for cut in cuts for message in _read_one(cut, source, page))
    if gitlog.starts(text[:LOG_HEAD]) and gitlog.newest_first([m.header("date") for m in messages]):
        return messages[::-1]
    return messages


def _is_binary(data: bytes) -> bool:
    """NUL bytes near the beginning, and neither a diff nor mail headers around them."""
    if b"\0" not in data[:4096] or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    return DIFF.search(data) is None and MAIL_FIELD.search(data[:4096]) is None


def _as_utf8(data: bytes) -> bytes:
    """Drop a byte-order mark; recode what an editor saved as UTF-16."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(b"\xef\xbb\xbf")


def _read_one(cut: Cut, source: str, page: bool) -> list[Message]:
    lines = _unix_lines(cut.data)
    if starts_block(lines):
        block = read_block(lines)
        found = _with_headers(block.fields, lines[block.lines :], cut.line + block.lines, cut.line, source)
        shown = page or any(value.endswith(PAGE_MARKS) for _, value in block.fields)
        return [replace(m, lossy=True) for m in found] if shown else found
    commit = gitlog.read_commit(lines)
    if commit is not None:
        start = cut.line + commit.lines
        return [Message(source, commit.fields, exact(b"".join(commit.body)), cut.line, body_line=start)]
    seen = recognise(lines)
    body = b"".join(lines[seen.lines :])
    return [Message(source, seen.fields, exact(body), cut.line, seen.lossy or page, body_line=cut.line + seen.lines)]


def _unix_lines(data: bytes) -> list[bytes]:
    """Lines with their ends; carriage returns go when every line has one (they came from the transport)."""
    returns = data.count(b"\r\n")
    if returns and returns >= data.count(b"\n") - 1:
        data = data.replace(b"\r\n", b"\n")
    return data.splitlines(keepends=True) if b"\r" not in data else _split_newlines(data)


def _split_newlines(data: bytes) -> list[bytes]:
    """Split at newlines only: a lone carriage return is part of a line."""
    pieces = data.split(b"\n")
    lines = [piece + b"\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def _with_headers(fields: Headers, lines: list[bytes], first: int, line: int, source: str) -> list[Message]:
    problems: list[Problem] = []
    leaves: list[Part] = []
    try:
        leaves.extend(parts(fields, lines, first))
    except TooDeep:
        problems.append(Problem("SER004", "MIME parts nested too deep or too many; the rest is not read", source, line))
    inline, attached = _choose(leaves)
    messages = [_attached(part, fields, line, source) for part in attached]
    if inline or not messages:
        messages.insert(0, _message(fields, inline, line, source, tuple(problems)))
    return messages


def _choose(leaves: Sequence[Part]) -> tuple[list[Part], list[Part]]:
    """Split leaves into those that make up this mail's body and those that are mails themselves.

    The body ends with the first part that holds a patch: what follows is a footer or the
    same patch attached once more.
    """
    plain = [p for p in leaves if p.media != "text/html"] or list(leaves)
    body: list[Part] = []
    mails: list[Part] = []
    for part in plain:
        if _is_mail(part):
            mails.append(part)
            continue
        body.append(part)
        if DIFF.search(part.data):
            return body, []
    return body, mails


def _is_mail(part: Part) -> bool:
    """A part that is a whole patch mail, as ``git format-patch`` wrote it to a file."""
    if not ENVELOPE.match(part.data):
        return False
    lines = part.data.split(b"\n", 60)
    return starts_block(lines, 1) and DIFF.search(part.data) is not None


def _attached(part: Part, fields: Headers, line: int, source: str) -> Message:
    """The mail in an attachment; what its own headers do not say is taken from the mail around it."""
    lines = _split_newlines(part.data.replace(b"\r\n", b"\n"))
    block = read_block(lines, 1)
    own = {name for name, _ in block.fields}
    rest = tuple(f for f in fields if f[0] not in own)
    body = b"".join(lines[1 + block.lines :])
    start = part.first + 1 + block.lines
    return Message(source, block.fields + rest, exact(body), line, body_line=start, charset=part.charset)


def _message(fields: Headers, body: list[Part], line: int, source: str, problems: tuple[Problem, ...]) -> Message:
    if not body:
        return Message(source, fields, "", line, problems=problems, body_line=line)
    data, where = _join(body)
    return Message(
        source, fields, exact(QUOTED_FROM.sub(rb"\1", data)), line, any(p.media == "text/html" for p in body),
        problems, body[0].first, where, body[-1].charset, any(p.flowed for p in body),
    )  # fmt: skip


def _join(body: list[Part]) -> tuple[bytes, tuple[int, ...]]:
    """One text of all parts, with the source line of each line when they are not simply consecutive."""
    texts = [_text(p) for p in body]
    if len(body) == 1 and not body[0].lines:
        return texts[0], ()
    where: list[int] = []
    for part, text in zip(body, texts, strict=True):
        count = text.count(b"\n") + (not text.endswith(b"\n"))
        numbers = part.lines or range(part.first, part.first + count)
        where.extend(numbers[:count])
        where.extend(range(where[-1] + 1, where[-1] + 1 + count - len(numbers)) if where else ())
    return b"".join(t if t.endswith(b"\n") else t + b"\n" for t in texts), tuple(where)


def _text(part: Part) -> bytes:
    data = part.data
    if part.media == "text/html":
        data = raw(strip_html(exact(data)))
    returns = data.count(b"\r\n")
    return data.replace(b"\r\n", b"\n") if returns and returns >= data.count(b"\n") - 1 else data
