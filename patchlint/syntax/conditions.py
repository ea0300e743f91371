"""Conditional directives: groups of branches, their conditions, and the arrangements a function can have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

from patchlint.syntax.lexical import Directive

MAX_TOKENS = 120
"""A longer condition is one atom, so that reading it cannot recurse deeply."""
MAX_ATOMS = 8
"""Conditions of one function that are varied; further ones keep their first branch."""


class Branch(NamedTuple):
    """The text between two directives of a group and the condition of the directive before it."""

    start: int
    end: int
    condition: Condition


class Group(NamedTuple):
    """``#if ... #endif``: from the first directive to the end of the last. An absent ``#else`` is no branch."""

    start: int
    end: int
    branches: tuple[Branch, ...]


class Atom(NamedTuple):
    """A test that is not taken apart: its name, and the text that says it holds or not."""

    name: str
    yes: str
    no: str


class Not(NamedTuple):
    """Negation."""

    operand: Condition


class Both(NamedTuple):
    """Conjunction."""

    left: Condition
    right: Condition


class Either(NamedTuple):
    """Disjunction."""

    left: Condition
    right: Condition


UNSEEN = Atom("", "the #if above the hunk", "the #else of the #if above the hunk")
"""The condition of a group whose ``#if`` a hunk does not show."""

Condition: TypeAlias = bool | Atom | Not | Both | Either
Choice: TypeAlias = Mapping[str, bool]


def groups(directives: Iterable[Directive], end: int, start: int = 0) -> tuple[Group, ...]:
    """All conditional groups in order of their start; a group that is not closed ends with the text.

    An ``#else`` without ``#if`` closes a first branch that began with the text.
    """
    found: list[Group] = []
    open_groups: list[tuple[int, list[tuple[int, int, Condition]]]] = []
    for directive in directives:
        if directive.word in ("if", "ifdef", "ifndef"):
            open_groups.append((directive.start, [(directive.end, -1, _condition(directive))]))
        elif directive.word in ("elif", "else", "elifdef", "elifndef"):
            if not open_groups:
                open_groups.append((start, [(start, -1, UNSEEN)]))
            branches = open_groups[-1][1]
            branches[-1] = (branches[-1][0], directive.start, branches[-1][2])
            branches.append((directive.end, -1, _condition(directive)))
        elif directive.word == "endif" and open_groups:
            found.append(_close(*open_groups.pop(), directive.start, directive.end))
    found.extend(_close(first, branches, end, end) for first, branches in open_groups)
    return tuple(sorted(found))


def _close(start: int, branches: list[tuple[int, int, Condition]], at: int, end: int) -> Group:
    branches[-1] = (branches[-1][0], at, branches[-1][2])
    return Group(start, end, tuple(Branch(*branch) for branch in branches))


def _condition(directive: Directive) -> Condition:
    word, rest = directive.word, directive.rest
    if word == "else":
        return True
    if word in ("ifdef", "elifdef"):
        return _defined(rest.split(" ")[0])
    if word in ("ifndef", "elifndef"):
        return Not(_defined(rest.split(" ")[0]))
    return parse_condition(rest)


def config_atom(name: str) -> Atom:
    """The atom of a configuration symbol: CONFIG_X=y or CONFIG_X=n."""
    return Atom(name, f"{name}=y", f"{name}=n")


def _defined(name: str) -> Condition:
    if name.startswith("CONFIG_"):
        return config_atom(name)
    return Atom(name, f"defined({name})", f"!defined({name})")


# ------------------------------------------------------------------ reading conditions

_TOKENS = re.compile(r"\s*(defined\b|[A-Za-z_]\w*|\d\w*|&&|\|\||[()!]|[^\sA-Za-z_0-9()!&|]+|.)")
_ENDS = ("", ")", "&&", "||")
_ENABLED = frozenset({"IS_ENABLED", "IS_REACHABLE", "IS_BUILTIN"})


def parse_condition(text: str) -> Condition:
    """Read the condition of ``#if``.  What is no ``&& || !`` of tests becomes an atom with its own text."""
    tokens = _TOKENS.findall(text)
    if len(tokens) > MAX_TOKENS:
        return _text_atom(text)
    reader = _Reader(tokens)
    try:
        condition = reader.either()
    except _NotBoolean:
        return _text_atom(text)
    return condition if reader.at == len(tokens) else _text_atom(text)


class _NotBoolean(Exception):
    """The text is no plain combination of tests."""


def _text_atom(text: str) -> Atom:
    plain = " ".join(text.split())
    return Atom(plain, plain, f"!({plain})")


