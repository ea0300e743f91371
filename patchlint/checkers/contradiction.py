"""Paths that ask the same thing twice and get two answers: nothing says that it changed in between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from patchlint.checkers.context import FunctionContext
from patchlint.dataflow import Mark, PathReport

_LONG_NAME: Final = re.compile(r"(?:\w+(?:->|\.))+(\w+)")
_TOLD: Final = 40
"""Characters by which a question is told from others where its text is not found: longer ones are cut short."""
_LONGEST: Final = 400
"""Bytes of a call with its arguments that are looked at."""
_LEAVES: Final = re.compile(
    rb"[\s)]*\)\s*(?:\{(?:\s*(?!(?:if|for|while|do|switch|return|goto)\b)[^{};]*;)*\s*)?(?:return\b[^;]*|goto\s+(\w+)\s*);"
)
"""After a question: whoever gets the one answer leaves."""


def contradicts_itself(ctx: FunctionContext, report: PathReport, path: Sequence[Mark]) -> bool:
    """The path asks the same predicate at two places and gets two answers.

    Of one thing under two names the last is enough (``p->dev`` kept in ``dev``); what macros tell of values is known,
    and what a loop asks is asked because it changes.  So is what is only asked again where the first answer was one:
    ``if (!poll(dev)) return -EIO; ...; if (!poll(dev)) return -EIO;``.
    """
    answers: dict[str, Mark] = {}
    for mark in path:
        if mark.kind != "if" or not mark.text.endswith((")", "...")) or "(" not in mark.text:
            continue
        if ctx.callees.macro(mark.text[: mark.text.index("(")]) is not None:
            continue
        first = answers.setdefault(_question(ctx, mark), mark)
        if first.truth == mark.truth or any(m.pos in turns for turns in report.loops for m in (first, mark)):
            continue
        if not _asked_only_so(ctx, first, mark):
            return True
    return False


def _question(ctx: FunctionContext, mark: Mark) -> str:
    """What is asked, with all its arguments."""
    call = _call(ctx, mark)
    text = re.sub(r"\s+", " ", call.decode("utf-8", "replace")) if call else mark.text[:_TOLD]
    return _LONG_NAME.sub(r"\1", text)


def _call(ctx: FunctionContext, mark: Mark) -> bytes:
    """The call that is asked as the source has it; nothing where it is made by a macro."""
    text = ctx.source[mark.pos : mark.pos + _LONGEST]
    name = mark.text[: mark.text.index("(")].encode()
    depth = 0
    for at in range(len(name), len(text)) if text.startswith(name) else ():
        depth += {40: 1, 41: -1}.get(text[at], 0)
        if depth == 0:
            return text[: at + 1]
    return b""


def _asked_only_so(ctx: FunctionContext, first: Mark, second: Mark) -> bool:
    """Who gets the other answer to ``first`` leaves without passing ``second``."""
    end = first.pos + len(_call(ctx, first))
    leaves = _LEAVES.match(ctx.source, end, ctx.function.end)
    if leaves is None or end == first.pos:
        return False
    if not leaves[1]:
        return True
    label = re.compile(rb"^\s*" + leaves[1] + rb"\s*:", re.M).search(ctx.source, end, ctx.function.end)
    return label is not None and label.start() > second.pos
