"""Rule and model files from the disk: the built-in ones, and the folders of ``--rules``."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from patchlint.model import PatchlintError
from patchlint.ruleset import RuleFile, Ruleset, digest_of, keep, load, restore

_PACKAGE = Path(__file__).resolve().parents[1]


def builtin_folder() -> Path:
    """Where the built-in rules are: inside the wheel, or beside the package in a checkout."""
    inside = _PACKAGE / "rules"
    return inside if inside.is_dir() else _PACKAGE.parent / "rules"


def read_rule_files(extra: Sequence[Path] = ()) -> tuple[RuleFile, ...]:
    """All rule files, the built-in ones first; raises PatchlintError for a folder that is not there or unreadable."""
    home = builtin_folder()
    files = [RuleFile(f"rules/{path.relative_to(home).as_posix()}", path.read_bytes()) for path in _tomls(home)]
    for folder in extra:
        if not folder.is_dir():
            raise PatchlintError(f"{folder}: no such folder of rules")
        found = _tomls(folder)
        if not found:
            raise PatchlintError(f"{folder}: no rule files (*.toml) in this folder")
        files.extend(_read(path) for path in found)
    return tuple(files)


def load_ruleset(extra: Sequence[Path] = (), cache: Path | None = None) -> Ruleset:
    """The rule set of the built-in and ``extra`` files, from ``cache`` (a folder) where it keeps the same files."""
    files = read_rule_files(extra)
    digest = digest_of(files)
    kept = cache / f"rules-{digest[:24]}.json" if cache else None
    if kept is not None and kept.is_file():
        ruleset = restore(kept.read_bytes(), digest)
        if ruleset is not None:
            return ruleset
    ruleset = load(files)
    if kept is not None:
        _write(kept, keep(ruleset))
    return ruleset


def _tomls(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.toml") if path.is_file())


def _read(path: Path) -> RuleFile:
    try:
        return RuleFile(str(path), path.read_bytes(), extra=True)
    except OSError as error:
        raise PatchlintError(f"{path}: {error.strerror}") from None


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all; a cache that cannot be written is only a slower start."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".rules-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except OSError:
        return
