"""The C files that ``patchlint file`` is asked to review."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from patchlint.host.tree import MAX_FILE
from patchlint.model import NotAnalysed, PatchlintError

_SUFFIXES = (".c", ".h")
_SNIFFED = 8192
"""Bytes in which git, too, looks for a NUL to tell binary files."""


class SourceFile(NamedTuple):
    """A file to review: where it is, and its name in the tree (what findings call it)."""

    path: Path
    name: str


def source_files(paths: Sequence[Path], root: Path | None) -> tuple[SourceFile, ...]:
    """The files among ``paths`` and all C files below the folders among them, links left out, each once.

    A path is looked up here first, then below ``root``.  Raises PatchlintError for one that is nowhere, and when
    there is no C file at all.
    """
    found = dict.fromkeys(file for path in paths for file in _below(_located(path, root)))
    if not found:
        raise PatchlintError(f"{', '.join(map(str, paths))}: no C files")
    return tuple(SourceFile(path, _name(path, root)) for path in found)


def read_source(file: SourceFile) -> bytes | NotAnalysed:
    """Contents of the file, or why there are none."""
    try:
        status = file.path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE:
            return NotAnalysed(file.name, "", "no regular file, or too large")
        data = file.path.read_bytes()
        return NotAnalysed(file.name, "", "a binary file") if b"\0" in data[:_SNIFFED] else data
    except OSError as error:
        return NotAnalysed(file.name, "", error.strerror or "cannot be read")


def _located(path: Path, root: Path | None) -> Path:
    if path.exists():
        return path
    if root is not None and not path.is_absolute() and (root / path).exists():
        return root / path
    raise PatchlintError(f"{path}: no such file or folder")


def _below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for top, folders, names in os.walk(path):
        folders[:] = sorted(folder for folder in folders if folder != ".git")
        for name in sorted(names):
            full = Path(top, name)
            if name.endswith(_SUFFIXES) and not full.is_symlink():
                yield full


def _name(path: Path, root: Path | None) -> str:
    real = path.resolve()
    return real.relative_to(root).as_posix() if root is not None and real.is_relative_to(root) else path.as_posix()
