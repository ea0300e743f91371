"""The outline of a file: where its functions and other top-level items begin and end.

It is read from the shadow by counting brackets, not from a syntax tree, so that one misread item
cannot swallow its neighbours.  Conditional directives reset the count: every branch of a group
starts from the state before the group, and what follows goes on from the end of its first branch.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from patchlint.syntax.brackets import ARGS
from patchlint.syntax.conditions import Group, dead
from patchlint.syntax.lexical import BLANK


class Body(NamedTuple):
    """A function definition: start of its first word, its opening bracket, the offset after the closing one."""

    start: int
    open: int
    end: int


class Item(NamedTuple):
    """Any other top-level item, the closing ``;`` or ``}`` included."""

    start: int
    end: int


class Outline(NamedTuple):
    """``text`` is the shadow without the branches that are dead or that split an item."""

    text: bytes
    bodies: tuple[Body, ...]
    items: tuple[Item, ...]
    lost: int = -1
    """Where reading was given up because brackets do not close, -1 for nowhere."""


class _State(NamedTuple):
    depth: int
    start: int
    open: int


MAX_HEAD = 1024
"""Bytes before a bracket that are looked at to tell what it opens."""
MAX_WORK = 8
"""Times the length of a file that may be walked, where brackets do not close, before the rest is given up."""

_TOKEN = re.compile(rb"[{};]")
_SPACE = re.compile(rb"\s*+")
_END_OF_ITEM = re.compile(rb"\n\}")
_HEAD_BEFORE = re.compile(rb"\n[A-Za-z_][\w \t*]*+\([^;{}]*\)\s*\Z")
_CONTROL = re.compile(rb"\s*(?:if|for|while|switch|do|else)\b")
_ASSIGNED = re.compile(rb"=\s*+(?:\([^()]*+\)\s*+)?\Z")
_DESIGNATOR = re.compile(rb"\s*+\.\w")
_ARGS = re.compile(ARGS)
_TAGGED = re.compile(rb"\b(?:struct|union|enum)\b")
_OPEN, _CLOSE, _END = b"{};"


def outline(shadow: bytes, groups: Sequence[Group]) -> Outline:
    """Find the functions and items of a shadow text.  ``groups`` are its conditional groups."""
    live = blank(shadow, (span(group, index) for group in groups for index in dead(group)))
    walk = _Walk(live, groups)
    walk.run()
    text = blank(live, (span(groups[at], index) for at in walk.split for index in _others(groups[at])))
    bodies = tuple(body for body in walk.bodies if text[body.open] == _OPEN and text[body.end - 1] == _CLOSE)
    return Outline(text, bodies, tuple(walk.items), walk.lost)


def blank(text: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """The text with the spans blanked; newlines stay."""
    parts: list[bytes] = []
    at = 0
    for start, end in sorted(spans):
        if end > at:
            start = max(start, at)
            parts += (text[at:start], text[start:end].translate(BLANK))
            at = end
    if not parts:
        return text
    parts.append(text[at:])
    return b"".join(parts)


def span(group: Group, index: int) -> tuple[int, int]:
    """Extent of a branch's text."""
    return group.branches[index].start, group.branches[index].end


def _others(group: Group) -> Iterable[int]:
    """All branches but the first that some configuration takes."""
    gone = dead(group)
    kept = next((index for index in range(len(group.branches)) if index not in gone), -1)
    return (index for index in range(len(group.branches)) if index != kept)


def last_code(text: bytes, at: int) -> int:
    """Offset of the last byte before ``at`` that is no white space, -1 for none."""
    while at > 0:
        start = max(0, at - 256)
        length = len(text[start:at].rstrip())
        if length:
            return start + length - 1
        at = start
    return -1


