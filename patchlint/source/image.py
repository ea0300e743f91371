"""Images of one file before and after one patch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from patchlint.model import Applied, FileDiff, FileImage, Hunk, Problem
from patchlint.source.blob import matches
from patchlint.source.hunks import Placed, Text, sides, text_of

Range = tuple[int, int]
Fragment = tuple[int, int, str]


class Content(NamedTuple):
    """A file before a patch: its bytes (None where it is not there) and the origin of each line."""

    data: bytes | None
    origin: tuple[int, ...] = ()


def whole_image(
    diff: FileDiff, pre: Content, text: Text, patch: int, placed: Sequence[Placed], problems: Sequence[Problem]
) -> FileImage:
    """The image of a file that is known whole, from the ``text`` that the hunks left of it."""
    post = None if diff.new_path is None else b"".join(text.lines)
    before = 0 if pre.data is None else len(text_of(pre.data).lines)
    touched, pre_touched = compare(text.was, before)
    return FileImage(
        path=diff.path,
        pre_path=diff.old_path or diff.path,
        pre=pre.data,
        post=post,
        applied="offset" if any(p.offset for p in placed) else "exact",
        origin=tuple(_origins(text.was, pre.origin, patch)),
        touched=touched,
        pre_touched=pre_touched,
        blob_matches=None if post is None else matches(post, diff.new_blob),
        problems=tuple(problems),
    )


def _origins(was: Sequence[int], known: Sequence[int], patch: int) -> Iterator[int]:
    """Origin of each line: this patch for added lines, else what was known of the line that it was."""
    for number in was:
        if not number:
            yield patch
        else:
            yield known[number - 1] if number <= len(known) else 0


def compare(was: Sequence[int], before: int) -> tuple[tuple[Range, ...], tuple[Range, ...]]:
    """Line ranges that changed in the post- and in the pre-image.

    ``was`` gives each post line's number in the pre-image (0: added), ``before`` the number
    of lines of that.  Where a change only removes (or only adds), the lines around it stand
    for the side that has no line of its own.
    """
    touched: list[Range] = []
    pre_touched: list[Range] = []
    line = old = 1
    for at, number in chain(_kept(was), [(len(was) + 1, before + 1)]):
        plus, minus = at - line, number - old
        if plus or minus:
            touched.append((line, at - 1) if plus else (line - 1, line))
            pre_touched.append((old, number - 1) if minus else (old - 1, old))
        line, old = at + 1, number + 1
    return _clamped(touched, len(was)), _clamped(pre_touched, before)


def _kept(was: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(post line, pre line) of every line that stayed."""
    return ((at, number) for at, number in enumerate(was, 1) if number)


def _clamped(ranges: Sequence[Range], length: int) -> tuple[Range, ...]:
    """Keep ranges within the file, sorted; none are left of an empty one."""
    kept = ((max(1, a), min(b, length)) for a, b in ranges)
    return tuple(sorted((a, b) for a, b in kept if a <= b))


def fragment_image(diff: FileDiff, patch: int, problems: Sequence[Problem] = ()) -> FileImage:
    """The image that the hunks alone give: their texts joined."""
    pre: list[bytes] = []
    post: list[bytes] = []
    fragments: tuple[list[Fragment], list[Fragment]] = ([], [])
    touched: list[Range] = []
    pre_touched: list[Range] = []
    origin: list[int] = []
    for hunk in diff.hunks:
        old, new = sides(hunk)
        fragments[0].append((len(pre) + 1, max(1, hunk.old_start), hunk.section))
        fragments[1].append((len(post) + 1, max(1, hunk.new_start), hunk.section))
        added, removed = compare(_numbered(hunk), len(old))
        touched.extend((a + len(post), b + len(post)) for a, b in added)
        pre_touched.extend((a + len(pre), b + len(pre)) for a, b in removed)
        origin.extend(patch if tag == "+" else 0 for tag, _ in hunk.lines if tag != "-")
        pre.extend(_ended(old))
        post.extend(_ended(new))
    return FileImage(
        path=diff.path,
        pre_path=diff.old_path or diff.path,
        pre=None if diff.old_path is None else b"".join(pre),
        post=None if diff.new_path is None else b"".join(post),
        applied="fragment",
        origin=tuple(origin),
        touched=tuple(touched),
        pre_touched=tuple(pre_touched),
        pre_fragments=tuple(fragments[0]),
        post_fragments=tuple(fragments[1]),
        problems=tuple(problems),
    )


def _numbered(hunk: Hunk) -> list[int]:
    """For each line that the hunk leaves, its place among the lines that it finds; 0 for an added one."""
    numbers: list[int] = []
    at = 0
    for tag, _ in hunk.lines:
        at += tag != "+"
        if tag != "-":
            numbers.append(at if tag == " " else 0)
    return numbers


def _ended(lines: list[bytes]) -> list[bytes]:
    """Lines that all end, so that the next hunk starts on a line of its own."""
    if lines and not lines[-1].endswith(b"\n"):
        return [*lines[:-1], lines[-1] + b"\n"]
    return lines


def worst(kinds: Sequence[Applied]) -> Applied:
    """How a patch fared, given how its files did."""
    order: tuple[Applied, ...] = ("exact", "offset", "fragment", "failed")
    return max(kinds, key=order.index, default="exact")
