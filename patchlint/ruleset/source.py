"""Rule and model files as they are read: TOML tables that still know their lines."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from patchlint.model import PatchlintError


class RuleFile(NamedTuple):
    """One file of rules or models: the name to speak of, its bytes, and whether the user brought it."""

    name: str
    data: bytes
    extra: bool = False


class Row(NamedTuple):
    """One table of a file. ``table`` is its name ("pair", "family.of_node"), ``at`` its line."""

    table: str
    values: Mapping[str, object]
    file: RuleFile
    at: int

    def wrong(self, what: str, key: str = "") -> PatchlintError:
        """The error to raise for this row: names file and, where it can be told, the line of ``key``."""
        return PatchlintError(f"{self.file.name}:{self._line_of(key)}: [{self.table}]: {what}")

    def _line_of(self, key: str) -> int:
        if not key:
            return self.at
        opening = re.compile(rf"^\s*{re.escape(key)}\s*=")
        lines = self.file.data.decode("utf-8", "replace").split("\n")
        for number in range(self.at, len(lines)):
            if lines[number].lstrip().startswith("["):
                break
            if opening.match(lines[number]):
                return number + 1
        return self.at


_HEADER = re.compile(r"^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_SYNTAX_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


def read_tables(file: RuleFile) -> Mapping[str, object]:
    """The file's TOML; raises PatchlintError naming the line where it is not TOML."""
    try:
        return tomllib.loads(file.data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        raise PatchlintError(f"{file.name}:{line}: not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        text = str(error)
        place = _SYNTAX_PLACE.search(text)
        line = int(place[1]) if place and place[1] else file.data.count(b"\n")
        what = _SYNTAX_PLACE.sub("", text)
        raise PatchlintError(f"{file.name}:{max(line, 1)}: not TOML: {what}") from None


def rows_of(file: RuleFile, tables: Mapping[str, object]) -> Iterator[Row]:
    """All tables of a model file in order of kind, each with its line."""
    lines = _header_lines(file)
    for table, value in tables.items():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            places = lines.get(table, [])
            for number, item in enumerate(value):
                yield Row(table, item, file, places[number] if number < len(places) else 1)
        elif isinstance(value, dict):
            yield from _named_rows(table, value, file, lines)
        else:
            raise Row(table, {}, file, 1).wrong("not a table")


def _named_rows(
    table: str, value: Mapping[str, object], file: RuleFile, lines: Mapping[str, list[int]]
) -> Iterator[Row]:
    for name, item in value.items():
        full = f"{table}.{name}"
        at = lines.get(full, [1])[0]
        if not isinstance(item, dict):
            raise Row(table, {}, file, lines.get(table, [1])[0]).wrong(f"{name} is not a table")
        yield Row(full, item, file, at)


def _header_lines(file: RuleFile) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, line in enumerate(file.data.decode("utf-8", "replace").split("\n"), 1):
        header = _HEADER.match(line)
        if header:
            found.setdefault(header[1].replace('"', ""), []).append(number)
    return found
