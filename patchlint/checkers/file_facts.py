"""What a file's other functions tell: which lists and pointers RCU readers of this file go through."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

Place = tuple[str, str]
"""The last two words of a pointer's path: ``l->port.first`` is ("port", "first"), ``l->first`` ("l", "first")."""

List = tuple[Place, str]
"""Where the head of a list is, and the member by which its elements are linked."""


class FileFacts(NamedTuple):
    """How the functions of a file, all together, treat what RCU protects."""

    lists: frozenset[List] = frozenset()
    """Lists that are walked or changed with RCU's primitives."""
    links: frozenset[tuple[str, str]] = frozenset()
    """Structures and the members by which RCU's primitives alone link them into lists."""
    pointers: frozenset[tuple[Place, int]] = frozenset()
    """Places that RCU's macros load or store, and how often they do."""
    fields: frozenset[str] = frozenset()
    """Members that this file declares ``__rcu``, unless it has another member of that name."""
    globals: frozenset[str] = frozenset()
    """Variables of file scope declared ``__rcu``."""
    unbarred: frozenset[str] = frozenset()
    """The module's exit functions, where the file has callbacks run by call_rcu() and waits for none of them; of a file
    system with such a callback those that destroy its caches."""
    deferred: frozenset[str] = frozenset()
    """What the callbacks that the file gives to call_rcu() call, or what is called where readers were waited for: what
    is dropped there is there until readers are gone."""


NO_FACTS: Final = FileFacts()
"""Of a file without RCU, or of none."""

