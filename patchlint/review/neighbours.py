"""What the other files of a folder tell of the pointers that one file reads: a driver's readers are in many files."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import PurePosixPath
from typing import Final

from patchlint.callgraph import TreeIndex
from patchlint.checkers import FileFacts, file_facts
from patchlint.checkers.file_facts import Place

_MACROS: Final = (
    "rcu_dereference", "rcu_assign_pointer", "rcu_dereference_protected", "rtnl_dereference", "RCU_INIT_POINTER",
)  # fmt: skip
_MOST_FILES: Final = 40
"""Files of a folder that are read; one with more of them that use RCU is a library of many things."""
_POINTER: Final = rb"(?m)^[ \t][\w \t]*?[ \t](__rcu[ \t]*)?\*[ \t]*%s(?:\[\w*\])?;"
"""A member that is a pointer, marked or not."""
_MEMBER: Final = re.compile(rb"(?:->|\.)\s*([A-Za-z_]\w*)")
_MOST_TOLD: Final = 64
"""Files, each before and after, whose facts are kept: all functions of a file ask for the same."""
_FORMAT: Final = 1

_Folder = dict[str, dict[Place, int]]
"""File to the places that RCU's macros are used on in it, and how often."""


class Neighbours:
    """Answers for a tree without the series: one read of a folder serves all its files, and later runs."""

    def __init__(self, index: TreeIndex) -> None:
        self._index = index
        self._folders: dict[str, _Folder] = {}
        self._declared: dict[tuple[str, str], bool] = {}
        self._told: dict[tuple[str, bytes], FileFacts] = {}

    def facts(self, path: str, source: bytes) -> FileFacts:
        """The facts of a file, with those pointers of its folder that it reads and a header declares ``__rcu``."""
        if (path, source) not in self._told:
            if len(self._told) >= _MOST_TOLD:
                self._told.clear()
            self._told[path, source] = self._facts(path, source)
        return self._told[path, source]

    def _facts(self, path: str, source: bytes) -> FileFacts:
        own = file_facts(source)
        folder = self._folder(str(PurePosixPath(path).parent)) if self._index.store.state else {}
        counts = Counter[Place]()
        for file, places in folder.items():
            if file != path:
                counts.update(places)
        members = {name.decode() for name in _MEMBER.findall(source)} if counts else set[str]()
        found = {place for place in counts if place[1] in members and self._is_declared(place[1], path)}
        if not found:
            return own
        known = Counter(dict(own.pointers))
        return own._replace(pointers=frozenset((known + Counter({place: counts[place] for place in found})).items()))

    def _is_declared(self, field: str, path: str) -> bool:
        """Whether what the file includes declares the member ``__rcu``, and no other pointer of that name."""
        if (field, path) not in self._declared:
            holding = frozenset(self._index.files_with_word(field))
            near = (self._index.read(one) or b"" for one in holding & (self._index.includes(path) | {path}))
            marks = {match[1] for text in near for match in re.finditer(_POINTER % field.encode(), text)}
            self._declared[field, path] = bool(marks) and all(marks)
        return self._declared[field, path]

    def _folder(self, folder: str) -> _Folder:
        if folder not in self._folders:
            key = f"{_FORMAT}\0{self._index.store.state}\0{folder}".encode()
            text = self._index.store.remembered("places", key)
            found = _decoded(text) if text is not None else None
            if found is None:
                found = self._look(folder)
                rows = {file: [[*place, count] for place, count in places.items()] for file, places in found.items()}
                self._index.store.remember("places", key, json.dumps(rows))
            self._folders[folder] = found
        return self._folders[folder]

    def _look(self, folder: str) -> _Folder:
        """Read the files of a folder that use RCU's macros."""
        files = {
            path for word in _MACROS for path in self._index.files_with_word(word) if path.rpartition("/")[0] == folder
        }
        if len(files) > _MOST_FILES:
            return {}
        facts = ((path, file_facts(self._index.read(path) or b"")) for path in sorted(files))
        return {path: {place: count for place, count in one.pointers if all(place)} for path, one in facts}


def _decoded(text: str) -> _Folder | None:
    """The rows of an earlier run; None when they are of another form."""
    try:
        rows = json.loads(text)
        return {file: {(owner, field): count for owner, field, count in places} for file, places in rows.items()}
    except (ValueError, TypeError, AttributeError):
        return None
