"""Headers, transfer encodings, charsets, parts."""

from __future__ import annotations

import base64
import quopri
import time

import pytest

from patchlint.mail import read_mail, readable
from patchlint.model import Message

DIFF = "--- a/f.c\n+++ b/f.c\n@@ -1,1 +1,1 @@\n-\tint gr\u00f6\u00dfe = 1;\n+\tint gr\u00f6\u00dfe = 2;\n"
HEAD = "From: Ann <ann@example.org>\nSubject: [PATCH] x\n"


def one(data: str | bytes) -> Message:
    (message,) = read_mail(data.encode() if isinstance(data, str) else data, "x.eml")
    return message


def test_names_are_lower_case_and_folded_values_are_joined() -> None:
    message = one("FROM: Ann\nSubject: [PATCH 1/2] a long\n  subject that\n\tgoes on\n\nbody\n")
    assert message.header("from") == "Ann"
    assert message.header("subject") == "[PATCH 1/2] a long subject that goes on"
    assert message.body_line == 6


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("=?utf-8?q?J=C3=B6rg?= <j@example.org>", "Jörg <j@example.org>"),
        ("=?iso-8859-1?b?SvZyZw==?= <j@example.org>", "Jörg <j@example.org>"),
        ("=?utf-8?q?a?= =?utf-8?q?b?=", "ab"),
        ("=?unknown-8bit?q?J=C3=B6rg?=", "Jörg"),
        ("=?utf-8?b?not base64!?=", "=?utf-8?b?not base64!?="),
        ("=?utf-8?b?A?= x", None),
    ],
)
def test_encoded_words_are_decoded_or_left_alone(written: str, read: str | None) -> None:
    value = one(f"From: {written}\nSubject: x\n\nbody\n").header("from")
    assert value if read is None else value == read


def test_raw_latin1_in_a_header_is_read_as_such() -> None:
    assert one("From: Jörg <j@example.org>\nSubject: x\n\nb\n".encode("latin-1")).header("from").startswith("Jörg")


def test_quoted_printable_keeps_source_lines() -> None:
    text = "Long " + "word " * 30 + "end.\n---\n" + DIFF
    encoded = quopri.encodestring(text.encode()).decode()
    message = one(HEAD + "Content-Transfer-Encoding: quoted-printable\n\n" + encoded)
    assert message.body == text
    source = (HEAD + "Content-Transfer-Encoding: quoted-printable\n\n" + encoded).split("\n")
    hunk = message.body.split("\n").index("@@ -1,1 +1,1 @@")
    assert source[message.source_line(hunk) - 1] == "@@ -1,1 +1,1 @@"


def test_base64_is_decoded_up_to_an_unencoded_footer() -> None:
    encoded = base64.encodebytes(DIFF.encode()).decode()
    message = one(HEAD + "Content-Transfer-Encoding: base64\n\n" + encoded + "______\nlist footer\n")
    assert message.body == DIFF


def test_broken_base64_gives_an_empty_body() -> None:
    assert one(HEAD + "Content-Transfer-Encoding: base64\n\nA\n").body == ""


@pytest.mark.parametrize("header", ["Content-Type: multipart/mixed; boundary=b", "Content-Transfer-Encoding: base64"])
def test_bodies_that_an_exporter_decoded_are_plain_text(header: str) -> None:
    assert one(HEAD + header + "\n\nText, plainly.\n---\n" + DIFF).body.endswith(DIFF)


def test_the_html_twin_is_ignored() -> None:
    message = one(
        HEAD + 'Content-Type: multipart/alternative; boundary="b b"\n\npreamble\n--b b\nContent-Type: text/plain\n\n'
        + DIFF + "--b b\nContent-Type: text/html\n\n<p>diff</p>\n--b b--\nepilogue\n"
    )  # fmt: skip
    assert message.body == DIFF
    assert not message.lossy


def test_html_alone_is_stripped_and_marked() -> None:
    message = one(HEAD + "Content-Type: text/html\n\n<p>a &lt; b</p><script>x</script>\n")
    assert message.body.strip() == "a < b"
    assert message.lossy


