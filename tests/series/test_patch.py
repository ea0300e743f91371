"""What a patch says besides its diff."""

from __future__ import annotations

from patchlint.mail import read_mail
from patchlint.model import Patch, Suppression
from patchlint.series import assemble

DIFF = " f.c | 2 +-\n 1 file changed\n\n--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n"


def patch(body: str, headers: str = "") -> Patch:
    text = "From: Ann <ann@example.org>\nSubject: [PATCH v2 1/1] f: x\n" + headers + "\n" + body
    return assemble(read_mail(text.encode(), "x.eml"))[0].patches[0]


def test_message_and_trailers() -> None:
    found = patch(
        "Why it is so.\n\nNote: no trailer, as text follows\nmore text\n\nFixes: 0123456789ab (\"f: y\")\n"
        "Signed-off-by: Ann <ann@example.org>\n[bob: reworded]\nSigned-off-by: Bob <bob@example.org>\n---\n" + DIFF
    )  # fmt: skip
    assert found.message.startswith("Why it is so.")
    assert found.message.endswith("bob@example.org>")
    assert [key for key, _ in found.trailers] == ["Fixes", "Signed-off-by", "Signed-off-by"]


def test_headers_in_the_body_win() -> None:
    found = patch("From: Real Author <real@example.org>\nSubject: [PATCH] the real title\n\nText.\n---\n" + DIFF)
    assert (found.author, found.subject, found.message) == ("Real Author <real@example.org>", "the real title", "Text.")


def test_a_message_without_separator_ends_at_the_diff() -> None:
    assert patch("Text.\n\n--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-a\n+b\n").message == "Text."


def test_suppressions_stand_between_separator_and_diff() -> None:
    found = patch(
        "Text.\npatchlint: ignore REF002\n---\nv2: new\npatchlint: ignore REF001 foo_probe: released by the core\n"
        "  patchlint: ignore KEY\npatchlint: ignore DST001 sk->dst:\npatchlint: ignore this please, it is noise\n"
        + DIFF
    )  # fmt: skip
    assert found.suppressions == (
        Suppression("REF001", "foo_probe", "released by the core", 8),
        Suppression("KEY", "", "", 9),
        Suppression("DST001", "sk->dst", "", 10),
    )


def test_no_suppression_comes_from_the_diff() -> None:
    found = patch("Text.\n---\n--- a/f.c\n+++ b/f.c\n@@ -1 +1,2 @@\n a\n+patchlint: ignore REF001\n")
    assert found.suppressions == ()


def test_text_in_other_charsets_is_readable() -> None:
    head = b"From: J\xf6rg <j@example.org>\nSubject: [PATCH] x\nContent-Type: text/plain; charset=iso-8859-1\n\n"
    found = assemble(read_mail(head + b"Gr\xfc\xdfe\n---\n" + DIFF.encode(), "x"))[0].patches[0]
    assert found.message == "Grüße"
    for part in (found.author, found.subject, found.message):
        part.encode()


def test_a_section_with_odd_bytes_can_be_printed() -> None:
    text = b"Subject: [PATCH] x\n\n---\n--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@ int gr\xf6\xdfe(void)\n-\xf6\n+b\n"
    hunk = assemble(read_mail(text, "x"))[0].patches[0].files[0].hunks[0]
    assert hunk.section == "int größe(void)"
    assert hunk.lines[0] == ("-", b"\xf6")
