"""Where a line stands: in the mail's hunks, and in the tree once the whole series is applied."""

from __future__ import annotations

from dataclasses import dataclass

from patchlint.model import FileDiff, Hunk, Patch, Review


@dataclass(frozen=True, slots=True)
class HunkPlace:
    """Where a line stands in the mail: the patch, the file's diff, the hunk, the index into the hunk's lines."""

    patch: Patch
    diff: FileDiff
    hunk: Hunk
    index: int


def patch_of(review: Review, n: int | None) -> Patch | None:
    """The patch with counter ``n``, or None."""
    if review.series is None or n is None:
        return None
    return next((patch for patch in review.series.patches if patch.n == n), None)


def find_in_patch(review: Review, n: int | None, file: str, line: int) -> HunkPlace | None:
    """Where line ``line`` of the post-image of ``file`` is shown by patch ``n``; None outside its hunks."""
    patch = patch_of(review, n)
    if patch is None:
        return None
    for diff in patch.files:
        if diff.path == file:
            for hunk in diff.hunks:
                index = index_in_hunk(hunk, line)
                if index is not None:
                    return HunkPlace(patch, diff, hunk, index)
    return None


def index_in_hunk(hunk: Hunk, line: int) -> int | None:
    """Index into ``hunk.lines`` of post-image line ``line``; None when the hunk does not show it."""
    at = hunk.new_start
    for index, (tag, _text) in enumerate(hunk.lines):
        if tag == "-":
            continue
        if at == line:
            return index
        at += 1
    return None


def hunk_line(review: Review, patch: int | None, file: str, line: int) -> str | None:
    """A line of the file after the patch, when the patch itself shows it."""
    place = find_in_patch(review, patch, file, line)
    if place is None:
        return None
    return place.hunk.lines[place.index][1].decode("utf-8", "replace")


def at_end(review: Review, n: int | None, file: str, line: int) -> tuple[str, int]:
    """Path and line, once the whole series is applied, of what stands at ``file:line`` after patch ``n``.

    A line that a later patch removes is answered with the line that took its place.
    """
    if review.series is None or n is None:
        return file, line
    for patch in review.series.patches:
        if patch.n <= n:
            continue
        for diff in patch.files:
            if diff.old_path == file:
                line = _after(diff, line)
                file = diff.new_path or file
                break
    return file, line


def _after(diff: FileDiff, line: int) -> int:
    """The post-image line of pre-image line ``line``."""
    shift = 0
    for hunk in diff.hunks:
        # A hunk without old lines names the line before it.
        first = hunk.old_start if hunk.old_count else hunk.old_start + 1
        if line < first:
            break
        if line < first + hunk.old_count:
            return _inside(hunk, line)
        shift += hunk.new_count - hunk.old_count
    return max(1, line + shift)


def _inside(hunk: Hunk, line: int) -> int:
    old, new = hunk.old_start, hunk.new_start
    for tag, _text in hunk.lines:
        if old == line and tag != "+":
            break
        old += tag != "+"
        new += tag != "-"
    return max(1, new)
