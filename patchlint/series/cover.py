"""What a cover letter and the tails of patches announce."""

from __future__ import annotations

import re

AUTHOR = re.compile(r"\S.* \((\d{1,4})\):\s*$")
ENTRY = re.compile(r" {2}(\S.*)")
CONTINUED = re.compile(r" {4,}(\S.*)")
BASE = re.compile(r"^base-commit: ([0-9a-f]{7,64})\s*$", re.MULTILINE)
PREREQUISITE = re.compile(r"^prerequisite-(?:patch-id|change-id|message-id): +(\S+)", re.MULTILINE)


def announced(text: str) -> tuple[str, ...]:
    """The titles in a cover letter's shortlog: ``Author (n):`` and n indented, perhaps wrapped, lines."""
    titles: list[str] = []
    left = 0
    wrapping = False
    for line in text.splitlines():
        if match := AUTHOR.match(line):
            left, wrapping = int(match[1]), False
        elif wrapping and (match := CONTINUED.match(line)):
            titles[-1] += " " + match[1].rstrip()
        elif left > 0 and (match := ENTRY.match(line)):
            titles.append(match[1].rstrip())
            left, wrapping = left - 1, True
        else:
            left, wrapping = (0 if line.strip() else left), False
    return tuple(titles)


def base_commit(text: str) -> str:
    """The commit named by a ``base-commit:`` line, or nothing."""
    match = BASE.search(text)
    return match[1] if match is not None else ""


def prerequisites(text: str) -> tuple[str, ...]:
    """Ids of patches and series that have to be applied first."""
    return tuple(PREREQUISITE.findall(text))
