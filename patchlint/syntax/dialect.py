"""The kernel's words, read from data: which are attributes, which macros are loops, scopes, jumps or heads."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

ParamStyle = Literal["pairs", "params", "none"]


@dataclass(frozen=True, slots=True)
class HeadMacro:
    """A macro that opens a function, such as ``SYSCALL_DEFINE3``.

    ``name`` is a format string for the macro's arguments; ``params`` says how the parameters are
    written, from argument ``first`` on.
    """

    match: re.Pattern[str]
    name: str
    params: ParamStyle
    first: int
    returns: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """Word lists of the dialect.  Words are str; patterns match whole words."""

    attributes: frozenset[str]
    attribute_calls: frozenset[str]
    kept: frozenset[str]
    loops: re.Pattern[str]
    closers: re.Pattern[str]
    scopes: re.Pattern[str]
    classed: frozenset[str]
    guards: frozenset[str]
    classes: frozenset[str]
    jumps: re.Pattern[str]
    respell: tuple[tuple[bytes, bytes], ...]
    unevaluated: frozenset[str]
    enabled: frozenset[str]
    exclusive: tuple[frozenset[str], ...]
    """Sets of tests of which exactly one holds in any build."""
    heads: tuple[HeadMacro, ...]

    @classmethod
    def from_toml(cls, text: str) -> Dialect:
        """Read the dialect from the text of ``dialect.toml``.

        Raises ValueError, with the table and key in its text, for anything malformed.
        """
        return cls.from_data(tomllib.loads(text))

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Dialect:
        """Read the dialect from the parsed tables of ``dialect.toml``; ValueError when malformed."""
        return cls(
            attributes=_words(data, "attributes", "words"),
            attribute_calls=_words(data, "attributes", "calls"),
            kept=_words(data, "attributes", "kept"),
            loops=_globs(_words(data, "loops", "names")),
            closers=_globs(_words(data, "loops", "closers")),
            scopes=_globs(_words(data, "scopes", "names")),
            classed=_words(data, "scopes", "classed"),
            guards=_words(data, "scopes", "guards"),
            classes=_words(data, "scopes", "classes"),
            jumps=_globs(_words(data, "jumps", "names")),
            respell=_respell(_table(data, "calls").get("respell", {})),
            unevaluated=_words(data, "calls", "unevaluated"),
            enabled=_words(data, "calls", "enabled"),
            exclusive=_sets(data, "configurations", "exclusive"),
            heads=tuple(_head(row) for row in _table(data, "heads").get("rows", ())),
        )

    def head_macro(self, word: str) -> HeadMacro | None:
        """The row of a macro that opens a function, None for an unlisted word."""
        return next((row for row in self.heads if row.match.match(word)), None)


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = data.get(name)
    if not isinstance(table, dict):
        raise ValueError(f"dialect: table [{name}] is missing")
    return table


def _words(data: Mapping[str, Any], table: str, key: str) -> frozenset[str]:
    words = _table(data, table).get(key, [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"dialect: {table}.{key} is not a list of words")
    return frozenset(words)


def _sets(data: Mapping[str, Any], table: str, key: str) -> tuple[frozenset[str], ...]:
    sets = data.get(table, {}).get(key, [])
    if not isinstance(sets, list) or not all(isinstance(one, list) for one in sets):
        raise ValueError(f"dialect: {table}.{key} is not a list of lists of words")
    return tuple(frozenset(map(str, one)) for one in sets)


def _globs(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in sorted(patterns)) or r"(?!)")


def _respell(table: Mapping[str, Any]) -> tuple[tuple[bytes, bytes], ...]:
    for word, other in table.items():
        if not isinstance(other, str) or len(other) != len(word):
            raise ValueError(f"dialect: calls.respell.{word} has not the length of its replacement")
    return tuple((word.encode(), other.encode()) for word, other in table.items())


def _head(row: Mapping[str, Any]) -> HeadMacro:
    match row:
        case {"match": str(pattern), "name": str(name), "params": ("pairs" | "params" | "none") as params}:
            return HeadMacro(
                re.compile(translate(pattern)), name, params, int(row.get("first", 1)), str(row.get("returns", ""))
            )
        case _:
            raise ValueError(f"dialect: heads.rows: {dict(row)!r} wants match, name and params")


def _packaged() -> Sequence[Any]:
    """Where the packaged rules may be: inside the wheel, or beside the package in a checkout."""
    package = resources.files("patchlint")
    return (package / "rules" / "models" / "dialect.toml", Path(str(package)).parent / "rules/models/dialect.toml")


@cache
def default_dialect() -> Dialect:
    """The dialect that comes with the package.  FileNotFoundError when the installation is broken."""
    for place in _packaged():
        if place.is_file():
            return Dialect.from_toml(place.read_text(encoding="utf-8"))
    raise FileNotFoundError("rules/models/dialect.toml is not installed")