def test_text_and_attached_diff_make_one_body() -> None:
    data = (
        HEAD + "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nWhy.\n---\n\n--b\n"
        "Content-Type: text/x-patch; name=x.diff\nContent-Disposition: attachment\n\n" + DIFF + "--b--\n"
    )
    message = one(data)
    assert message.body == "Why.\n---\n\n" + DIFF
    at = message.body.split("\n").index("+++ b/f.c")
    assert data.split("\n")[message.source_line(at) - 1] == "+++ b/f.c"


def test_a_patch_that_is_attached_once_more_is_read_once() -> None:
    message = one(
        HEAD + "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n" + DIFF
        + "--b\nContent-Type: application/octet-stream; name=x.patch\n\n" + DIFF + "--b--\n"
    )  # fmt: skip
    assert message.body.count("@@ -1") == 1


def test_attached_patch_mails_are_mails() -> None:
    def attached(n: int) -> str:
        return (
            "--b\nContent-Type: text/x-patch\n\nFrom 0123456789 Mon Sep 17 00:00:00 2001\n"
            f"From: Bob <bob@example.org>\nSubject: [PATCH {n}/2] part {n}\n\nText.\n---\n" + DIFF
        )

    data = (
        "From: Ann <ann@example.org>\nSubject: two patches\nMessage-ID: <m@example.org>\n"
        "Content-Type: multipart/mixed; boundary=b\n\n" + attached(1) + attached(2) + "--b--\n"
    )
    messages = read_mail(data.encode(), "x.eml")
    assert [m.header("subject") for m in messages] == ["[PATCH 1/2] part 1", "[PATCH 2/2] part 2"]
    assert {m.header("from") for m in messages} == {"Bob <bob@example.org>"}


def test_bytes_come_through_unchanged() -> None:
    body = b"\x0c form feed\rlone \xff\xfe \xe9\n"
    assert one(HEAD.encode() + b"\n" + body).body.encode("utf-8", "surrogateescape") == body


def test_declared_charsets_are_for_people_only() -> None:
    message = one(HEAD.encode() + b"Content-Type: text/plain; charset=iso-8859-15\n\n\xa4\n")
    assert readable(message.body, message.charset) == "€\n"


def test_utf16_is_decoded_because_ascii_is_not_ascii_in_it() -> None:
    encoded = base64.encodebytes(DIFF.encode("utf-16")).decode()
    head = HEAD + "Content-Type: text/plain; charset=utf-16\nContent-Transfer-Encoding: base64\n\n"
    assert one(head + encoded).body == DIFF


def test_transport_crlf_goes_and_the_files_own_stays() -> None:
    assert one((HEAD + "\n" + DIFF).replace("\n", "\r\n")).body == DIFF
    mixed = DIFF.replace("= 1;\n", "= 1;\r\n")
    assert one(HEAD + "\n" + mixed).body == mixed


def test_flowed_mail_is_marked() -> None:
    assert one(HEAD + "Content-Type: text/plain; charset=UTF-8; format=flowed\n\nx\n").flowed


def test_deep_nesting_is_named_and_cheap() -> None:
    depth = 20_000
    data = HEAD + "Content-Type: multipart/mixed; boundary=b0\n\n"
    data += "".join(f"--b{i}\nContent-Type: multipart/mixed; boundary=b{i + 1}\n\n" for i in range(depth))
    start = time.perf_counter()
    message = one(data)
    assert time.perf_counter() - start < 5
    assert [p.rule for p in message.problems] == ["SER004"]


def test_many_parts_are_named_and_cheap() -> None:
    data = HEAD + "Content-Type: multipart/mixed; boundary=b\n\n" + "--b\n\nx\n" * 50_000
    start = time.perf_counter()
    (message,) = read_mail(data.encode(), "x")
    assert time.perf_counter() - start < 5
    assert [p.rule for p in message.problems] == ["SER004"]