_NOT_CODE: Final = re.compile(rb"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_WALKS: Final = re.compile(
    rb"\bh?list_for_each_entry(?:_continue|_from)?(?:_rcu(?:_bh|_notrace)?|_lockless|_srcu)\s*\("
)
_ADDS: Final = re.compile(rb"\bh?list_add(?:_tail|_head)?_rcu\s*\(")
_PLAIN_ADDS: Final = re.compile(rb"\bh?list_(?:add|move)(?:_tail|_head|_before|_behind)?\s*\(")
_ENTRY: Final = re.compile(r"&(\w+)->(\w+)")
_POINTERS: Final = re.compile(
    rb"\b(?:s?rcu_dereference(?:_\w+)?|rcu_assign_pointer|RCU_INIT_POINTER|rcu_replace_pointer|rtnl_dereference)\s*\("
)
_TYPE: Final = rb"(?:const )?(?:struct |union )?\w+"
_GLOBAL: Final = re.compile(rb"^(?:static |extern )?" + _TYPE + rb"\s+__rcu\s*\*\s*(\w+)", re.MULTILINE)
_FIELD: Final = re.compile(rb"^[ \t]+" + _TYPE + rb"\s+__rcu\s*\*\s*(\w+)", re.MULTILINE)
_OTHER_FIELD: Final = re.compile(rb"^[ \t]+" + _TYPE + rb"(?:\s+|\s*\*+\s*)(\w+)(?:\[\w*\])?;", re.MULTILINE)
_CALLS_BACK: Final = re.compile(rb"\bcall_rcu(?:_hurry)?\s*\(")
_FREES_INODES: Final = re.compile(rb"\.free_inode\s*=")
"""The file system frees its inodes in a callback of call_rcu() that the VFS arranges."""
_INODES: Final = re.compile(rb"\balloc_inode_sb\s*\(\s*\w+\s*,\s*(\w+)")
_FUNCTION: Final = re.compile(rb"^(?:\w[^\n;=#]*?)?\b(\w+)\s*\([^()]*\)\s*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_STARTS: Final = re.compile(rb"(?:^|_)(?:init|setup|register|create)")
_WAITED: Final = re.compile(rb"\bsynchronize_(?:rcu|net)(?:_expedited)?\s*\(\s*\)\s*;([^{}]*)\}")
_CALLED: Final = re.compile(rb"\b(\w+)\s*\(")
_INIT: Final = re.compile(rb"^module_init\s*\(\s*(\w+)\s*\)", re.MULTILINE)
_EXIT: Final = re.compile(rb"^module_exit\s*\(\s*(\w+)\s*\)", re.MULTILINE)
_PATH: Final = re.compile(r"(?:(\w+)\s*(?:\[[^\]]*\])*\s*(?:->|\.)\s*)?(\w+)\s*(?:\[.*\])*\s*$")
_MAX_FUNCTION: Final = 6000
"""Bytes before a use that the declaration of its variable is looked for in."""
_MAX_ARGUMENTS: Final = 400
"""Bytes of the longest argument list that is looked at."""


@lru_cache(maxsize=16)
def file_facts(source: bytes) -> FileFacts:
    """The facts of a whole file, or of any piece of one."""
    if b"rcu" not in source and b".free_inode" not in source:
        return NO_FACTS
    text = _NOT_CODE.sub(b" ", source)
    lists = {(place_of(args[1]), args[2]) for args in _arguments(_WALKS, text) if len(args) > 2 and args[1]}
    for args in _arguments(_ADDS, text):
        if len(args) > 1 and "->" in args[0]:
            lists.add((place_of(args[1]), place_of(args[0])[1]))
    plain = frozenset(_links(_PLAIN_ADDS, text))
    declared = frozenset(match[1].decode() for match in _FIELD.finditer(text))
    others = {match[1].decode() for match in _OTHER_FIELD.finditer(text)} if declared else set()
    return FileFacts(
        frozenset(lists),
        frozenset(link for link in _links(_ADDS, text) if link[0] and plain.isdisjoint((link, ("", link[1])))),
        frozenset(pointers_in(text).items()),
        declared - others,
        frozenset(match[1].decode() for match in _GLOBAL.finditer(text)),
        _unbarred(text),
        _deferred(text),
    )


def _links(pattern: re.Pattern[bytes], text: bytes) -> Iterator[tuple[str, str]]:
    """Tags and members of what such calls link, as the nearest declaration of the variable tells; "" for no tag."""
    for call in pattern.finditer(text):
        args = _split(text, call.end())
        entry = _ENTRY.fullmatch(args[0]) if args else None
        if entry is not None:
            declared = re.compile(rb"\bstruct\s+(\w+)\s*\*\s*(?:\w+, \*)*%s\b" % entry[1].encode())
            tags = declared.findall(text, max(0, call.start() - _MAX_FUNCTION), call.start())
            yield tags[-1].decode() if tags else "", entry[2]


def _unbarred(text: bytes) -> frozenset[str]:
    caches = _INODES.findall(text) if _FREES_INODES.search(text) else []
    if not (caches or _CALLS_BACK.search(text)):
        return frozenset()
    # The failing path of the module's start waits as well; that is no wait for its end.
    for start in _INIT.finditer(text):
        text = re.sub(rb"\b%s\s*\([^()]*\)\s*\{.*?\n\}" % start[1], b" ", text, flags=re.DOTALL)
    if b"rcu_barrier" in text:
        return frozenset()
    ends = _ends_of(caches, text) if caches else (match[1] for match in _EXIT.finditer(text))
    return frozenset(name.decode() for name in ends)


def _ends_of(caches: list[bytes], text: bytes) -> Iterator[bytes]:
    """Functions that destroy one of the caches, and do not do so because their setup failed."""
    ends = re.compile(rb"\bkmem_cache_destroy\s*\(\s*(?:%s)\s*\)" % b"|".join(caches))
    for function in _FUNCTION.finditer(text):
        if ends.search(function[2]) and not _STARTS.search(function[1]):
            yield function[1]


def _deferred(text: bytes) -> frozenset[str]:
    called: set[str] = set()
    for args in _arguments(_CALLS_BACK, text):
        name = re.escape(args[1].encode()) if len(args) == 2 else b""
        body = re.search(rb"\b%s\s*\([^()]*\)\s*\{(.*?)\n\}" % name, text, re.DOTALL) if name else None
        called |= {match[1].decode() for match in _CALLED.finditer(body[1])} if body else set()
    for block in _WAITED.finditer(text):
        called |= {match[1].decode() for match in _CALLED.finditer(block[1])}
    return frozenset(called)


def pointers_in(text: bytes) -> Counter[Place]:
    """Places that RCU's macros are used on in ``text``."""
    firsts = (args[0] for args in _arguments(_POINTERS, text) if args)
    return Counter(place_of(first) for first in firsts if not first.startswith("*"))


def place_of(path: str) -> Place:
    """The last two words of a path."""
    match = _PATH.search(path)
    return (match[1] or "", match[2]) if match else ("", "")


def _arguments(pattern: re.Pattern[bytes], text: bytes) -> list[list[str]]:
    return [_split(text, match.end()) for match in pattern.finditer(text)]


def _split(text: bytes, at: int) -> list[str]:
    """The arguments of a call whose opening parenthesis ends at ``at``."""
    depth, start, found = 0, at, []
    for here in range(at, min(len(text), at + _MAX_ARGUMENTS)):
        byte = text[here]
        if byte in b"([{":
            depth += 1
        elif byte in b")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and byte == 0x2C):
            found.append(b" ".join(text[start:here].split()).decode("utf-8", "replace"))
            start = here + 1
        if depth < 0:
            return found
    return []
