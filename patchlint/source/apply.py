"""Applying a patch in memory: git's results without git, index or work tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from patchlint.model import Applied, FileDiff, FileImage, Hunk, Patch, Problem, Series
from patchlint.source.blob import is_placeholder
from patchlint.source.hunks import Placed, Rejected, Text, doubtful, place, sides, text_of, why_rejected
from patchlint.source.image import Content, fragment_image, whole_image, worst
from patchlint.source.paths import unsafe
from patchlint.source.reader import TreeReader

Files = Mapping[str, bytes | None]
Origins = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class AppliedPatch:
    """What one patch made.

    ``after`` holds only the files that the patch changed (None: it removed them), and
    ``origins`` the origin of their lines: add both to what earlier patches left.
    """

    images: tuple[FileImage, ...]
    after: Files
    applied: Applied
    problems: tuple[Problem, ...] = ()
    origins: Origins = field(default_factory=dict)


class _Refused(Exception):
    """The file's changes do not apply: why, and the mail line of the hunk to blame (0: the file's header)."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(why)
        self.line = line


@dataclass(slots=True)
class _Work:
    """A patch being applied: where files come from, and what it made so far."""

    patch: Patch
    current: Files
    reader: TreeReader | None
    origins: Origins
    leaving: frozenset[str | None]
    """Paths that some diff of the patch takes away: git lets another create them anew, in either order."""
    made: dict[str, bytes] = field(default_factory=dict)
    """What diffs of this patch made, by path."""
    gone: set[str] = field(default_factory=set)
    """Paths that diffs of this patch removed or renamed away, so far."""
    lines: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def result(self) -> dict[str, bytes | None]:
        """All files that changed; git removes first and creates then."""
        return {**dict.fromkeys(self.gone), **self.made}


def apply_series(series: Series, reader: TreeReader | None) -> Iterator[AppliedPatch]:
    """Apply a series patch upon patch."""
    current: dict[str, bytes | None] = {}
    origins: dict[str, tuple[int, ...]] = {}
    for patch in series.patches:
        applied = apply_patch(patch, current, reader, origins=origins)
        current.update(applied.after)
        origins.update(applied.origins)
        yield applied


def apply_patch(
    patch: Patch, current: Files, reader: TreeReader | None, *, origins: Origins | None = None
) -> AppliedPatch:
    """Apply ``patch`` to the files that earlier patches made (``current``) and, for others, to the tree.

    A file whose hunks do not apply is reported (SER002) and shown as fragments, so that
    its content can still be looked at; it does not enter ``after``.
    """
    leaving = frozenset(d.old_path for d in patch.files if d.new_path is None or d.kind == "rename")
    work = _Work(patch, current, reader, origins or {}, leaving)
    images: list[FileImage] = []
    kinds: list[Applied] = []
    problems: list[Problem] = []
    for diff in patch.files:
        image, kind, found = _apply_file(work, diff)
        problems.extend(found)
        kinds.append(kind)
        if image is not None:
            images.append(image)
    return AppliedPatch(tuple(images), work.result(), worst(kinds), tuple(problems), work.lines)


def _apply_file(work: _Work, diff: FileDiff) -> tuple[FileImage | None, Applied, list[Problem]]:
    for path in (diff.old_path, diff.new_path):
        if path is not None and (why := unsafe(path)):
            return None, "failed", [_problem(work, diff, f"{path!r} is not a name to look up: {why}")]
    if diff.binary:
        note = f"{diff.path}: binary, not looked at"
        return None, "exact", [Problem("SER002", note, work.patch.source, diff.mail_line, severity="note")]
    if work.reader is None and not _known(work, diff):
        return _without_tree(work, diff)
    try:
        image = _with_tree(work, diff)
    except _Refused as refusal:
        problem = _problem(work, diff, str(refusal), refusal.line)
        shown = fragment_image(diff, work.patch.n, (problem,)) if diff.hunks else None
        return shown, "failed", [problem]
    return image, image.applied, list(image.problems)


def _problem(work: _Work, diff: FileDiff, what: str, line: int = 0) -> Problem:
    return Problem("SER002", what, work.patch.source, line or diff.mail_line)


def _known(work: _Work, diff: FileDiff) -> bool:
    """The file's content follows from the series itself."""
    return diff.kind == "new" or diff.old_path in work.made or diff.old_path in work.current


