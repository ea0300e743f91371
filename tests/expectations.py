"""Expectations that stand beside the code they speak of, and how they meet what was found.

In a fixture: ``/* want RULE "part of the message" [verdict] */`` on the line of a finding, ``/* step RULE:N */`` on the
line of step N of its trace, ``want-fn RULE "reason"`` for a known miss, ``want-fp RULE "reason"`` for a known false
alarm.  Functions are called ``..._bad`` (something is wanted in them) or ``..._ok`` (nothing is).  In a mailbox the
comments stand on lines of the diff; ``want`` outside any hunk (among the notes) speaks of the series as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from patchlint.callgraph import TreeIndex
from patchlint.mail import read_mail
from patchlint.model import Finding, Review, Series
from patchlint.review import Selection, TreeKnowledge, View, choose_findings, join, review_file, review_series
from patchlint.ruleset import Ruleset
from patchlint.series import assemble, choose

ANYWHERE = 0
"""Line of an expectation that speaks of the series, not of a place."""

_WANT = re.compile(
    r'\b(?P<sort>want(?:-fn|-fp)?) (?P<rule>[A-Z]+\d{3}) "(?P<text>[^"]*)"'
    r"(?: (?P<verdict>introduced|transient|exposed|preexisting))?"
)
_STEP = re.compile(r"\bstep (?P<rule>[A-Z]+\d{3}):(?P<number>\d+)")
_FUNCTION = re.compile(r"^[A-Za-z_][^;={}]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class Want(NamedTuple):
    """One expectation: ``sort`` "want", "want-fn" (not found, should be) or "want-fp" (found, should not be)."""

    sort: str
    rule: str
    text: str
    line: int
    verdict: str = ""


class Step(NamedTuple):
    """The line on which step ``number`` (from 1) of the trace of a finding of ``rule`` must stand."""

    rule: str
    number: int
    line: int


@dataclass(frozen=True)
class Expected:
    """All that one fixture expects."""

    wants: tuple[Want, ...]
    steps: tuple[Step, ...]


def expected_in(lines: Iterable[tuple[int, str]]) -> Expected:
    """The expectations in numbered lines."""
    wants: list[Want] = []
    steps: list[Step] = []
    for number, text in lines:
        wants += [Want(m["sort"], m["rule"], m["text"], number, m["verdict"] or "") for m in _WANT.finditer(text)]
        steps += [Step(m["rule"], int(m["number"]), number) for m in _STEP.finditer(text)]
    return Expected(tuple(wants), tuple(steps))


def source_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines of a C file with their numbers."""
    yield from enumerate(text.split("\n"), 1)


def mail_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines of a mailbox: those of hunks with their number in the post-image, all others ANYWHERE."""
    line = ANYWHERE
    for row in text.split("\n"):
        hunk = _HUNK.match(row)
        if hunk:
            line = int(hunk[1])
        elif line and row[:1] in (" ", "+"):
            yield line, row
            line += 1
        elif line and row[:1] == "-" and row != "-- ":
            continue
        else:
            line = ANYWHERE
            yield ANYWHERE, row


# -------------------------------------------------------------------- running


def review_c(text: str, path: str, ruleset: Ruleset) -> Review:
    """A review of one C file without a tree, as ``patchlint file --min-confidence low`` makes it."""
    knowledge = TreeKnowledge(TreeIndex(), ruleset, frozenset({path}), None)
    review = join(path, "", [review_file(View(path, text.encode()), ruleset, knowledge)])
    return choose_findings(review, Selection(min_confidence="low"))


def spoken_of(expected: Expected, findings: Iterable[Finding]) -> list[Finding]:
    """Findings that a whole-tree run shows by default, and of the doubtful ones those that the file wants.

    A file as it stands has no earlier state to compare, so what rests on two moments is told at low confidence there.
    """
    wanted = {(want.rule, want.line) for want in expected.wants if want.sort == "want"}
    return [one for one in findings if one.confidence != "low" or (one.rule, one.line) in wanted]


TREE_CHECKERS = ("static_key", "dst")
"""Checkers whose rules span functions: they look at what a patch changes, so their code comes as a patch."""

_MAIL = """From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001
From: Ada Example <ada@example.org>
Date: Mon, 2 Nov 2026 10:00:00 +0000
Subject: [PATCH] lantern: add a file
Message-ID: <20261102100000.1-1-ada@example.org>

A new file.

