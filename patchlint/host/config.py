"""``.patchlint.toml`` in the tree and ``config.toml`` in the user's config folder: read, checked, merged.

The tree's file wins over the user's; what is given on the command line wins over both.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

from platformdirs import user_config_path

from patchlint.model import CONFIDENCES, SEVERITIES, PatchlintError

TREE_FILE = ".patchlint.toml"
USER_FILE = "config.toml"

Value: TypeAlias = Any
"""A checked value, as the option of the same name takes it."""


@dataclass(frozen=True, slots=True)
class Config:
    """What the files say: ``values`` by option name, ``origin`` tells the file of each."""

    values: Mapping[str, Value] = field(default_factory=dict)
    origin: Mapping[str, str] = field(default_factory=dict)

    def over(self, below: Config) -> Config:
        """This one's values, the other's where this one is silent."""
        return Config({**below.values, **self.values}, {**below.origin, **self.origin})


class _Wrong(Exception):
    """A value that its key does not take; the text says what it takes."""


def read_config(top: Path | None, user: Path | None = None) -> Config:
    """The merged files; ``top`` is the tree's top folder. Raises PatchlintError naming file and line."""
    files = [(user or user_config_path("patchlint", appauthor=False)) / USER_FILE]
    if top is not None:
        files.append(top / TREE_FILE)
    merged = Config()
    for file in files:
        if file.is_file():
            merged = read_config_file(file).over(merged)
    return merged


def read_config_file(file: Path) -> Config:
    """One file; raises PatchlintError when it cannot be read or holds what is not known."""
    try:
        return parse_config(file.read_text(encoding="utf-8"), str(file), file.parent)
    except OSError as error:
        raise PatchlintError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PatchlintError(f"{file}: not UTF-8 text") from error


def parse_config(text: str, name: str, folder: Path) -> Config:
    """Check the text of a config file called ``name``; relative paths in it start at ``folder``."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PatchlintError(f"{name}: {error}") from error
    values: dict[str, Value] = {}
    for key, raw in table.items():
        where = f"{name}:{_line_of(key, text)}"
        if key not in KEYS:
            raise PatchlintError(f"{where}: unknown key '{key}'{_suggestion(key, KEYS)}")
        try:
            values[KEYS[key].option] = KEYS[key].check(raw, folder)
        except _Wrong as wrong:
            raise PatchlintError(f"{where}: '{key}' {wrong}") from wrong
    return Config(values, dict.fromkeys(values, name))


def _line_of(key: str, text: str) -> int:
    """Where a top-level key or table stands; 1 where it is written in some odd way."""
    found = re.search(rf"^\s*\[?\s*[\"']?{re.escape(key)}[\"']?\s*[\].=]", text, re.MULTILINE)
    return text.count("\n", 0, found.end()) + 1 if found else 1


def _suggestion(word: str, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    near = get_close_matches(word.lower().replace("_", "-"), list(known), 1)
    return f", did you mean '{near[0]}'?" if near else f" (known: {', '.join(known)})"


def _word(choices: tuple[str, ...]) -> Callable[[Value, Path], str]:
    def check(raw: Value, folder: Path) -> str:
        if not isinstance(raw, str) or raw not in choices:
            raise _Wrong(f"must be one of {', '.join(choices)}, not {raw!r}")
        return raw

    return check


def _words(raw: Value, folder: Path) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(each, str) and each for each in raw):
        raise _Wrong("must be a list of strings")
    return tuple(raw)


def _folders(raw: Value, folder: Path) -> tuple[Path, ...]:
    return tuple(folder / Path(each).expanduser() for each in _words(raw, folder))


def _file(raw: Value, folder: Path) -> Path:
    if not isinstance(raw, str) or not raw:
        raise _Wrong("must be the name of a file")
    return folder / Path(raw).expanduser()


def _severities(raw: Value, folder: Path) -> tuple[tuple[str, str], ...]:
    if not isinstance(raw, dict):
        raise _Wrong('must be a table like REF001 = "error"')
    for rule, severity in raw.items():
        if severity not in SEVERITIES:
            raise _Wrong(f"{rule}: must be one of {', '.join(SEVERITIES)}, not {severity!r}")
    return tuple(raw.items())


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the file: the option it stands for, its check, and its line in the documentation."""

    option: str
    check: Callable[[Value, Path], Value]
    says: str


KEYS: Mapping[str, Key] = {
    "select": Key("select", _words, "rule ids or prefixes that are on; all when left out"),
    "ignore": Key("ignore", _words, "rule ids or prefixes that are off"),
    "severity": Key("severities", _severities, "table: the severity of a rule id or prefix"),
    "rules": Key("rules", _folders, "folders with further rule files"),
    "paths": Key("only_paths", _words, "globs of the files spoken of; '!' before one excludes"),
    "min-confidence": Key("min_confidence", _word(CONFIDENCES), "hide what is less sure"),
    "fail-on": Key("fail_on", _word((*SEVERITIES, "never")), "exit with 1 from this severity on"),
    "baseline": Key("baseline", _file, "file of known findings"),
}
"""All that a config file may say."""
