"""Findings of one function that a patch words anew: the same fault under another name of a variable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Final

from patchlint.model import Finding
from patchlint.review.verdicts import FindingKey

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|(?:->|\.)?[A-Za-z_]\w*|\d\w*|\S')
"""A member's name is a token with its dot or arrow: a variable of that name is another word."""
_WORD: Final = re.compile(r"(?<![.>\w])[A-Za-z_]\w*")
_CALL: Final = 4
"""Which part of a leak's key names the call: after rule, subject, fault and family, before how the path goes."""
_MOST_TOKENS: Final = 6000
_ANY: Final = "\0"


def renamed_words(before: bytes, after: bytes) -> dict[str, str]:
    """Words that an edit replaced by another one wherever they stood: old and new names, by where both stand.

    Only words that are gone altogether, and for each one that was not there: a swap of two variables is no renaming.
    """
    old, new = (_TOKEN.findall(text.decode(errors="replace")) for text in (before, after))
    gone, come = _words(old) - set(new), _words(new) - set(old)
    if not gone or not come or len(old) + len(new) > _MOST_TOKENS:
        return {}
    blurred = ([_ANY if token in gone else token for token in old], [_ANY if token in come else token for token in new])
    found: dict[str, set[str]] = {}
    for start, other, size in SequenceMatcher(None, *blurred, autojunk=False).get_matching_blocks():
        for at in range(size):
            if old[start + at] in gone:
                found.setdefault(old[start + at], set()).add(new[other + at])
    return {word: names.pop() for word, names in found.items() if len(names) == 1}


def _words(tokens: list[str]) -> set[str]:
    return {token for token in tokens if _WORD.fullmatch(token)}


def paired(before: Mapping[FindingKey, Finding], after: Mapping[FindingKey, Finding]) -> dict[FindingKey, Finding]:
    """``before`` with the keys of ``after`` where a fault goes and one comes that differs in the call only.

    What the call did a helper does now.
    """
    come: dict[tuple[str, ...], list[FindingKey]] = {}
    for key in after:
        if key not in before:
            come.setdefault(_thing(key), []).append(key)
    found: dict[FindingKey, Finding] = {}
    for key, finding in before.items():
        same = come.get(_thing(key), []) if key not in after else []
        found[same.pop(0) if same else key] = finding
    return found


def _thing(key: FindingKey) -> tuple[str, ...]:
    parts = key[1].split("|")
    return key[0], *parts[:_CALL], *parts[_CALL + 1 :]


def reworded(found: Mapping[FindingKey, Finding], words: Mapping[str, str]) -> dict[FindingKey, Finding]:
    """The findings under the keys that they have with the new names."""
    return {
        (rule, _WORD.sub(lambda match: words.get(match[0], match[0]), key)): finding
        for (rule, key), finding in found.items()
    }
