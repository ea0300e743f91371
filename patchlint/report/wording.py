"""Words that several formats share, and the cleaning of text that came by mail."""

from __future__ import annotations

import re
from collections.abc import Iterable

from patchlint.model import SEVERITIES, Finding, Review, Severity, Step

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """``text`` without what a terminal, a browser or a reader could be fooled with.

    Control characters (all but tab and newline), bidirectional overrides and undecodable bytes
    become U+FFFD.  Mail is hostile input; every text that is shown passes here.
    """
    decodable = text.encode("utf-8", "surrogateescape" if _escaped(text) else "replace").decode("utf-8", "replace")
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", decodable)


def _escaped(text: str) -> bool:
    """Whether every lone surrogate in ``text`` stands for an undecodable byte."""
    return all("\udc80" <= char <= "\udcff" for char in text if "\ud800" <= char <= "\udfff")


def one_line(text: str) -> str:
    """``printable`` text with every run of white space made one space."""
    return " ".join(printable(text).split())


def subject_of(review: Review) -> str:
    """What to call a review in a heading: the series' subject, or the input's name."""
    named = review.series.subject if review.series is not None else ""
    return one_line(named or review.source)


def plural(count: int, word: str, many: str = "") -> str:
    """``1 error``, ``2 errors``; ``many`` where an s does not do: ``3 patches``."""
    return f"{count} {word}" if count == 1 else f"{count} {many or word + 's'}"


def by_severity(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many findings there are of each severity (zeros included), the worst first."""
    counts: dict[Severity, int] = dict.fromkeys(reversed(SEVERITIES), 0)
    for finding in findings:
        counts[finding.severity] += 1
    return counts


def tally(findings: Iterable[Finding]) -> str:
    """``2 errors, 1 note``, or ``no findings``."""
    counts = by_severity(findings)
    return ", ".join(plural(count, word) for word, count in counts.items() if count) or "no findings"


def verdict_words(finding: Finding) -> str:
    """What the verdict means for this finding, as a clause."""
    if finding.verdict == "introduced":
        return f"introduced by patch {finding.patch}" if finding.patch else "found"
    if finding.verdict == "transient":
        repaired = f", repaired by patch {finding.fixed_by}" if finding.fixed_by else ", repaired later in the series"
        return f"introduced by patch {finding.patch}{repaired}"
    if finding.verdict == "exposed":
        return f"unchanged code that patch {finding.patch} makes wrong"
    return "there before the series"


def place_words(file: str, line: int) -> str:
    """``file:line``, or what of it is known."""
    return f"{one_line(file)}:{line}" if line > 0 else one_line(file)


def step_words(finding: Finding, step: Step) -> str:
    """Where a step is, seen from its finding: ``line 12``, or ``other.c:12`` in another file."""
    name = one_line(step.file).rsplit("/", 1)[-1]
    return f"line {step.line}" if step.file == finding.file else f"{name}:{step.line}"