Signed-off-by: Ada Example <ada@example.org>
---
diff --git a/{path} b/{path}
new file mode 100644
--- /dev/null
+++ b/{path}
@@ -0,0 +1,{count} @@
{lines}--{blank}
2.43.0

"""


def review_added(text: str, path: str, ruleset: Ruleset) -> Review:
    """A review of a patch that adds one C file, without a tree."""
    rows = text.split("\n")[:-1]
    lines = "".join(f"+{row}\n" for row in rows)
    mail = _MAIL.format(path=path, count=len(rows), lines=lines, blank=" ")
    [review] = review_mails(mail.encode(), path, ruleset)
    return review


def review_mails(data: bytes, name: str, ruleset: Ruleset) -> Iterator[Review]:
    """Reviews of the series of one mailbox without a tree, as ``patchlint mbox --no-tree`` makes them."""
    for series in choose(assemble(read_mail(data, name)), None):
        knowledge = TreeKnowledge(TreeIndex(), ruleset, _paths(series), None)
        yield choose_findings(review_series(series, None, ruleset, knowledge), Selection())


def _paths(series: Series) -> frozenset[str]:
    diffs = (diff for patch in series.patches for diff in patch.files)
    return frozenset(path for diff in diffs for path in (diff.old_path, diff.new_path) if path)


# ------------------------------------------------------------------ comparing


def differences(expected: Expected, findings: Sequence[Finding]) -> list[str]:
    """What is found and not wanted, wanted and not found, and traces that do not pass where they should."""
    left = list(findings)
    wrong: list[str] = []
    for want in expected.wants:
        match = next((finding for finding in left if _meets(finding, want)), None)
        if match is not None:
            left.remove(match)
        wrong += _verdict(want, match)
        if match is not None:
            wrong += _steps(expected.steps, want, match, expected.wants)
    wrong += [f"line {finding.line}: nobody wants {finding.rule} {finding.message}" for finding in left]
    return wrong


def _meets(finding: Finding, want: Want) -> bool:
    here = want.line in (ANYWHERE, finding.line)
    # The text of want-fn and want-fp is the reason, not a part of the message.
    said = want.sort != "want" or want.text in finding.message
    return here and said and finding.rule == want.rule and want.verdict in ("", finding.verdict)


def _verdict(want: Want, match: Finding | None) -> list[str]:
    if want.sort == "want-fn":
        return [f"line {want.line}: the known miss {want.rule} is found now; make it a want"] if match else []
    if match is not None:
        return []
    if want.sort == "want-fp":
        return [f"line {want.line}: the known false alarm {want.rule} is gone; take its want-fp away"]
    return [f'line {want.line}: {want.rule} "{want.text}" is not found']


def _steps(steps: Sequence[Step], want: Want, finding: Finding, wants: Sequence[Want]) -> Iterator[str]:
    """Steps belong to the first wanted finding of their rule at or below them."""
    for step in steps:
        owner = min((w.line for w in wants if w.rule == step.rule and w.line >= step.line), default=0)
        if step.rule != want.rule or (owner or want.line) != want.line:
            continue
        if step.number > len(finding.trace):
            yield f"line {step.line}: the trace of {step.rule} has {len(finding.trace)} steps"
        elif finding.trace[step.number - 1].line != step.line:
            yield f"step {step.number} of {step.rule} is on line {finding.trace[step.number - 1].line}, not {step.line}"


Ending = Literal["bad", "ok", ""]


def function_names(text: str) -> Iterator[tuple[str, Ending, int, int]]:
    """Functions of a fixture: name, ending, first and last line."""
    found = [(match[1], text.count("\n", 0, match.end()) + 1) for match in _FUNCTION.finditer(text)]
    last = text.count("\n") + 1
    for number, (name, line) in enumerate(found):
        end = found[number + 1][1] - 1 if number + 1 < len(found) else last
        ending: Ending = "bad" if name.endswith("_bad") else "ok" if name.endswith("_ok") else ""
        yield name, ending, line, end


def misnamed(text: str, expected: Expected) -> list[str]:
    """Functions whose name does not say what is expected of them."""
    wrong = []
    for name, ending, first, last in function_names(text):
        inside = [want for want in expected.wants if first <= want.line <= last]
        if ending == "bad" and not inside:
            wrong.append(f"{name} expects nothing")
        if ending == "ok" and any(want.sort != "want-fp" for want in inside):
            wrong.append(f"{name} expects a finding")
        if not ending and inside:
            wrong.append(f"{name} expects a finding but is not called {name}_bad")
    return wrong
