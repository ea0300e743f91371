"""Texts that lost their mail headers."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchlint.mail import read_mail
from patchlint.model import Message

FIXTURES = Path(__file__).parents[2] / "fixtures" / "mail"
DIFF = "--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-a < b && c\n+a\n"


def one(data: str) -> Message:
    (message,) = read_mail(data.encode(), "x.txt")
    return message


def fixture(name: str) -> Message:
    (message,) = read_mail((FIXTURES / name).read_bytes(), name)
    return message


@pytest.mark.parametrize(
    ("name", "subject", "sender"),
    [
        ("copied.txt", "[PATCH net-next v2] frob: pass a mode when switching on", "Ann Author <ann@example.org>"),
        ("archive-page.txt", "[PATCH] frob: sleep on suspend", "Ann Author <ann@....org>"),
        ("cover-alone.txt", "[RFC PATCH 00/3] frob: tidy up", "Ann Author <ann@example.org>"),
    ],
)
def test_fixtures_tell_subject_and_sender_and_are_lossy(name: str, subject: str, sender: str) -> None:
    message = fixture(name)
    assert (message.header("subject"), message.header("from"), message.lossy) == (subject, sender, True)


def test_body_lines_are_lines_of_the_page() -> None:
    page = (FIXTURES / "archive-page.txt").read_text().split("\n")
    message = fixture("archive-page.txt")
    for index, line in enumerate(message.body.split("\n")[:20]):
        assert page[message.source_line(index) - 1] == line


def test_a_bare_diff_is_all_body() -> None:
    message = one(DIFF)
    assert message.body == DIFF
    assert not message.headers


def test_a_title_in_brackets_is_a_subject() -> None:
    assert one("[PATCH 2/3] frob: fix\n\nText.\n---\n" + DIFF).header("subject") == "[PATCH 2/3] frob: fix"


def test_quilt_texts_have_no_subject() -> None:
    message = one("Fix the frobnicator\n\nIndex: f.c\n" + DIFF)
    assert message.header("subject") == ""
    assert "Index: f.c" in message.body


def test_an_index_line_first_is_no_header() -> None:
    assert one("Index: linux/f.c\n===\n" + DIFF).body.startswith("Index: linux/f.c")


def test_a_marc_page_has_its_own_header_names() -> None:
    page = (
        "[prev in list] [next in list]\n\nList:       linux-frob\nSubject:    [PATCH] frob: fix\n"
        "From:       Ann <ann () example ! org>\nDate:       2026-03-02 10:00:00\n\nText.\n---\n" + DIFF
    )
    assert one(page).header("subject") == "[PATCH] frob: fix"


def test_headers_quoted_in_a_message_are_no_page() -> None:
    text = "frob: fix\n\nBob mailed\n\n" + DIFF + "\nFrom: Bob\nSubject: no\nDate: x\n"
    assert one(text).header("subject") == ""


def test_an_html_page_is_read_as_it_looks() -> None:
    page = (
        "<!DOCTYPE html>\n<html><head><title>no</title></head><body><pre>\nFrom: Ann &lt;ann@example.org&gt;\n"
        "Date: Mon, 2 Mar 2026 10:00:00 +0000\t<a href=x>[thread overview]</a>\n"
        "Subject: <b>[PATCH] frob: fix</b>\nMessage-ID: &lt;m@example.org&gt; (<a href=raw>raw</a>)\n\nText.\n---\n"
        + DIFF.replace("&", "&amp;").replace("<", "&lt;") + "</pre></body></html>\n"
    )  # fmt: skip
    message = one(page)
    assert message.header("subject") == "[PATCH] frob: fix"
    assert "-a < b && c\n" in message.body
    assert message.lossy


def test_a_lore_thread_page_gives_each_of_its_mails() -> None:
    def mail(n: int) -> str:
        return (
            f"* [PATCH v2 {n}/2] frob: part {n}\n  2026-03-02 10:00 [PATCH v2 0/2] frob Ann Author\n"
            "@ 2026-03-02 10:00 ` Ann Author\n  0 siblings, 0 replies; 3+ messages in thread\n"
            "From: Ann Author @ 2026-03-02 10:00 UTC (permalink / raw)\n  To: list; +Cc: bob\n\n"
            f"Text {n}.\n---\n{DIFF}\n^ permalink raw reply\t[flat|nested] 3+ messages in thread\n"
        )

    messages = read_mail((mail(1) + mail(2)).encode(), "page.txt")
    assert [m.header("subject") for m in messages] == ["[PATCH v2 1/2] frob: part 1", "[PATCH v2 2/2] frob: part 2"]
    assert all(m.header("from") == "Ann Author" and m.lossy for m in messages)
    assert messages[1].body.startswith("Text 2.")