class _Reader:
    """Recursive descent over a condition's tokens."""

    __slots__ = ("at", "tokens")

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, word: str) -> bool:
        if self.peek() != word:
            return False
        self.at += 1
        return True

    def either(self) -> Condition:
        left = self.both()
        while self.take("||"):
            left = Either(left, self.both())
        return left

    def both(self) -> Condition:
        left = self.single()
        while self.take("&&"):
            left = Both(left, self.single())
        return left

    def single(self) -> Condition:
        if self.take("!"):
            return Not(self.single())
        if self.take("("):
            inner = self.either()
            if not self.take(")") or self.peek() not in _ENDS:
                raise _NotBoolean
            return inner
        return self._comparison(self._test())

    def _comparison(self, left: Condition) -> Condition:
        """A test followed by an operator is one atom up to the next ``&&``, ``||`` or closing bracket."""
        if self.peek() in _ENDS:
            return left
        start, depth = self.at, 0
        while self.peek() and (depth or self.peek() not in (")", "&&", "||")):
            depth += {"(": 1, ")": -1}.get(self.peek(), 0)
            self.at += 1
        words = [_plain(left), *self.tokens[start : self.at]]
        return _text_atom(" ".join(words))

    def _test(self) -> Condition:
        word = self.peek()
        self.at += 1
        if word == "defined":
            bracket = self.take("(")
            name = self.peek()
            self.at += 1
            if bracket and not self.take(")"):
                raise _NotBoolean
            return _defined(name)
        if word.isdigit():
            return word != "0" if self.peek() in _ENDS else _text_atom(word)
        if not (word[:1].isalpha() or word[:1] == "_"):
            raise _NotBoolean
        if self.peek() == "(":
            return self._call(word)
        return config_atom(word) if word.startswith("CONFIG_") else _text_atom(word)

    def _call(self, word: str) -> Condition:
        start, depth = self.at, 0
        while self.peek():
            depth += {"(": 1, ")": -1}.get(self.peek(), 0)
            self.at += 1
            if not depth:
                break
        args = self.tokens[start + 1 : self.at - 1]
        if word in _ENABLED and len(args) == 1:
            return config_atom(args[0])
        return _text_atom(f"{word}({' '.join(args)})")


def _plain(condition: Condition) -> str:
    if isinstance(condition, Atom):
        return condition.name
    raise _NotBoolean


# ------------------------------------------------------------------ deciding


def atoms(condition: Condition) -> Iterable[Atom]:
    """The atoms of a condition, in reading order."""
    match condition:
        case Atom():
            yield condition
        case Not(operand):
            yield from atoms(operand)
        case Both(left, right) | Either(left, right):
            yield from atoms(left)
            yield from atoms(right)


def holds(condition: Condition, choice: Choice) -> bool:
    """Whether the condition holds where ``choice`` says which atoms do; others do."""
    match condition:
        case bool():
            return condition
        case Atom(name):
            return choice.get(name, True)
        case Not(operand):
            return not holds(operand, choice)
        case Both(left, right):
            return holds(left, choice) and holds(right, choice)
        case Either(left, right):
            return holds(left, choice) or holds(right, choice)


def selected(group: Group, choice: Choice) -> int:
    """Index of the branch taken under a choice, -1 for none."""
    for index, branch in enumerate(group.branches):
        if holds(branch.condition, choice):
            return index
    return -1


def choices(varied: Sequence[Atom], fixed: Choice, limit: int = 1 << MAX_ATOMS) -> Iterable[dict[str, bool]]:
    """All truth values of the varied atoms, at most ``limit``, on top of what is fixed; all true first."""
    for count, values in enumerate(product((True, False), repeat=len(varied))):
        if count == limit:
            return
        yield {**fixed, **{atom.name: value for atom, value in zip(varied, values, strict=True)}}


def constant(condition: Condition) -> bool | None:
    """The truth of a condition that no configuration changes (``#if 0``), None for others."""
    match condition:
        case bool():
            return condition
        case Not(operand):
            inner = constant(operand)
            return None if inner is None else not inner
        case Both(left, right):
            sides = (constant(left), constant(right))
            return False if False in sides else (True if sides == (True, True) else None)
        case Either(left, right):
            sides = (constant(left), constant(right))
            return True if True in sides else (False if sides == (False, False) else None)
        case _:
            return None


def dead(group: Group) -> tuple[int, ...]:
    """Indices of the branches that no configuration takes."""
    gone: list[int] = []
    decided = False
    for index, branch in enumerate(group.branches):
        truth = constant(branch.condition)
        if decided or truth is False:
            gone.append(index)
        decided = decided or truth is True
    return tuple(gone)
