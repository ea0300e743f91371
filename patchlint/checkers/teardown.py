"""What a file's teardown functions give back: the counterpart of what its other functions set up.

Whoever takes in ``foo_probe()`` what ``foo_remove()`` gives back owes it on the failing paths of ``foo_probe()`` too:
nobody calls the teardown of what never came up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias


class TornDown(NamedTuple):
    """A call that a teardown function makes, with the last word of each argument (``&x->led`` is "led")."""

    name: str
    words: tuple[str, ...]


class Teardown(NamedTuple):
    """A function that by its name tears something down, and the calls that it makes."""

    name: str
    calls: frozenset[TornDown]
    arranged_by: frozenset[str] = frozenset()
    """Functions that mention it without calling it, or a table with it: they arrange for its being called."""


Teardowns: TypeAlias = frozenset[Teardown]
"""The teardown functions of a file."""

NO_TEARDOWNS: Final[Teardowns] = frozenset()

_TEARS_DOWN: Final = re.compile(
    r"(?:^|_)(?:un(?:init|register|bind|load|map)|de(?:init|register|stroy|tach|lete)|dis(?:connect)|exit|remove|release|"
    r"free|close|clean\w*|fini|teardown|del|term)(?:_|$|\d)"
)
BODY: Final = re.compile(rb"^\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
"""The body of a function that is written as the kernel writes it."""
_NAME: Final = re.compile(rb"^(?:\w[^\n;=#]*?)?\b(\w+)[ \t]*\(", re.MULTILINE)
_NOT_CODE: Final = re.compile(rb"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_CALL: Final = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
_TABLE: Final = re.compile(
    rb"^(?:static )?(?:const )?struct \w+ (?:const )?(\w+)(?:\[\w*\])?\s*=\s*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
_MENTIONED: Final = re.compile(rb"\b[A-Za-z_]\w*+(?!\s*\()")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_MAX_HEAD: Final = 400
"""Bytes before a body that its head is looked for in."""
_MAX_ARGUMENTS: Final = 200
"""Bytes of the longest argument list that is looked at."""


@lru_cache(maxsize=16)
def teardowns(source: bytes) -> Teardowns:
    """What the teardown functions of a file, or of any piece of one, call."""
    bodies = list(_bodies(source))
    found: dict[str, frozenset[TornDown]] = {}
    for name, body in bodies:
        if tears_down(name):
            found[name] = found.get(name, frozenset()) | frozenset(_calls(body))
    setups = [(name, body) for name, body in bodies if name not in found]
    arranging = _arranging(source, found, setups) if found else {}
    return frozenset(Teardown(name, calls, arranging.get(name, frozenset())) for name, calls in found.items())


def _arranging(
    source: bytes, found: Mapping[str, frozenset[TornDown]], setups: Sequence[tuple[str, bytes]]
) -> Mapping[str, frozenset[str]]:
    """For each teardown the functions that mention it, a table that holds it, or one that calls it."""
    tables = {table[1]: frozenset(_MENTIONED.findall(table[2])) for table in _TABLE.finditer(source)}
    arranged: dict[str, set[str]] = {name: set() for name in found}
    for setup, body in setups:
        said = set(_MENTIONED.findall(body))
        said.update(*(tables[name] for name in said & tables.keys()))
        pending = [name for name in found if name.encode() in said]
        while pending:
            name = pending.pop()
            if setup not in arranged[name]:
                arranged[name].add(setup)
                pending += (call.name for call in found[name] if call.name in found)
    return {name: frozenset(who) for name, who in arranged.items()}


@lru_cache(maxsize=16)
def undone(found: Teardowns) -> frozenset[str]:
    """The names of all that teardown functions call."""
    return frozenset(call.name for teardown in found for call in teardown.calls)


def other_teardowns(found: Teardowns, name: str, text: bytes) -> Teardowns:
    """Those that speak for what the function ``name`` owes: none for one that is a teardown itself.

    Nor those that its ``text`` mentions: it calls them, or arranges for their being called.
    """
    if tears_down(name):
        return NO_TEARDOWNS
    if not any(teardown.name.encode() in text for teardown in found):
        return found
    words = frozenset(_WORD.findall(text.decode("utf-8", "replace")))
    return frozenset(teardown for teardown in found if teardown.name not in words)


def tears_down(name: str) -> bool:
    """Whether a function by its name undoes what others set up."""
    return _TEARS_DOWN.search(name) is not None


def last_word(text: str) -> str:
    """The last identifier of an expression: its member, else its variable; "" for a constant."""
    found = _WORD.findall(re.sub(r"\[.*?\]", "", text))
    return found[-1] if found else ""


def _bodies(source: bytes) -> Iterator[tuple[str, bytes]]:
    for body in BODY.finditer(source):
        head = source[max(0, body.start() - _MAX_HEAD) : body.start()]
        head = head[head.rfind(b"\n}") + 1 :]
        names = _NAME.findall(head)
        name = names[-1].decode() if names else ""
        if name:
            yield name, _NOT_CODE.sub(b" ", body[1])


def _calls(body: bytes) -> Iterator[TornDown]:
    for match in _CALL.finditer(body):
        given = arguments(body, match.end())
        if given is not None:
            yield TornDown(match[1].decode(), tuple(map(last_word, given)))


def arguments(text: bytes, at: int) -> list[str] | None:
    """Texts of the arguments of a call, whose opening parenthesis is before ``at``; None where they do not end."""
    depth, start, found = 0, at, list[str]()
    for here in range(at, min(len(text), at + _MAX_ARGUMENTS)):
        byte = text[here]
        depth += (byte in b"([{") - (byte in b")]}")
        if depth < 0 or (depth == 0 and byte == 0x2C):
            found.append(text[start:here].decode("utf-8", "replace").strip())
            start = here + 1
        if depth < 0:
            return [] if found == [""] else found
    return None
