"""Images of one file before and after one patch."""

from __future__ import annotations

from collections.abc import Sequence

from patchlint.model import Applied, FileDiff, FileImage, Hunk, Problem
from patchlint.source.blob import matches
from patchlint.source.hunks import Placed, Text, sides

Range = tuple[int, int]
Fragment = tuple[int, int, str]


def whole_image(
    diff: FileDiff, pre: bytes | None, text: Text | None, placed: Sequence[Placed], problems: Sequence[Problem]
) -> FileImage:
    """The image of a file that is known whole; ``text`` is None where the patch deletes it."""
    post = None if text is None else b"".join(text.lines)
    length = 0 if text is None else len(text.lines)
    pre_length = 0 if pre is None else pre.count(b"\n") + (pre[-1:] not in (b"", b"\n"))
    touched: list[Range] = []
    pre_touched: list[Range] = []
    # Hunks are placed in order, so what later ones add or remove above an earlier one is rare but possible.
    for i, one in enumerate(placed):
        later = sum(p.hunk.new_count - p.hunk.old_count for p in placed[i + 1 :] if p.at < one.at)
        before = sum(p.hunk.new_count - p.hunk.old_count for p in placed[:i] if p.at < one.at)
        added, removed = changed(one.hunk, one.at + 1 + later, one.at + 1 - before)
        touched.extend(added)
        pre_touched.extend(removed)
    return FileImage(
        path=diff.path,
        pre_path=diff.old_path or diff.path,
        pre=pre,
        post=post,
        applied="offset" if any(p.offset for p in placed) else "exact",
        origin=() if text is None else tuple(text.origin),
        touched=_clamped(touched, length),
        pre_touched=_clamped(pre_touched, pre_length),
        blob_matches=None if post is None else matches(post, diff.new_blob),
        problems=tuple(problems),
    )


def changed(hunk: Hunk, new_line: int, old_line: int) -> tuple[list[Range], list[Range]]:
    """Line ranges that a hunk changes in the post- and the pre-image, when it starts at these lines.

    Where it only removes (or only adds), the lines around the place stand for the side
    that has no line of its own.
    """
    added: list[Range] = []
    removed: list[Range] = []
    plus = minus = 0
    for tag, _ in (*hunk.lines, (" ", b"")):
        if tag == "+":
            plus += 1
        elif tag == "-":
            minus += 1
        else:
            if plus or minus:
                added.append((new_line, new_line + plus - 1) if plus else (new_line - 1, new_line))
                removed.append((old_line, old_line + minus - 1) if minus else (old_line - 1, old_line))
            new_line, old_line = new_line + plus + 1, old_line + minus + 1
            plus = minus = 0
    return added, removed


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
        added, removed = changed(hunk, len(post) + 1, len(pre) + 1)
        # "Around" must not reach into the neighbouring hunk.
        touched.extend(_within(added, len(post) + 1, len(post) + len(new)))
        pre_touched.extend(_within(removed, len(pre) + 1, len(pre) + len(old)))
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


def _within(ranges: Sequence[Range], first: int, last: int) -> list[Range]:
    kept = ((max(first, a), min(b, last)) for a, b in ranges)
    return [(a, b) for a, b in kept if a <= b]


def _ended(lines: list[bytes]) -> list[bytes]:
    """Lines that all end, so that the next hunk starts on a line of its own."""
    if lines and not lines[-1].endswith(b"\n"):
        return [*lines[:-1], lines[-1] + b"\n"]
    return lines


def worst(kinds: Sequence[Applied]) -> Applied:
    """How a patch fared, given how its files did."""
    order: tuple[Applied, ...] = ("exact", "offset", "fragment", "failed")
    return max(kinds, key=order.index, default="exact")
