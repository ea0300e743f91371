"""Places other than calls: operation tables, static keys, writes to a field, ``__rcu`` fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from patchlint.callgraph.index import TreeIndex
from patchlint.callgraph.scan import FileScan
from patchlint.callgraph.words import CALLED, token


class TableEntry(NamedTuple):
    """A function stored in a field of an initialised structure (an operations table)."""

    struct: str
    """The tag of the structure's type, e.g. "net_protocol"; "" when it cannot be told."""
    field: str
    file: str
    line: int


class KeySite(NamedTuple):
    """A place where a static key is named."""

    key: str
    """The key's expression without ``&``: "foo_key", "keys[i]", "priv->key"."""
    what: str
    """"define", "declare", "inc", "dec", "enable", "disable" or "test"."""
    word: str
    """The macro or function in the text."""
    file: str
    line: int
    function: str
    """The function around it; "" at file level."""


class Write(NamedTuple):
    """An assignment to a field, or its place in an initialiser."""

    file: str
    line: int
    function: str
    text: str
    """The line, stripped."""


class RcuField(NamedTuple):
    """A structure member declared with ``__rcu``."""

    struct: str
    field: str
    file: str
    line: int


_STRUCT_BEFORE = re.compile(
    rb"(?:struct|union)[ \t]+(\w+)[^;{}()=]*=[^;{}=]*\{|\([ \t]*(?:struct|union)[ \t]+(\w+)[ \t]*\)[ \t]*\{"
)
_STRUCT_HEAD = re.compile(rb"\b(?:struct|union)[ \t\n]+(\w+)[^;{}()=]*\{")
_RCU_MEMBER = re.compile(rb"\b__rcu\b[ \t\n*]*(\w+)[ \t]*(?:\[[^\]\n]*\][ \t]*)*[;,]")

_CHANGES = (
    "inc", "dec", "enable", "disable", "slow_inc", "slow_dec", "deferred_inc", "slow_dec_deferred", "deferred_dec",
    "fast_inc_not_disabled",
)  # fmt: skip
_TESTS = ("likely", "unlikely", "maybe", "false", "true", "enabled", "count")
_FRONTS = ("static_branch", "static_key")
_KEY_FUNCTIONS = frozenset(
    [f"{front}_{act}{end}" for front in _FRONTS for act in _CHANGES for end in ("", "_cpuslocked")]
    + [f"{front}_{act}" for front in _FRONTS for act in _TESTS]
)
_KEY_MACROS = frozenset(
    f"{verb}_STATIC_KEY{middle}{default}{end}"
    for verb in ("DEFINE", "DECLARE")
    for middle in ("", "_ARRAY", "_DEFERRED", "_MAYBE")
    for default in ("", "_TRUE", "_FALSE")
    for end in ("", "_RO")
)
KEY_WORDS = tuple(sorted(_KEY_FUNCTIONS | _KEY_MACROS))
"""Functions and macros whose call names a static key."""

_STORES = (
    rb"rcu_assign_pointer", rb"RCU_INIT_POINTER", rb"rcu_replace_pointer", rb"WRITE_ONCE", rb"smp_store_release",
    rb"smp_store_mb", rb"xchg", rb"xchg_\w+", rb"cmpxchg\w*", rb"try_cmpxchg\w*", rb"unrcu_pointer",
)  # fmt: skip
"""Macros that write what their first argument names."""

_KEY_SITE = re.compile(rb"\b(static_(?:branch|key)_\w++|(?:DEFINE|DECLARE)_STATIC_KEY\w*+)[ \t]*+\(")


def table_entries(index: TreeIndex, function: str, file: str | None = None) -> tuple[TableEntry, ...]:
    """Where ``.field = function`` stands; with ``file`` only there."""
    paths = (file,) if file is not None else index.files_with(token(function))
    pattern = re.compile(rb"\.(\w+)[ \t]*=[ \t]*&?" + re.escape(function.encode()) + rb"\b[ \t\n]*[,}]")
    return tuple(
        TableEntry(_struct_around(scan, at), match[1].decode("ascii"), scan.path, scan.lines.line(at))
        for scan in index.scanned(paths)
        for match in pattern.finditer(scan.code)
        for at in (match.start(),)
    )


def _struct_around(scan: FileScan, pos: int) -> str:
    """The type of the innermost initialiser that holds the offset."""
    open_brace = _opening(scan.code, pos)
    if open_brace < 0:
        return ""
    head = scan.code[max(0, open_brace - 300) : open_brace + 1]
    found = None
    for found in _STRUCT_BEFORE.finditer(head):  # noqa: B007 - the last match is the one before the brace
        pass
    if found is None or found.end() != len(head):
        return ""
    return (found[1] or found[2]).decode("ascii")


