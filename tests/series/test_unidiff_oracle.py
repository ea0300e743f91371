"""Our hunk reader against unidiff, on diffs that both can read."""

from __future__ import annotations

import difflib
import io

import unidiff
from hypothesis import given, settings
from hypothesis import strategies as st

from patchlint.series.diff import scan

# Without a final newline, form feeds and lone carriage returns: there unidiff raises or differs (MAIL pitfalls).
LINES = st.lists(st.sampled_from(["", "a", "\tb;", "}", "--", "++ c", "-", "@@ d", "\u00e4"]), max_size=12)
FILES = st.lists(st.tuples(LINES, LINES), min_size=1, max_size=3)

Row = tuple[int, int, int, int, str, list[tuple[str, str]]]


def unified(files: list[tuple[list[str], list[str]]]) -> str:
    out: list[str] = []
    for i, (old, new) in enumerate(files):
        pair = ([line + "\n" for line in side] for side in (old, new))
        out.extend(difflib.unified_diff(*pair, f"a/f{i}.c", f"b/f{i}.c"))
    return "".join(out)


def theirs(text: str) -> list[tuple[str, list[Row]]]:
    found = []
    for file in unidiff.PatchSet(io.StringIO(text, newline="\n")):
        rows: list[Row] = [
            (
                hunk.source_start, hunk.source_length, hunk.target_start, hunk.target_length, hunk.section_header,
                [(line.line_type, line.value.rstrip("\n")) for line in hunk],
            )
            for hunk in file
        ]  # fmt: skip
        found.append((file.path, rows))
    return found


def ours(text: str) -> list[tuple[str, list[Row]]]:
    found = scan(text.encode().split(b"\n")[:-1], lambda index: index + 1)
    assert not found.damage
    assert not any(f.damage for f in found.files)
    return [
        (
            f.diff.path,
            [
                (h.old_start, h.old_count, h.new_start, h.new_count, h.section, [(t, x.decode()) for t, x in h.lines])
                for h in f.diff.hunks
            ],
        )
        for f in found.files
    ]


@settings(deadline=None)
@given(FILES)
def test_both_read_the_same(files: list[tuple[list[str], list[str]]]) -> None:
    text = unified(files)
    assert ours(text) == theirs(text)


def test_left_over_lines_that_unidiff_drops_in_silence_are_damage() -> None:
    text = "--- a/f.c\n+++ b/f.c\n@@ -1,1 +1,1 @@\n-a\n+b\n c\n"
    assert theirs(text) == ours_without_check(text)
    (found,) = scan(text.encode().split(b"\n")[:-1], lambda index: index + 1).files
    assert found.damage[0].line == 5


def ours_without_check(text: str) -> list[tuple[str, list[Row]]]:
    head, _, _ = text.partition(" c\n")
    return ours(head)
