"""Whether a function's words alone show that no checker of single functions can find anything in it.

Most functions of a tree take nothing, end nothing and follow no pointer that could be dead: reading their bodies and
walking their paths would only cost time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from functools import lru_cache
from typing import Final

from patchlint.cfg import Cfg, Cleanup, EnterGuard
from patchlint.checkers.evaluated import called_in
from patchlint.checkers.file_facts import FileFacts
from patchlint.dataflow import Callees
from patchlint.effects import Summary
from patchlint.ir import Function
from patchlint.ruleset import Models

_SCOPED: Final = ("guard", "scoped_guard", "scoped_cond_guard", "CLASS", "__free", "__cleanup")
_PUBLISHING: Final = ("rcu_assign_pointer", "RCU_INIT_POINTER", "rcu_replace_pointer", "rcu_swap_protected")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")


class Relevance:
    """What the models say about words, remembered."""

    def __init__(self, models: Models) -> None:
        self._models = models
        queues = models.table("handed").get("queues", ())
        self._named = frozenset((*_SCOPED, *_PUBLISHING, *queues)).union(*models.table("rcu").values())
        self._speaks: dict[str, bool] = {}

    def speaks_of(self, words: Set[str], callees: Callees, halves: Set[str] = frozenset()) -> bool:
        """Whether a call of one of ``words`` takes, ends or marks something, or is half of a pair.

        The other half may be among the words, or in ``halves``, which other functions of the file call.
        """
        if any(map(self._modelled, words)):
            return True
        halves = halves | words
        if any(not halves.isdisjoint(self._models.counterpart(word)) for word in words):
            return True
        return any(_acts(callees.summary(word)) for word in words if self._models.macro(word) is None)

    def _modelled(self, word: str) -> bool:
        known = self._speaks.get(word)
        if known is None:
            macro, loop = self._models.macro(word), self._models.loop(word)
            marks = (macro is not None and macro.tag) or (loop is not None and (loop.family or loop.tag))
            known = bool(marks) or word in self._named or _acts(self._models.summary(word))
            self._speaks[word] = known
        return known


def expanded(words: Set[str], bodies: Mapping[str, str]) -> Set[str]:
    """``words`` with those in the ``bodies`` of macros among them, and of macros in these."""
    pending = [word for word in words if word in bodies]
    found = set(words)
    while pending:
        fresh = set(_WORD.findall(bodies[pending.pop()])) - found
        found |= fresh
        pending += (word for word in fresh if word in bodies)
    return found


def acts(function: Function, cfg: Cfg, callees: Callees) -> bool:
    """Whether something in the body takes, ends, marks or asserts: where nothing does, its paths show nothing."""
    if any(isinstance(op, EnterGuard | Cleanup) for block in cfg.blocks for op in block.ops):
        return True
    return any(_word_acts(name, callees) for name in called_in(function))


def _word_acts(name: str, callees: Callees) -> bool:
    macro, loop = callees.macro(name), callees.loop(name)
    if macro is not None and (macro.tag or macro.acts == "assert_held"):
        return True
    return (loop is not None and bool(loop.family or loop.tag)) or _acts(callees.summary(name))


def mentioned(facts: FileFacts, text: bytes) -> bool:
    """Whether ``text`` speaks of a place that the file's other functions show to be RCU's."""
    names = _names_of(facts)
    return names is not None and names.search(text) is not None


@lru_cache(maxsize=16)
def _names_of(facts: FileFacts) -> re.Pattern[bytes] | None:
    """The last words of all paths in the facts, and whole names; None where there are no facts."""
    last = {words[-1] for name in _strings(facts) if (words := _WORD.findall(name))}
    return re.compile(rb"\b(?:" + "|".join(sorted(last)).encode() + rb")\b") if last else None


def _strings(facts: object) -> Iterator[str]:
    if isinstance(facts, str):
        yield facts
    elif isinstance(facts, tuple) and len(facts) == 2 and all(isinstance(part, str) for part in facts):
        yield facts[1]  # of a place the member: its owner goes by many names
    elif isinstance(facts, tuple | frozenset):
        for part in facts:
            yield from _strings(part)


def _acts(summary: Summary | None) -> bool:
    return summary is not None and any(
        effect.action in ("acquire", "release", "tag") or effect.frees for effect in summary.effects
    )
