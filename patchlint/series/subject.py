"""Subjects of patch mail: brackets, version, counter, reply marks."""

from __future__ import annotations

import re
from dataclasses import dataclass

REPLY = re.compile(r"(?:re|aw|sv|fwd?|antw|答复|回复)(?:\[\d+\])?\s*[::]\s*", re.IGNORECASE)
GROUP = re.compile(r"\[([^\[\]]*)\]\s*")
# Marks that gateways put before the subject: "[EXT] Re: [PATCH] ...".
GATEWAY = re.compile(r"\[(?:ext|external|caution|spam|extern|ext\.)\]\s*", re.IGNORECASE)
COUNTER = re.compile(r"(\d{1,4})\s*(?:/|of)\s*(\d{1,4})", re.IGNORECASE)
VERSION = re.compile(
    r"(?:(patch|rfc|patchset|series)[-_]?)?v\.?(\d{1,3}(?:\.\d{1,3})?)(?:[-_]?(resend|repost|rfc))?", re.IGNORECASE
)
RESEND = frozenset(("RESEND", "REPOST", "RESENT"))
KINDS = frozenset(("PATCH", "RFC", "PATCHES", "PATCHSET", "RFT", "RFC/PATCH", "PATCH/RFC", "GIT"))


MAX_LENGTH = 1000
"""Characters of a subject that are looked at."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject taken apart. ``n`` and ``total`` are None where it has no counter; ``version`` is 1 unless told."""

    title: str
    prefix: tuple[str, ...] = ()
    """Bracket words besides version, counter and resend marks, in order."""
    version: tuple[int, ...] = (1,)
    resend: bool = False
    n: int | None = None
    total: int | None = None
    reply: bool = False

    @property
    def marked(self) -> bool:
        """The brackets say that this is a patch mail (a kind such as PATCH, or a counter)."""
        return self.n is not None or any(word.upper() in KINDS for word in self.prefix)

    @property
    def rfc(self) -> bool:
        """A request for comments, which any later plain version supersedes."""
        return any("RFC" in word.upper() for word in self.prefix)

    @property
    def version_text(self) -> str:
        """``v2`` or ``v2.1``."""
        return version_text(self.version)


def version_text(version: tuple[int, ...]) -> str:
    """Write a version as people do."""
    return "v" + ".".join(map(str, version))


def parse_version(text: str) -> tuple[int, ...] | None:
    """Read ``v2``, ``V2.1`` or ``2``; None for anything else."""
    match = re.fullmatch(r"\s*v?(\d{1,3}(?:\.\d{1,3})?)\s*", text, re.IGNORECASE)
    return None if match is None else tuple(map(int, match[1].split(".")))


def parse_subject(text: str) -> Subject:
    """Take a Subject header apart; text without brackets is all title."""
    text, reply = _without_marks(" ".join(text[:MAX_LENGTH].split()))
    groups: list[str] = []
    rest = text
    title = text
    while match := GROUP.match(rest):
        groups.append(match[1])
        rest = rest[match.end() :]
        if len(groups) == 1 or _telling(match[1]):
            title = rest
            used = len(groups)
    if not groups:
        return Subject(text, reply=reply)
    return _from_words(" ".join(groups[:used]), title.strip(), reply)


def _without_marks(text: str) -> tuple[str, bool]:
    reply = False
    while True:
        if match := REPLY.match(text):
            reply = True
        elif not (match := GATEWAY.match(text)):
            return text, reply
        text = text[match.end() :]


def _telling(group: str) -> bool:
    """The group belongs to the prefix: it has a kind, version, counter or resend mark."""
    subject = _from_words(group, "", False)
    return subject.marked or subject.resend or subject.version != (1,)


def _from_words(words: str, title: str, reply: bool) -> Subject:
    n = total = None
    counter = COUNTER.search(words)
    if counter is not None:
        n, total = int(counter[1]), int(counter[2])
        words = words[: counter.start()] + " " + words[counter.end() :]
    version: tuple[int, ...] = (1,)
    resend = False
    prefix: list[str] = []
    for word in re.split(r"[\s,;]+", words.strip()):
        match = VERSION.fullmatch(word)
        if match is not None:
            version = tuple(map(int, match[2].split(".")))
            extra = [g.upper() for g in (match[1], match[3]) if g]
        else:
            extra = [word] if word else []
        for part in extra:
            if part.upper() in RESEND:
                resend = True
            elif part not in prefix:
                prefix.append(part)
    return Subject(title, tuple(prefix), version, resend, n, total, reply)
