"""Saved output of git show and git log."""

from __future__ import annotations

import pytest

from patchlint.mail import read_mail
from patchlint.series import assemble

DIFF = "diff --git a/f.c b/f.c\n--- a/f.c\n+++ b/f.c\n@@ -1,2 +1,2 @@\n     int a;\n-%s\n+%s\n"


def commit(title: str, date: str, old: str, new: str) -> str:
    return (
        "commit 0123456789abcdef0123456789abcdef01234567 (HEAD -> main)\nAuthor: Ann Ähm <ann@example.org>\n"
        f"Date:   {date}\n\n    {title}\n    \n    Why.\n    \n    Signed-off-by: Ann <ann@example.org>\n\n"
        + DIFF
        % (old, new)
    )


def test_git_show_is_a_patch() -> None:
    text = commit("frob: fix", "Mon Mar 2 10:00:00 2026 +0100", "a", "b")
    (series,) = assemble(read_mail(text.encode(), "x.txt"))
    (patch,) = series.patches
    assert (patch.subject, patch.author) == ("frob: fix", "Ann Ähm <ann@example.org>")
    assert patch.message == "Why.\n\nSigned-off-by: Ann <ann@example.org>"
    assert patch.trailers == (("Signed-off-by", "Ann <ann@example.org>"),)
    assert patch.files[0].hunks[0].lines[0] == (" ", b"    int a;")
    assert text.split("\n")[patch.files[0].hunks[0].mail_line - 1] == "@@ -1,2 +1,2 @@"
    assert not patch.lossy


@pytest.mark.parametrize("reverse", [False, True])
def test_git_log_is_a_series_in_the_order_of_application(reverse: bool) -> None:
    first = commit("one", "Mon Mar 2 10:00:00 2026 +0100", "a", "b")
    second = commit("two", "Mon Mar 2 11:00:00 2026 +0100", "b", "c")
    text = "\n".join([first, second] if reverse else [second, first])
    (series,) = assemble(read_mail(text.encode(), "x.txt"))
    assert [(p.n, p.subject) for p in series.patches] == [(1, "one"), (2, "two")]
    assert all(not p.problems for p in series.patches)


def test_a_commit_quoted_in_a_mail_cuts_nothing() -> None:
    text = "Subject: [PATCH] x\n\nAs in\n\ncommit 0123456789ab\nAuthor: Bob\n\n---\n" + DIFF % ("a", "b")
    (message,) = read_mail(text.encode(), "x")
    assert message.header("subject") == "[PATCH] x"
