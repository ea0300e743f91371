from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from report_samples import HUNK, PATH, REVIEW

from patchlint.model import FileDiff, Hunk, Review
from patchlint.report.places import at_end, find_in_patch, hunk_line, index_in_hunk


def test_a_post_image_line_is_found_in_its_hunk() -> None:
    place = find_in_patch(REVIEW, 1, PATH, 16)
    assert place is not None
    assert place.hunk.lines[place.index] == ("+", b"\t\treturn -EIO;")


def test_removed_lines_are_not_lines_of_the_post_image() -> None:
    shown = [index_in_hunk(HUNK, line) for line in range(HUNK.new_start, HUNK.new_start + HUNK.new_count)]
    assert [HUNK.lines[index][0] for index in shown if index is not None] == [
        tag for tag, _ in HUNK.lines if tag != "-"
    ]


def test_lines_outside_are_unknown() -> None:
    assert hunk_line(REVIEW, 1, PATH, 18) is None
    assert hunk_line(REVIEW, 1, "other.c", 12) is None
    assert hunk_line(REVIEW, None, PATH, 12) is None


def test_later_patches_shift_the_line() -> None:
    assert at_end(REVIEW, 1, PATH, 16) == (PATH, 19)
    assert at_end(REVIEW, 2, PATH, 16) == (PATH, 16)
    assert at_end(REVIEW, None, PATH, 16) == (PATH, 16)


@given(st.lists(st.sampled_from(" -+"), min_size=1, max_size=12), st.integers(1, 30))
def test_shift_agrees_with_applying_the_hunk(tags: list[str], start: int) -> None:
    before = [f"line {n}" for n in range(1, 60)]
    hunk, after = _hunk_over(before, tags, start)
    review = _with_second_patch(FileDiff(PATH, PATH, hunks=(hunk,)))
    for number, text in enumerate(before, start=1):
        if text in after:
            assert after[at_end(review, 1, PATH, number)[1] - 1] == text


def _hunk_over(before: list[str], tags: list[str], start: int) -> tuple[Hunk, list[str]]:
    lines, after, at = [], before[: start - 1], start - 1
    for number, tag in enumerate(tags):
        text = f"new {number}" if tag == "+" else before[at]
        lines.append((tag, text.encode()))
        at += tag != "+"
        if tag != "-":
            after.append(text)
    old = sum(tag != "+" for tag in tags)
    # As git writes it: a side without lines names the line before.
    old_start = start if old else start - 1
    hunk = Hunk(old_start, old, start, sum(tag != "-" for tag in tags), "", tuple(lines))
    return hunk, after + before[at:]


def _with_second_patch(diff: FileDiff) -> Review:
    series = REVIEW.series
    assert series is not None
    return replace(
        REVIEW, series=replace(series, patches=(series.patches[0], replace(series.patches[1], files=(diff,))))
    )
