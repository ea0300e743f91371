"""File headers: names, kinds, ids."""

from __future__ import annotations

import pytest

from patchlint.mail import read_mail
from patchlint.model import FileDiff, Patch
from patchlint.series import assemble

HUNK = "@@ -1 +1 @@\n-a\n+b\n"


def patch(diff: str, before: str = "Text.\n---\n") -> Patch:
    text = "From: Ann <ann@example.org>\nSubject: [PATCH] x\n\n" + before + "\n" + diff + "-- \n2.39.5\n"
    (series,) = assemble(read_mail(text.encode("utf-8", "surrogateescape"), "x"))
    return series.patches[0]


def one(diff: str) -> FileDiff:
    (found,) = patch(diff).files
    return found


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("a/drivers/f.c", "b/drivers/f.c", "drivers/f.c"),
        ("linux.orig/drivers/f.c", "linux/drivers/f.c", "drivers/f.c"),
        ("linux-6.1/drivers/f.c.orig", "linux-6.1/drivers/f.c", "drivers/f.c"),
        ("a/drivers/f.c\t2020-01-01 10:00:00.000000000 +0100", "b/drivers/f.c\t2020-01-02 10:00:00", "drivers/f.c"),
        ("a/drivers/f.c Thu Jan  1 10:00:00 2020", "b/drivers/f.c Thu Jan  2 10:00:00 2020", "drivers/f.c"),
        ("a/drivers//f.c", "b/drivers/f.c", "drivers/f.c"),
        ("Makefile", "Makefile", "Makefile"),
        ("a/f.c\r", "b/f.c\r", "f.c"),
        ('"a/f\\303\\266.c"', '"b/f\\303\\266.c"', "fö.c"),
        ('"a/a\\tb\\"c.c"', '"b/a\\tb\\"c.c"', 'a\tb"c.c'),
        ("a/with space.c", "b/with space.c", "with space.c"),
    ],
)
def test_plain_names(old: str, new: str, path: str) -> None:
    found = one(f"--- {old}\n+++ {new}\n{HUNK}")
    assert (found.kind, found.old_path, found.new_path) == ("modify", path, path)


def test_new_and_deleted_plain_files() -> None:
    created = one("--- /dev/null\n+++ b/f.c\n@@ -0,0 +1 @@\n+a\n")
    assert (created.kind, created.old_path, created.new_path) == ("new", None, "f.c")
    deleted = one("--- a/f.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")
    assert (deleted.kind, deleted.old_path, deleted.new_path, deleted.path) == ("delete", "f.c", None, "f.c")


def test_the_epoch_stands_for_a_missing_file() -> None:
    epoch = "1970-01-01 00:00:00.000000000 +0000"
    today = "2020-01-01 00:00:00 +0000"
    assert one(f"--- linux.orig/f.c\t{epoch}\n+++ linux/f.c\t{today}\n@@ -0,0 +1 @@\n+a\n").kind == "new"
    assert one(f"--- a/f.c\t{today}\n+++ b/f.c\t{epoch}\n@@ -1 +0,0 @@\n-a\n").kind == "delete"


def test_git_headers() -> None:
    found = one(
        "diff --git a/f.c b/f.c\nold mode 100644\nnew mode 100755\nindex 1234567..89abcde\n"
        "--- a/f.c\n+++ b/f.c\n" + HUNK
    )
    assert (found.kind, found.old_blob, found.new_blob) == ("modify", "1234567", "89abcde")
    assert (found.old_mode, found.new_mode) == ("100644", "100755")


@pytest.mark.parametrize("kind", ["rename", "copy"])
def test_moved_files(kind: str) -> None:
    head = f"diff --git a/x y.c b/z.c\nsimilarity index 90%\n{kind} from x y.c\n{kind} to z.c\n"
    assert (one(head).kind, one(head).old_path, one(head).new_path) == (kind, "x y.c", "z.c")
    changed = one(head + "index 1234567..89abcde 100644\n--- a/x y.c\n+++ b/z.c\n" + HUNK)
    assert (changed.kind, changed.old_path, changed.new_path, len(changed.hunks)) == (kind, "x y.c", "z.c", 1)