def _without_tree(work: _Work, diff: FileDiff) -> tuple[FileImage | None, Applied, list[Problem]]:
    if not diff.hunks:
        return None, "fragment", []
    if diff.kind == "delete" and not any(hunk.cut for hunk in diff.hunks):
        pre = b"".join(line for hunk in diff.hunks for line in sides(hunk)[0])
        work.gone.add(diff.path)
        return whole_image(diff, Content(pre), text_of(b""), work.patch.n, (), ()), "exact", []
    return fragment_image(diff, work.patch.n), "fragment", []


def _with_tree(work: _Work, diff: FileDiff) -> FileImage:
    """Apply to known content. Raises :class:`_Refused`."""
    pre = _before(work, diff)
    text = text_of(pre.data or b"")
    placed: list[Placed] = []
    problems: list[Problem] = []
    for hunk in diff.hunks:
        if hunk.cut:
            raise _Refused(f"{diff.path}: the hunk for line {hunk.old_start} lost lines in the mail", hunk.mail_line)
        try:
            one = place(text, hunk)
        except Rejected:
            raise _Refused(_rejection(diff, hunk, text), hunk.mail_line) from None
        placed.append(one)
        if other := doubtful(one, text.lines):
            what = (
                f"{diff.path}: hunk for line {hunk.old_start} fits several places; applied {one.offset:+d} lines away"
                f" in {other}(), but it names {hunk.section.strip()!r}"
            )
            problems.append(_problem(work, diff, what, hunk.mail_line))
    return _finish(work, diff, pre, text, placed, problems)


def _rejection(diff: FileDiff, hunk: Hunk, text: Text) -> str:
    reason = why_rejected(text, hunk)
    return f"{diff.path}: the hunk for line {hunk.old_start} does not apply" + (f": {reason}" if reason else "")


def _finish(
    work: _Work, diff: FileDiff, pre: Content, text: Text, placed: list[Placed], problems: list[Problem]
) -> FileImage:
    if diff.new_path is None and text.lines:
        raise _Refused(f"{diff.path}: deleted, but the patch leaves lines of it")
    image = whole_image(diff, pre, text, work.patch.n, placed, problems)
    if diff.new_path is None:
        work.gone.add(diff.path)
        return image
    if diff.kind == "rename" and diff.old_path is not None:
        work.gone.add(diff.old_path)
    work.made[diff.new_path] = image.post or b""
    work.lines[diff.new_path] = image.origin
    return image


def _before(work: _Work, diff: FileDiff) -> Content:
    """The file before this diff. Raises :class:`_Refused`."""
    if diff.old_path is None or diff.kind in ("rename", "copy"):
        if diff.path not in work.leaving and _original(work, diff.path) is not None:
            raise _Refused(f"{diff.path}: to be created, but it exists already")
        if diff.old_path is None:
            return Content(None)
    path = diff.old_path
    # git takes the source of a rename or copy as it was before the whole patch.
    if diff.kind not in ("rename", "copy"):
        if path in work.made:
            return Content(work.made[path], work.lines[path])
        if path in work.gone:
            raise _Refused(f"{path}: removed earlier in the same patch")
    if path in work.current:
        pre = Content(work.current[path], work.origins.get(path, ()))
    else:
        pre = Content(_from_tree(work.reader, path, diff))
    # A plain "@@ -0,0" also has an old name: the file may be absent, or there and empty.
    if pre.data is None and diff.kind != "new":
        raise _Refused(f"{path}: not in the tree")
    return pre


def _original(work: _Work, path: str) -> bytes | None:
    """The file as it was before this patch."""
    if path in work.current:
        return work.current[path]
    return work.reader.read(path) if work.reader is not None else None


def _from_tree(reader: TreeReader | None, path: str, diff: FileDiff) -> bytes | None:
    """The exact pre-image by blob id where the reader has it and the hunks fit it, else the file at the base.

    A commit that was named as the base goes before the blob, unless the patch does not apply to it.
    """
    if reader is None:
        return None
    at_base = reader.read(path) if reader.kind == "commit" else None
    if at_base is not None and _all_fit(at_base, diff):
        return at_base
    exact = None if is_placeholder(diff.old_blob) else reader.blob(diff.old_blob)
    if exact is not None and _all_fit(exact, diff):
        return exact
    return at_base if reader.kind == "commit" else reader.read(path)


def _all_fit(data: bytes, diff: FileDiff) -> bool:
    text = text_of(data)
    try:
        for hunk in diff.hunks:
            place(text, hunk)
    except Rejected:
        return False
    return True
