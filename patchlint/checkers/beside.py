"""What the other functions of a file do with what a call gives them: an API of the file shows its other half there.

Where ``p = foo_alloc()`` is followed by ``foo_free(p)`` in the functions beside this one, ``foo_alloc()`` takes
something here too, although this function may have forgotten ``foo_free()`` altogether.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from patchlint.checkers.teardown import BODY


class Followed(NamedTuple):
    """Some function hands what ``name`` gives to ``other``."""

    name: str
    other: str


Beside: TypeAlias = frozenset[Followed]

NOTHING_BESIDE: Final[Beside] = frozenset()

_GIVEN: Final = re.compile(rb"\b([A-Za-z_]\w*) = ([A-Za-z_]\w*)\(")
_HANDED: Final = re.compile(rb"\b([A-Za-z_]\w*)\((?:\w+, )?(\w+)\)")


@lru_cache(maxsize=16)
def shown_beside(source: bytes) -> Beside:
    """What the functions of a file, or of any piece of one, do with what they are given."""
    found: set[Followed] = set()
    for body in BODY.finditer(source):
        given = {match[1]: match[2] for match in _GIVEN.finditer(body[1])}
        for call in _HANDED.finditer(body[1]) if given else ():
            name, other = given.get(call[2], b""), call[1]
            if name and name != other:
                found.add(Followed(name.decode(), other.decode()))
    return frozenset(found)


@lru_cache(maxsize=16)
def followers(found: Beside) -> frozenset[str]:
    """The names of all that is called with what another call gave."""
    return frozenset(one.other for one in found)