def _opening(code: bytes, pos: int) -> int:
    """Offset of the brace that is open at ``pos``; -1 for none."""
    depth = 0
    at = pos
    while True:
        close, brace = code.rfind(b"}", 0, at), code.rfind(b"{", 0, at)
        if brace < 0:
            return -1
        if close > brace:
            depth, at = depth + 1, close
        elif depth:
            depth, at = depth - 1, brace
        else:
            return brace


def static_keys(index: TreeIndex, key: str | None = None) -> tuple[KeySite, ...]:
    """Every place that defines, declares, changes or tests a static key; with ``key`` those of keys of this name."""
    if key is not None:
        paths = index.files_with_word(key)
    else:
        paths = index.files_with(*(token(word, CALLED) for word in KEY_WORDS))
    return tuple(
        site
        for scan in index.scanned(paths)
        for site in key_sites(scan)
        if key is None or site.key == key or re.search(rf"(?:^|[.>]){re.escape(key)}(?:\[|$)", site.key)
    )


def key_sites(scan: FileScan) -> tuple[KeySite, ...]:
    """The places of one file that name a static key."""
    return tuple(_key_sites(scan))


def _key_sites(scan: FileScan) -> Iterator[KeySite]:
    for match in _KEY_SITE.finditer(scan.code):
        word = match[1].decode("ascii")
        if word not in _KEY_FUNCTIONS and word not in _KEY_MACROS:
            continue
        owner = scan.around(match.start())
        if owner is not None and owner.name == word:
            continue  # the definition of the function or macro itself
        key = _first_argument(scan.code, match.end()).lstrip("&").strip()
        function = owner.name if owner is not None else ""
        yield KeySite(key, _key_action(word), word, scan.path, scan.lines.line(match.start()), function)


def _key_action(word: str) -> str:
    if word in _KEY_MACROS:
        return "define" if word.startswith("DEFINE") else "declare"
    act = word.removeprefix("static_branch_").removeprefix("static_key_").removesuffix("_cpuslocked")
    for what in ("inc", "dec", "enable", "disable"):
        if act != "enabled" and what in act.split("_"):
            return what
    return "test"


def _first_argument(code: bytes, start: int) -> str:
    """The text of the argument that starts at ``start``, up to its comma or parenthesis; at most 200 bytes."""
    depth = 0
    for at in range(start, min(len(code), start + 200)):
        letter = code[at]
        if letter in b"([":
            depth += 1
        elif letter in b")]" and depth:
            depth -= 1
        elif not depth and letter in b",)":
            return " ".join(code[start:at].decode("utf-8", "replace").split())
    return ""


def writers(index: TreeIndex, field: str) -> tuple[Write, ...]:
    """Every write to a member called ``field`` of any structure: assignments, compound or by a storing macro, and
    initialisers."""
    name = rb"(?:->|\.)[ \t]*" + re.escape(field.encode()) + rb"\b[ \t]*(?:\[[^\]\n]*\][ \t]*)*"
    pattern = re.compile(
        rb"\b(?:" + b"|".join(_STORES) + rb")[ \t]*\([^,;]*" + name + rb","
        rb"|" + name + rb"(?:(?:[-+*/|&^%]|<<|>>)?=(?!=)|\+\+|--)"
    )
    found = []
    for scan in index.scanned(index.files_with_word(field)):
        for match in pattern.finditer(scan.code):
            owner = scan.around(match.start())
            line = scan.lines.line(match.start())
            text = _line_text(scan.source, match.start())
            found.append(Write(scan.path, line, owner.name if owner is not None else "", text))
    return tuple(found)


def _line_text(source: bytes, pos: int) -> str:
    start = source.rfind(b"\n", 0, pos) + 1
    end = source.find(b"\n", pos)
    return source[start : end if end >= 0 else len(source)].decode("utf-8", "replace").strip()


def rcu_fields(index: TreeIndex, field: str | None = None) -> tuple[RcuField, ...]:
    """The structure members declared ``__rcu``; with ``field`` those of this name."""
    paths = frozenset(index.files_with(token("__rcu")))
    if field is not None:
        paths &= frozenset(index.files_with(token(field)))
    return tuple(
        RcuField(_struct_of_member(scan, at), name, scan.path, scan.lines.line(match.start(1)))
        for scan in index.scanned(sorted(paths))
        for match in _RCU_MEMBER.finditer(scan.code)
        for at, name in ((match.start(), match[1].decode("ascii")),)
        if (field is None or name == field) and _is_member(scan, at)
    )


def _is_member(scan: FileScan, pos: int) -> bool:
    """Whether a declaration stands in a structure, not in a function."""
    owner = scan.around(pos)
    return (owner is None or owner.kind != "function") and _opening(scan.code, pos) >= 0


def _struct_of_member(scan: FileScan, pos: int) -> str:
    brace = _opening(scan.code, pos)
    head = scan.code[max(0, brace - 300) : brace + 1]
    found = [match for match in _STRUCT_HEAD.finditer(head) if match.end() == len(head)]
    return found[-1][1].decode("ascii") if found else ""