def test_empty_new_file_and_mode_change() -> None:
    assert one("diff --git a/f b/f\nnew file mode 100644\nindex 0000000..e69de29\n").kind == "new"
    found = one("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n")
    assert (found.kind, found.path, found.hunks) == ("mode", "f", ())


def test_symlinks_keep_their_mode() -> None:
    head = "diff --git a/l b/l\nnew file mode 120000\nindex 0000000..1234567\n"
    found = one(head + "--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../x\n")
    assert found.new_mode == "120000"


@pytest.mark.parametrize(
    "payload",
    [
        "Binary files a/f.bin and b/f.bin differ\n",
        "GIT binary patch\nliteral 3\nKcmZQ%\n\nliteral 0\nHcmV?d00001\n\n",
    ],
)
def test_binary_files_are_named(payload: str) -> None:
    other = "diff --git a/g.c b/g.c\n--- a/g.c\n+++ b/g.c\n" + HUNK
    found = patch("diff --git a/f.bin b/f.bin\nindex 1234567..89abcde 100644\n" + payload + other)
    assert [(d.path, d.binary) for d in found.files] == [("f.bin", True), ("g.c", False)]


def test_names_that_are_no_utf8_become_visible() -> None:
    found = one("--- a/f\udcff.c\n+++ b/f\udcff.c\n" + HUNK)
    assert found.path == "f\\xff.c"


def test_lines_are_lines_of_the_source() -> None:
    found = one("--- a/f.c\n+++ b/f.c\n" + HUNK)
    assert (found.mail_line, found.hunks[0].mail_line) == (7, 9)


def test_a_diff_quoted_in_the_message_is_not_the_patch() -> None:
    quoted = "This was\n\ndiff --git a/q.c b/q.c\n--- a/q.c\n+++ b/q.c\n" + HUNK + "\nbefore.\n---\n"
    assert [d.path for d in patch("--- a/f.c\n+++ b/f.c\n" + HUNK, quoted).files] == ["f.c"]


def test_a_diff_between_two_separators_is_a_note() -> None:
    notes = "Text.\n---\nv2: against v1\n\n--- a/q.c\n+++ b/q.c\n" + HUNK + "\n---\n"
    found = patch("--- a/f.c\n+++ b/f.c\n" + HUNK, notes)
    assert [d.path for d in found.files] == ["f.c"]
    assert [(p.severity, p.line, p.message[:20]) for p in found.problems] == [("note", 8, "q.c: diff before the")]


def test_hunks_and_names_quoted_in_the_message_are_no_damage() -> None:
    quoted = "See\n\n@@ -1,2 +1,2 @@\n\nand\n\n--- a/f.c\n+++ b/f.c\n\nText.\n---\n"
    found = patch("--- a/f.c\n+++ b/f.c\n" + HUNK, quoted)
    assert (len(found.files), found.problems) == (1, ())


def test_a_removed_double_dash_is_no_separator() -> None:
    found = patch("--- a/f.lua\n+++ b/f.lua\n@@ -1,2 +1,1 @@\n---\n a\n--- a/g.c\n+++ b/g.c\n" + HUNK)
    assert [d.path for d in found.files] == ["f.lua", "g.c"]
    assert found.files[0].hunks[0].lines[0] == ("-", b"--")


def test_one_path_twice_in_two_mails_stays_two_patches() -> None:
    head = "From 0123 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] %d\n\n---\n"
    mail = head + "--- a/f.c\n+++ b/f.c\n" + HUNK
    (series,) = assemble(read_mail(((mail % 1) + "\n" + (mail % 2)).encode(), "x.mbox"))
    assert [(p.n, p.subject, len(p.files)) for p in series.patches] == [(1, "1", 1), (2, "2", 1)]
