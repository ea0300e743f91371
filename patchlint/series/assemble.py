"""Messages to series."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from patchlint.model import Message, Patch, Problem, Series
from patchlint.series.choose import lineages, rank
from patchlint.series.cover import announced, base_commit, prerequisites
from patchlint.series.patch import Read, credits, read_patch, with_credits
from patchlint.series.reroll import fill_holes
from patchlint.series.threads import Key, components, container, key, parent

MAX_TOTAL = 2000
"""Highest believable number of patches; a counter beyond it is not asked for hole by hole."""


def assemble(messages: Sequence[Message]) -> tuple[Series, ...]:
    """All series in the messages, every version of each, a lineage's newest version last.

    Replies are no patches, but the trailers they give are added to the patch they
    answer.  What is missing, doubled or doubtful stands in ``problems`` (SER001, SER004).
    """
    reads = [read_patch(m) for m in messages]
    thanks = _credits(reads)
    reads = [replace(r, patch=with_credits(r.patch, thanks.get(r.patch.message_id, ()))) for r in reads]
    # A lone answer with a patch in it is reviewed when it is all there is.
    posted = [r for r in reads if _is_posted(r)] or [r for r in reads if r.patch.files]
    place = {id(r): i for i, r in enumerate(posted)}
    groups = sorted((*_counted(posted), *_uncounted(posted)), key=lambda group: min(place[id(r)] for r in group))
    return tuple(_by_lineage([_to_series(group) for group in groups]))


def _is_posted(read: Read) -> bool:
    """A cover, a patch, or a numbered mail that should have been one; no reply, no talk."""
    if read.reply:
        return False
    if read.patch.files:
        return True
    if any(word.upper() == "PULL" for word in read.subject.prefix):
        return False
    unreadable = read.subject.marked and any(p.rule == "SER004" for p in read.patch.problems)
    return read.subject.n is not None or unreadable


def _credits(reads: Sequence[Read]) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for read in reads:
        if read.reply and (above := parent(read)):
            found.setdefault(above, []).extend(credits(read))
    return found


def _to_series(group: list[Read]) -> Series:
    if group[0].subject.n is None:
        return _series(group, [replace(r.patch, n=i) for i, r in enumerate(group, 1)], len(group), ())
    return _numbered_series(group)


def _counted(posted: Sequence[Read]) -> Iterator[list[Read]]:
    buckets: dict[Key, list[Read]] = {}
    for read in posted:
        if read.subject.n is not None:
            buckets.setdefault(key(read), []).append(read)
    for bucket in buckets.values():
        yield from components(bucket)


def _uncounted(posted: Sequence[Read]) -> Iterator[list[Read]]:
    """Mails without counters: one series in file order where they were never sent, else one each."""
    runs: dict[str, list[Read]] = {}
    for read in posted:
        if read.subject.n is None:
            name = read.patch.message_id or container(read)
            runs.setdefault(name, []).append(read)
    for run in runs.values():
        # One mail received twice (same message id) is one patch.
        yield run[:1] if run[0].patch.message_id else run


def _numbered_series(component: list[Read]) -> Series:
    numbered = sorted((r for r in component if not r.cover), key=lambda r: r.patch.n)
    if not numbered and component[0].patch.files:
        return _cover_alone(component[0])
    total = component[0].subject.total or 0
    patches: list[Patch] = []
    problems: list[Problem] = []
    for _, copies in groupby((r.patch for r in numbered), key=lambda patch: patch.n):
        kept, doubts = _distinct(tuple(copies), total)
        patches.extend(kept)
        problems.extend(doubts)
    return _series(component, patches, total, problems)


def _distinct(copies: Sequence[Patch], total: int) -> tuple[list[Patch], list[Problem]]:
    """Of patches with one number those that differ, and what is doubtful about them."""
    if len(copies) == 1:
        return list(copies), list(_without_diff(copies[0], total))
    kept: dict[str, Patch] = {}
    problems: list[Problem] = []
    for patch in copies:
        digest = patch_id(patch)
        twin = kept.setdefault(digest, patch)
        # One mail that came over two lists is no doubt; the same patch in two mails is.
        once_more = twin is not patch and not (patch.message_id and patch.message_id == twin.message_id)
        if once_more or (twin is patch and len(kept) > 1):
            problems.append(_duplicate(patch, total, once_more))
    return list(kept.values()), problems


def _cover_alone(cover: Read) -> Series:
    """A cover letter that carries the whole change and came without its patches: reviewed as one patch."""
    what = f"cover letter of {cover.subject.total} patches, none present; its own diff is taken as the patch"
    problem = Problem("SER001", what, cover.message.source, cover.message.line)
    return _series([cover], [replace(cover.patch, n=1)], 1, [problem])


def _without_diff(patch: Patch, total: int) -> Iterator[Problem]:
    if not patch.files:
        yield Problem("SER004", f"patch {patch.n}/{total} has no diff that can be read", patch.source, patch.line)


def _duplicate(patch: Patch, total: int, same: bool) -> Problem:
    what = f"patch {patch.n}/{total} is here twice"
    if same:
        return Problem("SER001", f"{what}, with the same changes; one is left out", patch.source, patch.line,
                       severity="note")  # fmt: skip
    return Problem("SER001", f"{what}, with different changes", patch.source, patch.line)


def patch_id(patch: Patch) -> str:
    """Digest of what a patch changes, whatever its line numbers and blob ids."""
    digest = hashlib.sha1(usedforsecurity=False)
    for diff in patch.files:
        digest.update(repr((diff.old_path, diff.new_path, diff.kind, diff.new_mode)).encode())
        for hunk in diff.hunks:
            digest.update(b"".join(tag.encode() + text + b"\n" for tag, text in hunk.lines))
    return digest.hexdigest()


def _series(reads: Sequence[Read], patches: list[Patch], total: int, problems: Sequence[Problem]) -> Series:
    cover = next((r for r in reads if r.cover), None)
    head = cover or min(reads, key=lambda r: r.patch.n)
    text = "\n".join(r.text for r in ([cover] if cover else []) + [r for r in reads if not r.cover])
    titles = announced(cover.text) if cover else ()
    here = {p.n for p in patches}
    missing = tuple(n for n in range(1, min(total, MAX_TOTAL) + 1) if n not in here)
    if missing:
        problems = [*problems, missing_problem(missing, total, _absent(titles, patches), head.patch)]
    return Series(
        source=head.message.source,
        subject=head.patch.subject,
        author=head.patch.author,
        version=head.subject.version_text,
        total=total,
        patches=tuple(patches),
        missing=missing,
        cover=cover is not None,
        cover_message=cover.patch.message if cover else "",
        cover_message_id=cover.patch.message_id if cover else "",
        announced=titles,
        base_commit=base_commit(text),
        prerequisites=prerequisites(text),
        problems=tuple(problems),
        prefix=" ".join((*head.subject.prefix, *(("RESEND",) if head.subject.resend else ()))),
    )


def _absent(titles: Sequence[str], patches: Sequence[Patch]) -> list[str]:
    """Announced titles that no patch has."""
    have = {" ".join(p.subject.split()).lower() for p in patches}
    return [t for t in titles if " ".join(t.split()).lower() not in have]


def missing_problem(missing: Sequence[int], total: int, titles: Sequence[str], head: Patch) -> Problem:
    """SER001 for numbers that are not there, with their announced titles where they are known."""
    names = f": {'; '.join(titles)}" if len(titles) == len(missing) else ""
    if len(missing) == total:
        what = f"{total} patches announced, none present"
    elif len(missing) == 1:
        what = f"patch {missing[0]} of {total} is missing"
    else:
        what = f"patches {_ranges(missing)} of {total} are missing"
    return Problem("SER001", what + names, head.source, head.line)


def _ranges(numbers: Sequence[int]) -> str:
    """``1-3, 5`` for (1, 2, 3, 5)."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and runs[-1][-1] == n - 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)


def _by_lineage(series: list[Series]) -> Iterator[Series]:
    for versions in lineages(series):
        older: list[Series] = []
        for one in sorted(versions, key=rank):
            older.append(fill_holes(one, older))
        yield from older
