"""A tree in memory behind the index's port."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1

from patchlint.callgraph import TreeIndex, tokens


class MemoryStore:
    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = {path: text.encode() for path, text in files.items()}
        self.tokens = {path: tokens(source) for path, source in self.files.items()}
        self.memory: dict[tuple[str, bytes], str] = {}
        self.state = sha1(repr(sorted(self.files.items())).encode()).hexdigest()

    def files_with(self, token: bytes) -> tuple[str, ...]:
        return tuple(sorted(path for path, found in self.tokens.items() if token in found))

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def has(self, path: str) -> bool:
        return path in self.files

    def remembered(self, kind: str, key: bytes) -> str | None:
        return self.memory.get((kind, key))

    def remember(self, kind: str, key: bytes, value: str) -> None:
        self.memory[kind, key] = value


def index_of(**files: str) -> TreeIndex:
    """An index of files named by keyword: ``drivers_a_c`` is drivers/a.c, ``include_b_h`` include/b.h."""
    return TreeIndex(MemoryStore({path_of(name): text for name, text in files.items()}))


def path_of(name: str) -> str:
    *folders, stem, suffix = name.split("_")
    return "/".join([*folders, f"{stem}.{suffix}"])
