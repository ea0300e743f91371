"""Which patch is to blame: findings of one function compared state by state.

A *change* is what one patch does to the findings of one function (or of one key, one cached route): the findings
before and after it, by :attr:`Finding.key`.  Nothing here looks at difference lines or counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from patchlint.model import CONFIDENCES, Finding, Verdict

FindingKey = tuple[str, str]
"""Rule and key of a finding."""


class Change(NamedTuple):
    """Findings of one function before and after one patch (``order`` is the patch's place in the series from 0)."""

    order: int
    patch: int
    before: Mapping[FindingKey, Finding]
    after: Mapping[FindingKey, Finding]
    elsewhere: bool = False
    """The patch left the function's text alone and changed what it relies on."""


def by_key(findings: Iterable[Finding]) -> dict[FindingKey, Finding]:
    """Findings under their keys; of two with the same key the surer one stays."""
    return _surest(((finding.rule, finding.key), finding) for finding in findings)


def by_nameless_key(findings: Iterable[Finding]) -> dict[FindingKey, Finding]:
    """Findings of one function under keys that survive its renaming and its move to another file."""
    return _surest(((finding.rule, _nameless(finding)), finding) for finding in findings)


def _nameless(finding: Finding) -> str:
    return "|".join(part for part in finding.key.split("|") if part not in (finding.function, finding.file))


def _surest(keyed: Iterable[tuple[FindingKey, Finding]]) -> dict[FindingKey, Finding]:
    """One finding for each key: a doubtful place must not hide a sure one; of equals the first stays."""
    found: dict[FindingKey, Finding] = {}
    for key, finding in keyed:
        known = found.setdefault(key, finding)
        if CONFIDENCES.index(finding.confidence) > CONFIDENCES.index(known.confidence):
            found[key] = finding
    return found


def judge(changes: Sequence[Change]) -> list[Finding]:
    """The findings of one function over the whole series, each with verdict, patch and ``fixed_by``.

    ``changes`` are in patch order.  A fault that one patch brings, another repairs and a third brings again is two.
    """
    keys = dict.fromkeys(key for change in changes for key in (*change.before, *change.after))
    return [finding for key in keys for finding in _follow(key, changes)]


def _follow(key: FindingKey, changes: Sequence[Change]) -> Iterable[Finding]:
    """The life of one key: opened by the patch after which it is new, closed by the one after which it is gone.

    What the base has, one patch hides and a later one brings back is as old as the base.
    """
    opened: Finding | None = None
    old = bool(changes) and key in changes[0].before
    for change in changes:
        before, after = change.before.get(key), change.after.get(key)
        if after is not None and before is None and opened is None:
            fresh: Verdict = "exposed" if change.elsewhere else "introduced"
            opened = replace(after, patch=change.patch, verdict="preexisting" if old else fresh)
        elif before is not None and opened is None:
            opened = replace(after or before, patch=change.patch, verdict="preexisting")
        if opened is not None and before is not None and after is None:
            yield _closed(opened, change.patch)
            opened = None
    if opened is not None:
        yield opened


def _closed(finding: Finding, patch: int) -> Finding:
    """A finding that a later patch repairs: the tree is wrong in between, which is worth a note."""
    if finding.verdict == "preexisting":
        return replace(finding, fixed_by=patch)
    return replace(finding, fixed_by=patch, verdict="transient", severity="note")


def fingerprint(finding: Finding) -> str:
    """Names the fault across line shifts and unrelated edits (16 hexadecimal digits)."""
    text = "\0".join((finding.rule, finding.file, finding.function, finding.key))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
