"""Cutting mailboxes into mails."""

from __future__ import annotations

import pytest

from patchlint.mail import read_mail
from patchlint.model import PatchlintError

MAIL = b"From: Ann <ann@example.org>\nSubject: [PATCH] %s\n\nText.\n"
ENVELOPE = b"From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n"


def subjects(data: bytes) -> list[str]:
    return [m.header("subject") for m in read_mail(data, "x.mbox")]


def test_mails_begin_where_their_envelope_says() -> None:
    data = ENVELOPE + MAIL % b"one" + b"\n" + ENVELOPE + MAIL % b"two"
    messages = read_mail(data, "x.mbox")
    assert [m.header("subject") for m in messages] == ["[PATCH] one", "[PATCH] two"]
    assert [m.line for m in messages] == [2, 8]
    assert [m.body_line for m in messages] == [5, 11]


def test_a_mail_without_envelope_is_found() -> None:
    assert subjects(MAIL % b"one") == ["[PATCH] one"]


def test_a_body_line_that_starts_with_from_cuts_nothing() -> None:
    data = ENVELOPE + MAIL % b"one" + b"From now on all is well.\nFrom a.c at 10:30 in 2019\n\nmore\n"
    (message,) = read_mail(data, "x.mbox")
    assert "From now on" in message.body


def test_quoted_from_lines_are_restored() -> None:
    (message,) = read_mail(ENVELOPE + MAIL % b"one" + b">From here\n>>From there\n> From nowhere\n", "x")
    assert message.body.endswith("From here\n>From there\n> From nowhere\n")


def test_lore_archives_use_their_own_envelope() -> None:
    envelope = b"From mboxrd@z Thu Jan  1 00:00:00 1970\n"
    assert subjects(envelope + MAIL % b"one" + b"\n" + envelope + MAIL % b"two") == ["[PATCH] one", "[PATCH] two"]


def test_glued_patches_are_told_apart_by_signature_and_headers() -> None:
    assert subjects(MAIL % b"one" + b"-- \n2.39.5\n\n" + MAIL % b"two") == ["[PATCH] one", "[PATCH] two"]


def test_an_envelope_inside_an_attachment_cuts_nothing() -> None:
    data = (
        b"From: Ann <ann@example.org>\nSubject: see there\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nhello\n"
        b"--b\nContent-Type: text/x-patch\n\n" + ENVELOPE + MAIL % b"inner" + b"--b--\n"
    )
    assert subjects(data) == ["see there"]


def test_text_before_the_first_envelope_is_a_mail_of_its_own() -> None:
    assert subjects(b"Dear reader,\n\n" + ENVELOPE + MAIL % b"one") == ["", "[PATCH] one"]


def test_blank_lines_and_a_byte_order_mark_before_everything_are_passed_over() -> None:
    assert subjects(b"\xef\xbb\xbf" + MAIL % b"one") == ["[PATCH] one"]
    (message,) = read_mail(b"\n\n" + ENVELOPE + MAIL % b"one", "x")
    assert message.line == 4


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_nothing_is_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(PatchlintError, match=r"^x: empty"):
        read_mail(data, "x")


def test_a_stray_nul_does_not_make_a_mail_binary() -> None:
    assert subjects(ENVELOPE + MAIL % b"one" + b"a\0b\n") == ["[PATCH] one"]


def test_a_binary_file_is_refused_in_one_line() -> None:
    with pytest.raises(PatchlintError, match=r"^a\.out: a binary file"):
        read_mail(b"\x7fELF\0\0\0\0", "a.out")
