"""What mailers do to hunks: named with the line, and read on where that can be done."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from patchlint.mail import read_mail
from patchlint.model import FileDiff, Patch
from patchlint.series import assemble

HEAD = "From: Ann <ann@example.org>\nSubject: [PATCH] x\n\nText.\n---\n\n"
NAMES = "--- a/f.c\n+++ b/f.c\n"
GOOD = [
    "@@ -10,5 +10,5 @@ static int f(void)",
    " \tint a;",
    " ",
    "-\treturn a;",
    "+\treturn g(a, b);",
    " }",
    " ",
]
SIGNATURE = ["-- ", "2.39.5", ""]


@dataclass(frozen=True)
class Seen:
    patch: Patch
    text: list[str]

    @property
    def diff(self) -> FileDiff:
        return self.patch.files[0]

    def named(self) -> list[tuple[str, str]]:
        """(what is wrong, the line that is named)."""
        return [(p.message, self.text[p.line - 1]) for p in self.patch.problems if p.rule == "SER004"]

    def hunk(self, number: int = 0) -> list[str]:
        return [tag + text.decode() for tag, text in self.diff.hunks[number].lines]


def read(lines: list[str], head: str = HEAD) -> Seen:
    text = head + NAMES + "\n".join(lines)
    (series,) = assemble(read_mail(text.encode(), "x.eml"))
    return Seen(series.patches[0], text.split("\n"))


def test_a_sound_hunk_has_no_damage() -> None:
    seen = read([*GOOD, *SIGNATURE])
    assert seen.named() == []
    assert seen.hunk() == GOOD[1:]


def test_the_signature_is_no_removed_line() -> None:
    assert read([*GOOD, *SIGNATURE]).diff.hunks[0].old_count == 5


def test_empty_lines_are_empty_context() -> None:
    lines = [line if line != " " else "" for line in GOOD]
    assert read([*lines, *SIGNATURE]).named() == []


def test_a_wrapped_line_is_joined_and_named() -> None:
    lines = [*GOOD[:4], "+\treturn g(a,", "b);", *GOOD[5:], *SIGNATURE]
    seen = read(lines)
    assert seen.named() == [("f.c: line was wrapped by a mailer", "b);")]
    assert seen.hunk()[3] == "+\treturn g(a, b);"


def test_a_wrapped_hunk_header_is_named() -> None:
    seen = read([GOOD[0] + " frob_f(void,", "int b)", *GOOD[1:]])
    assert seen.named() == [("f.c: line was wrapped by a mailer", "int b)")]
    assert seen.hunk() == GOOD[1:]


def test_a_context_line_without_its_space_is_named_and_restored() -> None:
    seen = read([GOOD[0], "\tint a;", *GOOD[2:]])
    assert seen.named() == [("f.c: context line lost its leading space", "\tint a;")]
    assert seen.hunk() == GOOD[1:]


def test_several_such_lines_are_one_problem() -> None:
    seen = read([GOOD[0], "\tint a;", *GOOD[2:5], "}", *GOOD[6:]])
    assert [what for what, _ in seen.named()] == ["f.c: context line lost its leading space (and 1 more in this hunk)"]


def test_lines_left_over_after_too_small_counts_are_named() -> None:
    lines = [GOOD[0].replace("10,5 +10,5", "10,3 +10,3"), *GOOD[1:5], " }", "+more", *SIGNATURE]
    seen = read(lines)
    assert seen.named() == [("f.c: line left over after a hunk whose counts say that it has ended", " }")]
    # git drops them as well, so the hunk is what its counts say.
    assert seen.hunk() == GOOD[1:5]


def test_the_hunk_after_left_over_lines_is_still_read() -> None:
    second = GOOD[0].replace("10,5 +10,5", "50,5 +50,5")
    seen = read([GOOD[0].replace("10,5 +10,5", "10,4 +10,4"), *GOOD[1:6], " x", second, *GOOD[1:]])
    assert len(seen.named()) == 1
    assert [h.old_start for h in seen.diff.hunks] == [10, 50]


@pytest.mark.parametrize("tail", [[], SIGNATURE, ["diff --git a/g.c b/g.c", "--- a/g.c", "+++ b/g.c", *GOOD]])
def test_a_truncated_hunk_is_named_and_what_is_there_is_kept(tail: list[str]) -> None:
    seen = read([*GOOD[:5], *tail])
    assert [what for what, _ in seen.named()] == ["f.c: hunk ends before its counts are used up"]
    assert seen.hunk() == GOOD[1:5]
    assert len(seen.patch.files) == (2 if len(tail) > 4 else 1)


def test_a_line_that_cannot_be_explained_is_named() -> None:
    seen = read([*GOOD[:4], "what", "is", "this", *GOOD[4:], " x"])
    assert seen.named()[0] == ("f.c: line does not belong to the hunk as its counts say", "what")


def test_a_hunk_without_a_file_is_named() -> None:
    seen = read([*GOOD, "", "prose", "", "@@ -1,2 +1,2 @@", " a"])
    assert seen.named() == [("hunk without a file header", "@@ -1,2 +1,2 @@")]


@pytest.mark.parametrize(
    ("stray", "what"),
    [
        (["@@ -20,2 +20"], "hunk header that cannot be read"),
        (["", "+\tint c;"], "line outside of any hunk"),
        (["--- a/g.c", "+++ b/g.c", "@ -1 +1 @@", "-a", "+b"], "file names without a hunk"),
    ],
)
def test_pieces_of_a_diff_that_belong_to_no_hunk_are_named(stray: list[str], what: str) -> None:
    seen = read([*GOOD, *stray, *SIGNATURE])
    assert seen.named() == [(what, next(line for line in stray if line))]
    assert seen.hunk() == GOOD[1:]


def test_a_patch_without_one_readable_hunk_is_a_result() -> None:
    (series,) = assemble(read_mail((HEAD + NAMES + "@ -1 +1 @@\n-a\n+b\n").encode(), "x"))
    assert [p.message for p in series.patches[0].problems] == ["file names without a hunk"]


def test_a_header_without_hunks_is_named() -> None:
    text = HEAD + "diff --git a/f.c b/f.c\nindex 1234567..89abcde 100644\n--- a/f.c\n+++ b/f.c\n"
    (series,) = assemble(read_mail(text.encode(), "x"))
    assert [p.message for p in series.patches[0].problems] == ["f.c: file header without any change"]


FLOWED = HEAD.replace("\n\n", "\nContent-Type: text/plain; format=flowed\n\n", 1)


def test_space_stuffing_is_undone() -> None:
    stuffed = [" " + line if line.startswith(" ") else line for line in GOOD]
    seen = read(stuffed, FLOWED)
    assert seen.hunk() == GOOD[1:]
    assert [p.severity for p in seen.patch.problems] == ["note"]


def test_flowed_wrapping_is_damage() -> None:
    seen = read([*GOOD[:4], "+\treturn g(a, ", "b);", *GOOD[5:], *SIGNATURE], FLOWED)
    assert seen.named()[0] == ("f.c: line was wrapped by a mailer", "b);")
    assert "format=flowed" in seen.named()[1][0]


def test_form_feeds_and_carriage_returns_are_no_line_ends() -> None:
    lines = [GOOD[0], " \x0c\tint a;", " x\ry", *GOOD[3:]]
    seen = read(lines)
    assert seen.named() == []
    assert seen.hunk()[:2] == [" \x0c\tint a;", " x\ry"]


def test_a_marker_in_the_middle_means_nothing() -> None:
    marker = "\\ No newline at end of file"
    assert read(["@@ -1,2 +1,2 @@", "-a", marker, "-b", "+c", marker, "+"]).diff.hunks[0].no_newline == ""
    assert read(["@@ -1 +1 @@", "-a", "+", marker]).diff.hunks[0].no_newline == ""


def test_missing_newlines_belong_to_their_side() -> None:
    marker = "\\ No newline at end of file"
    seen = read(["@@ -1 +1 @@", "-a", marker, "+a"])
    assert seen.diff.hunks[0].no_newline == "-"
    seen = read(["@@ -1 +1 @@", "-a", "+a", marker])
    assert seen.diff.hunks[0].no_newline == "+"
    seen = read(["@@ -1,2 +1,2 @@", "-a", "+b", " c", marker])
    assert sorted(seen.diff.hunks[0].no_newline) == ["+", "-"]
