"""One message to one patch: its text, notes, trailers, suppressions and diffs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from patchlint.mail.text import exact, raw, readable
from patchlint.model import Message, Patch, Problem, Suppression
from patchlint.series.diff import Found, Scan, scan
from patchlint.series.subject import Subject, parse_subject

TRAILER = re.compile(r"([A-Z][A-Za-z]*(?:-[A-Za-z]+)*): +(\S.*)")
CREDIT = re.compile(r"((?:Reviewed|Acked|Tested|Reported|Suggested)[A-Za-z-]*-by): +(\S.*)", re.IGNORECASE)
IGNORE = re.compile(r"\s*patchlint:\s*ignore\s+([A-Z]+[0-9]*)(?:\s+([^\s:]+))?\s*(?::\s*(.*?))?\s*$")
ID = re.compile(r"<[^<>\s]+>")
IN_BODY = re.compile(r"(From|Subject|Date): +(\S.*)")
MAX_LINE = 500
"""Bytes of a suppression line that are looked at."""
COMPARISON = re.compile(rb"(?:Interdiff|Range-diff)(?: against|:| vs)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Read:
    """A message as the series room sees it."""

    message: Message
    subject: Subject
    patch: Patch
    text: str
    """Body text outside of diffs, printable."""

    @property
    def cover(self) -> bool:
        """Patch 0 of n."""
        return self.subject.n == 0

    @property
    def reply(self) -> bool:
        """A discussion mail: what it quotes is no patch."""
        return self.subject.reply


def message_id(message: Message) -> str:
    """The id with its angle brackets; archive pages put words behind it."""
    match = ID.search(message.header("message-id"))
    return match[0] if match is not None else ""


class _Body(NamedTuple):
    lines: list[bytes]
    scan: Scan
    files: tuple[Found, ...]
    """The file diffs that are the patch; quoted ones left out."""

    @property
    def first(self) -> int:
        """Index of the line on which the patch's diff starts; the number of lines where there is none."""
        return self.files[0].first if self.files else len(self.lines)

    @property
    def start(self) -> int:
        """Index of the line on which the commit message ends: its first ``---``, else the diff."""
        return min((s for s in self.scan.separators if s < self.first), default=self.first)


def read_patch(message: Message) -> Read:
    """Read one message; a message without a diff gives a patch without files."""
    subject = parse_subject(message.header("subject"))
    body = _read_body(message)
    if subject.n == 0 and _compares_versions(body):
        body = body._replace(files=())
    text, author, title = _message_text(body.lines[: body.start], message)
    patch = Patch(
        n=1 if subject.n is None else subject.n,
        subject=readable(title or subject.title),
        author=readable(author or message.header("from")),
        message_id=message_id(message),
        message=text,
        trailers=_trailers(text),
        files=tuple(f.diff for f in body.files),
        suppressions=tuple(_suppressions(body, message)),
        problems=message.problems + tuple(_problems(body, message)),
        source=message.source,
        line=message.line,
        lossy=message.lossy,
        headers=message.headers,
    )
    return Read(message, subject, patch, _outside(body, message))


def _stuffed(found: Scan) -> bool:
    """RFC 3676 puts a space before every line that starts with one: then all context starts with a second space."""
    context = [text for f in found.files for hunk in f.diff.hunks for tag, text in hunk.lines if tag == " " and text]
    return bool(context) and all(text.startswith(b" ") for text in context)


def _compares_versions(body: _Body) -> bool:
    """A cover letter's diff against the version before is no change to the tree."""
    before = body.lines[: body.files[0].first] if body.files else []
    return any(COMPARISON.match(line) for line in before)


def _read_body(message: Message) -> _Body:
    lines = raw(message.body).split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    found = scan(lines, message.source_line)
    if message.flowed and _stuffed(found):
        lines = [line[1:] if line.startswith(b" ") else line for line in lines]
        found = scan(lines, message.source_line)
    return _Body(lines, found, _real(found))


def _real(found: Scan) -> tuple[Found, ...]:
    """The diffs after the last ``---`` that has any behind it; those before are quoted in the text."""
    last = found.files[-1].first if found.files else 0
    separator = max((s for s in found.separators if s < last), default=-1)
    return tuple(f for f in found.files if f.first > separator)


def _message_text(lines: Sequence[bytes], message: Message) -> tuple[str, str, str]:
    """Commit message, and the author and subject that headers inside the body give."""
    texts = [readable(exact(line.rstrip(b"\r")), message.charset) for line in lines]
    start = next((i for i, t in enumerate(texts) if t.strip()), len(texts))
    given: dict[str, str] = {}
    while start < len(texts) and (match := IN_BODY.match(texts[start])):
        given.setdefault(match[1], match[2].strip())
        start += 1
    title = parse_subject(given["Subject"]).title if "Subject" in given else ""
    return "\n".join(texts[start:]).strip(), given.get("From", ""), title


def _trailers(text: str) -> tuple[tuple[str, str], ...]:
    """The block of ``Key: value`` lines at the end of the message."""
    found: list[tuple[str, str]] = []
    for line in reversed(text.splitlines()):
        match = TRAILER.fullmatch(line.rstrip())
        if match is not None:
            found.append((match[1], match[2].strip()))
        elif line.strip() and not line.startswith((" ", "\t", "[")):
            break
    return tuple(reversed(found))


def _suppressions(body: _Body, message: Message) -> Iterator[Suppression]:
    for index in range(body.start, body.first):
        if b"patchlint:" not in body.lines[index]:
            continue
        match = IGNORE.match(readable(exact(body.lines[index][:MAX_LINE])))
        if match is not None:
            yield Suppression(match[1], match[2] or "", match[3] or "", message.source_line(index))


def _problems(body: _Body, message: Message) -> Iterator[Problem]:
    for found in body.files:
        for damage in found.damage:
            what = f"{found.diff.path}: {damage.what}"
            yield Problem("SER004", what, message.source, message.source_line(damage.line))
    start, first = body.start, body.first
    for damage in body.scan.damage:
        if damage.line > start:
            yield Problem("SER004", damage.what, message.source, message.source_line(damage.line))
    quoted = next((f.diff for f in body.scan.files if start < f.first < first), None)
    if quoted is not None:
        what = f"{quoted.path}: diff before the last --- line, taken as quoted and not as part of the patch"
        yield Problem("SER004", what, message.source, quoted.mail_line, severity="note")
    if message.flowed and body.files:
        what = "sent as format=flowed, which lets mailers rewrap the patch"
        yield Problem("SER004", what, message.source, message.line, severity="note")


def _outside(body: _Body, message: Message) -> str:
    """All text that is in no file diff of the patch."""
    keep: list[bytes] = []
    at = 0
    for found in body.files:
        keep.extend(body.lines[at : found.first])
        at = found.end
    keep.extend(body.lines[at:])
    return "\n".join(readable(exact(line.rstrip(b"\r")), message.charset) for line in keep)


def credits(read: Read) -> tuple[tuple[str, str], ...]:
    """Trailers that a reply gives, quoted lines aside."""
    found = (CREDIT.match(line.strip()) for line in read.text.splitlines())
    return tuple((m[1], m[2].strip()) for m in found if m is not None)


def with_credits(patch: Patch, extra: Sequence[tuple[str, str]]) -> Patch:
    """The patch with trailers from replies added, each once."""
    new = tuple(dict.fromkeys(t for t in extra if t not in patch.trailers))
    return replace(patch, trailers=patch.trailers + new) if new else patch
