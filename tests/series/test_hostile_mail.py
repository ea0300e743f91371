"""Mail made to hurt: a result or a refusal in bounded time, never a traceback.

The sizes are such that work growing with their square would take minutes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchlint.mail import read_mail
from patchlint.model import PatchlintError, Series
from patchlint.series import assemble, choose
from patchlint.source import apply_series

FIXTURES = Path(__file__).parents[2] / "fixtures" / "mail"
HEAD = b"From: A <a@example.org>\nSubject: [PATCH] x\n\nText.\n---\n"
ENCODED = b"Subject: [PATCH] x\nContent-Transfer-Encoding: %s\n\n"
FILE = b"--- a/f.c\n+++ b/f.c\n"
PAGE = b"<!DOCTYPE html><html>"
ENVELOPE = b"From x Mon Sep 17 00:00:00 2001\n"
MAX_SECONDS = 20.0
"""Far above what any case takes on a slow machine, far below what quadratic work would."""


def hunk(n: int) -> bytes:
    return b"@@ -%d,3 +%d,3 @@\n a\n-b\n+c\n d\n" % (10 * n + 1, 10 * n + 1)


def run(data: bytes) -> tuple[Series, ...]:
    series = choose(assemble(read_mail(data, "x")), None)
    for one in series:
        for applied in apply_series(one, None):
            assert all(1 <= first <= last for image in applied.images for first, last in image.touched)
    return series


CASES: dict[str, Callable[[], bytes]] = {
    "separators": lambda: HEAD + b"---\n" * 300_000,
    "separators between diffs": lambda: HEAD + (b"---\n" + FILE + hunk(1)) * 20_000,
    "hunk headers": lambda: HEAD + b"@@ -1,1 +1,1 @@\n" * 100_000,
    "one endless damaged hunk": lambda: HEAD + FILE + b"@@ -1,900000 +1,900000 @@\n" + b"zz\n" * 300_000,
    "many damaged hunks": lambda: HEAD + (FILE + b"@@ -1,9 +1,9 @@\nzz\n") * 20_000,
    "many damaged hunks of one file": lambda: HEAD + FILE + b"@@ -1,9000 +1,9 @@\nzz\n a\n" * 20_000,
    "left-over lines": lambda: HEAD + (FILE + b"@@ -1 +1 @@\n-a\n+b\n+c\n" + b"x\n" * 10) * 20_000,
    "names with spaces": lambda: HEAD + b"diff --git a/" + b"a b/" * 300_000 + b"\n",
    "many names with spaces": lambda: HEAD + (b"diff --git a/" + b"a b/" * 100 + b"\n") * 5_000,
    "a name of spaces": lambda: HEAD + b"--- a/f" + b" " * 500_000 + b"x\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
    "new files": lambda: HEAD + b"".join(b"--- /dev/null\n+++ b/%d.c\n@@ -0,0 +1 @@\n+b\n" % n for n in range(20_000)),
    "one number over and over": lambda: (ENVELOPE + b"Subject: [PATCH 1/2] x\n\n") * 15_000,
    "numbers": lambda: b"".join(ENVELOPE + b"Subject: [PATCH %d/9999] x\n\n" % n for n in range(1, 9_999)),
    "series of one author": lambda: b"".join(
        ENVELOPE + b"Subject: [PATCH] x\nMessage-ID: <%d>\nFrom: a\n\n---\n" % n + FILE + hunk(1) for n in range(6_000)
    ),
    "unthreaded numbers of one author": lambda: b"".join(
        ENVELOPE + b"Subject: [PATCH %d/9999] x%d\nMessage-ID: <%d>\nFrom: a\n\n" % (n % 7, n, n) for n in range(8_000)
    ),
    "unthreaded numbers of many authors": lambda: b"".join(
        ENVELOPE + b"Subject: [PATCH 1/2] x\nMessage-ID: <%d>\nFrom: a%d\n\n" % (n, n) for n in range(8_000)
    ),
    "header lines": lambda: b"From: a\n" + b"X-A: b\n" * 300_000 + b"\nbody\n",
    "encoded words": lambda: b"From: a\nSubject: " + b"=?utf-8?q?a?= " * 200_000 + b"\n\nbody\n",
    "bracket groups": lambda: b"From: a\nSubject: " + b"[a]" * 200_000 + b"\n\nbody\n",
    "reply marks": lambda: b"From: a\nSubject: " + b"Re: " * 200_000 + b"\n\nbody\n",
    "references": lambda: b"From: a\nSubject: [PATCH 1/2] x\nReferences: " + b"<a@b> " * 500_000 + b"\n\nbody\n",
    "open tags": lambda: PAGE + b"<a " * 500_000,
    "open scripts": lambda: PAGE + b"<script>" * 300_000,
    "open comments": lambda: PAGE + b"<!--" * 500_000,
    "base64": lambda: ENCODED % b"base64" + b"QUFB\n" * 100_000,
    "soft breaks": lambda: ENCODED % b"quoted-printable" + b"=\n" * 500_000,
    "lore marks": lambda: (b"* x\n" + b"y\n" * 60) * 10_000 + b"(permalink / raw)",
    "carriage returns": lambda: b"\r" * 2_000_000 + b"x",
    "one long line": lambda: b"x" * 5_000_000,
    "a suppression of spaces": lambda: HEAD + b"patchlint: ignore A" + b" " * 200_000 + b"x x\n" + FILE + hunk(1),
    "a trailer of dashes": lambda: HEAD.replace(b"Text.", b"A-" * 500_000) + FILE + hunk(1),
    "shortlogs": lambda: HEAD.replace(b"[PATCH]", b"[PATCH 0/3]") + b"aaaaaaaaaaaaaaaa (3):\n" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_time_is_bounded(name: str) -> None:
    data = CASES[name]()
    start = time.perf_counter()
    run(data)
    assert time.perf_counter() - start < MAX_SECONDS


def test_more_hunks_than_any_patch_has_are_left_out_and_said() -> None:
    (one,) = run(HEAD + FILE + b"".join(map(hunk, range(60_000))))
    assert len(one.patches[0].files[0].hunks) == 50_000
    assert [p.message for p in one.patches[0].problems] == ["more than 50000 hunks in one mail; the rest is not read"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x\n" * 2_100_000, "more than 2,000,000 lines"),
        ((ENVELOPE + b"Subject: x\n\n") * 21_000, "more than 20,000 mails"),
    ],
)
def test_what_no_mailbox_has_is_refused(data: bytes, text: str) -> None:
    with pytest.raises(PatchlintError, match=f"^x: {text}; split the mailbox$"):
        read_mail(data, "x")


def printable(series: Series) -> None:
    """Everything that reports print can be encoded."""
    for patch in series.patches:
        texts = [patch.subject, patch.author, patch.message, *(d.path for d in patch.files)]
        texts += [h.section for d in patch.files for h in d.hunks]
        texts += [p.message for p in (*patch.problems, *series.problems)]
        "".join(texts).encode()


PIECES = [
    b"---",
    b"-- ",
    b"@@ -1,3 +1,4 @@",
    b"@@ -0,0 +1 @@",
    b"diff --git a/x b/y",
    b"--- a/f",
    b"+++ b/f",
    b"--- /dev/null",
    b"+++ /dev/null",
    b"\\ No newline at end of file",
    b"",
    b" a",
    b"-a",
    b"+a",
    b"rename from x",
    b"rename to y",
    b"new file mode 100644",
    b"deleted file mode 100644",
    b"index 1234567..89abcde",
    b"GIT binary patch",
    b"--b",
    b"--b--",
    b"From x Mon Sep 17 00:00:00 2001",
    b"Subject: [PATCH 1/2] x",
    b"Subject: Re: [PATCH v2] x",
    b"From: A <a@b>",
    b"Content-Type: multipart/mixed; boundary=b",
    b"Content-Type: text/plain; format=flowed",
    b"In-Reply-To: <a@b>",
    b"Content-Transfer-Encoding: quoted-printable",
    b"Message-ID: <a@b>",
    b"\xff\xfe",
    b"=?utf-8?b?AAA?=",
    b"\t\x0c\r",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=30))
def test_any_pile_of_pieces_gives_a_result(pieces: list[bytes]) -> None:
    data = b"\n".join(pieces) + b"\n"
    if data.strip():
        for series in run(data):
            printable(series)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 20_000), st.integers(0, 60), st.binary(max_size=12))
def test_any_change_to_a_mailbox_gives_a_result(at: int, length: int, new: bytes) -> None:
    data = (FIXTURES / "thread.mbox").read_bytes()
    at %= len(data)
    for series in run(data[:at] + new + data[at + length :]):
        printable(series)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_a_result_or_a_refusal(data: bytes) -> None:
    try:
        run(data)
    except PatchlintError as refusal:
        assert "\n" not in str(refusal)