class _Walk:
    """One pass over the brackets of a text."""

    def __init__(self, text: bytes, groups: Sequence[Group]) -> None:
        self.text = text
        self.groups = groups
        self.marks = sorted(_marks(groups))
        self.bodies: list[Body] = []
        self.items: list[Item] = []
        self.split: list[int] = []
        self.saved: dict[int, list[_State]] = {}
        self.unclean: set[int] = set()
        self.lost = -1
        self.seen = (0, -1)
        self.kinds: dict[int, bool] = {}
        """Whether a bracket opens a function."""

    def run(self) -> None:
        """Walk the whole text; where brackets do not close, begin anew after the next ``}`` in column 1."""
        at, work = 0, MAX_WORK * len(self.text)
        while at >= 0 and work >= 0:
            work -= len(self.text) - at
            at = self._pass(at)
        self.lost = at

    def _pass(self, begin: int) -> int:
        """Walk from a top-level place.  Returns where to begin anew, -1 at the end."""
        text, depth, start, opened = self.text, 0, begin, -1
        mark, next_mark = self._next_mark(bisect_left(self.marks, (begin, 0, 0)) - 1)
        for match in _TOKEN.finditer(text, begin):
            at = match.start()
            while at > next_mark:
                depth, start, opened = self._directive(mark, _State(depth, start, opened))
                mark, next_mark = self._next_mark(mark)
            kind = text[at]
            if kind == _END:
                if not depth:
                    self._item(start, at + 1)
                    start = at + 1
            elif kind == _OPEN:
                if not depth:
                    opened = at
                elif text[at - 1] == 10 and self._is_head(opened, at):
                    return self._resume(start, opened)
                depth += 1
            elif depth > 1:
                depth -= 1
            else:
                if depth and self._opens_function(start, opened):
                    self.bodies.append(Body(_SPACE.match(text, start).end(), opened, at + 1))  # type: ignore[union-attr]
                    start = at + 1
                depth = 0
        if depth and (resumed := self._resume(start, opened)) > 0:
            return resumed
        self._item(start, len(text))
        for rest in range(mark, len(self.marks)):
            self._directive(rest, _State(depth, start, opened))
        return -1

    def _next_mark(self, mark: int) -> tuple[int, int]:
        mark += 1
        return mark, self.marks[mark][0] if mark < len(self.marks) else len(self.text)

    def _item(self, start: int, end: int) -> None:
        start = _SPACE.match(self.text, start).end()  # type: ignore[union-attr]
        if end - start > 1:
            self.items.append(Item(start, end))

    def _is_head(self, opened: int, at: int) -> bool:
        """Whether the bracket in column 1 at ``at`` opens a function although an earlier one is open."""
        before = _HEAD_BEFORE.search(self.text, max(opened, at - 400), at)
        return before is not None and not _CONTROL.match(self.text, before.start())

    def _resume(self, start: int, opened: int) -> int:
        """Close the open item at the next ``}`` in column 1; returns the offset after it, -1 for none."""
        close = _END_OF_ITEM.search(self.text, opened)
        if close is None:
            return -1
        if self._opens_function(start, opened):
            self.bodies.append(Body(_SPACE.match(self.text, start).end(), opened, close.end()))  # type: ignore[union-attr]
        return close.end()

    def _directive(self, mark: int, state: _State) -> _State:
        """Account for a directive; returns the state behind it."""
        at, index, step = self.marks[mark]
        group = self.groups[index]
        saved = self.saved.setdefault(index, [])
        if not saved or step == 0:
            saved[:] = [state]
        if self._in_function(state) and self._in_function(saved[0]):
            clean = True
        else:
            clean = state.depth == saved[0].depth and self._is_boundary(at, state.depth)
        if not clean and index not in self.unclean:
            self.unclean.add(index)
            self.split.append(index)
        if step == 1:
            saved.append(state)
        after = saved[0] if step == 0 or step < len(group.branches) else saved[1]
        return after if after.depth or not clean else after._replace(start=at)

    def _in_function(self, state: _State) -> bool:
        return state.depth > 0 and self._opens_function(state.start, state.open)

    def _opens_function(self, start: int, opened: int) -> bool:
        known = self.kinds.get(opened)
        if known is None:
            known = self.kinds[opened] = is_function(self.text, start, opened)
        return known

    def _code_before(self, at: int) -> int:
        """The same as ``last_code``; directives in a row do not look through the same blanks again."""
        seen, code = self.seen if self.seen[0] <= at else (0, -1)
        length = len(self.text[seen:at].rstrip())
        self.seen = (at, seen + length - 1 if length else code)
        return self.seen[1]

    def _is_boundary(self, at: int, depth: int) -> bool:
        """Whether a directive at ``at`` stands between two items (or members, where brackets are open)."""
        before = self._code_before(at)
        if before < 0 or self.text[before] in b";}":
            return True
        if self.text[before] == 41:
            after = _SPACE.match(self.text, at).end()  # type: ignore[union-attr]
            return self.text[after : after + 1] != b"{"
        return depth > 0 and self.text[before] in b"{,"


def _marks(groups: Sequence[Group]) -> Iterable[tuple[int, int, int]]:
    """(offset, group, step) of every conditional directive: step 0 is the #if, the last one the #endif."""
    for index, group in enumerate(groups):
        yield group.start, index, 0
        for step, branch in enumerate(group.branches, 1):
            yield branch.end, index, step


def is_function(text: bytes, start: int, opened: int) -> bool:
    """Whether the bracket at ``opened`` opens a function whose head began at ``start``."""
    last = last_code(text, opened)
    if _DESIGNATOR.match(text, opened + 1) or _ASSIGNED.search(text, max(start, last - 99), last + 1):
        return False
    if last < start or text[last] in b"=,(:{};]":
        return False
    head = text[max(start, opened - MAX_HEAD) : opened]
    return b"(" in head and not _CONTROL.match(head) and not _tagged(head) and not _assigns(head)


def _tagged(head: bytes) -> bool:
    """Whether a structure's or enumeration's tag comes last."""
    return _TAGGED.search(head, head.rfind(b")") + 1) is not None


def _assigns(head: bytes) -> bool:
    """Whether an ``=`` stands outside round brackets: an initialiser, no function."""
    return b"=" in head and b"=" in _ARGS.sub(b"", head)
