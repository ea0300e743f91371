"""Questions to a tree: who defines, calls, stores, exports a name.

Candidates come from the word scan in the store; every answer is then read off the files themselves.  Files of the
overlay (the images a series makes) stand before those of the tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha1

from patchlint.callgraph.names import choose, include_paths
from patchlint.callgraph.scan import CallSite, Definition, FileScan
from patchlint.callgraph.store import NoStore, Store
from patchlint.callgraph.words import CALLED, DEFINED, EXPORTED, token, tokens

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_VERSION = 1
"""Raised when what counts as a definition changes: where names are defined is remembered between runs."""
_KEPT_SCANS = 600
"""Scanned files kept in memory, about 30 kB each."""


class _Overlay:
    """Files that stand before those of the tree, with their tokens."""

    def __init__(self, files: Mapping[str, bytes | None]) -> None:
        self.files = dict(files)
        self._tokens: dict[str, set[bytes]] = {}

    def with_token(self, word: bytes) -> Iterator[str]:
        """Paths of the files that hold the token."""
        for path, source in self.files.items():
            if source is None or not path.endswith((".c", ".h")):
                continue
            if path not in self._tokens:
                self._tokens[path] = tokens(source)
            if word in self._tokens[path]:
                yield path


class TreeIndex:
    """A tree and an overlay. Asking never fails: an unknown name has no places."""

    def __init__(self, store: Store | None = None, overlay: Mapping[str, bytes | None] | None = None) -> None:
        self.store: Store = store or NoStore()
        self._overlay = _Overlay(overlay or {})
        self._plain: TreeIndex | None = None
        """The tree without any overlay, which knows the files that this one does not change."""
        self._scans: dict[str, FileScan | None] = {}
        self._includes: dict[str, frozenset[str]] = {}
        self._definitions: dict[str, tuple[Definition, ...]] = {}

    def with_overlay(self, files: Mapping[str, bytes | None]) -> TreeIndex:
        """The same tree with other files before it (None: deleted); what is known of the rest is shared."""
        index = TreeIndex(self.store, files)
        index._plain = self._plain or self
        return index

    @property
    def overlay(self) -> Mapping[str, bytes | None]:
        """The files that stand before the tree's."""
        return self._overlay.files

    def read(self, path: str) -> bytes | None:
        """Contents of a file, of the overlay first; None when absent."""
        if path in self._overlay.files:
            return self._overlay.files[path]
        return self.store.read(path)

    def has(self, path: str) -> bool:
        """Whether there is such a C file."""
        if path in self._overlay.files:
            return self._overlay.files[path] is not None
        return self.store.has(path)

    def scan(self, path: str) -> FileScan | None:
        """The scanned file, kept for the next question."""
        if self._plain is not None and path not in self._overlay.files:
            return self._plain.scan(path)
        if path not in self._scans:
            if len(self._scans) >= _KEPT_SCANS:
                self._scans.pop(next(iter(self._scans)))
            source = self.read(path)
            self._scans[path] = None if source is None else FileScan(path, source)
        return self._scans[path]

    def files_with(self, *words: bytes) -> tuple[str, ...]:
        """Paths of the files that hold one of the tokens, ascending."""
        found: set[str] = set()
        for word in words:
            found.update(path for path in self.store.files_with(word) if path not in self._overlay.files)
            found.update(self._overlay.with_token(word))
        return tuple(sorted(found))

    def files_with_word(self, name: str) -> tuple[str, ...]:
        """Paths of the files whose code holds the word."""
        return self.files_with(token(name), token(name, CALLED))

    def scanned(self, paths: Iterable[str]) -> Iterator[FileScan]:
        """The scanned files, without those that are absent."""
        for path in paths:
            scan = self.scan(path)
            if scan is not None:
                yield scan

    def definitions(self, name: str) -> tuple[Definition, ...]:
        """Every definition of a function or macro called ``name``."""
        if name not in self._definitions:
            changed = self._overlay.files
            if self._plain is not None:
                kept = [found for found in self._plain.definitions(name) if found.file not in changed]
                kept += self._defined(name, self._overlay.with_token(token(name, DEFINED)))
                self._definitions[name] = tuple(sorted(kept, key=_place))
            else:
                known = self.store.state and not changed
                self._definitions[name] = self._remembered(name) if known else self._looked_up(name)
        return self._definitions[name]

    def _looked_up(self, name: str) -> tuple[Definition, ...]:
        return tuple(sorted(self._defined(name, self.files_with(token(name, DEFINED))), key=_place))

    def _remembered(self, name: str) -> tuple[Definition, ...]:
        """From an earlier run that saw the tree in this state, else looked up now."""
        parts = "\0".join((str(_VERSION), self.store.state, name))
        key = sha1(parts.encode(), usedforsecurity=False).digest()
        text = self.store.remembered("defined", key)
        try:
            if text is not None:
                return tuple(Definition(*row) for row in json.loads(text))
        except (ValueError, TypeError):
            pass  # a row of another version: looked up and written again
        found = self._looked_up(name)
        self.store.remember("defined", key, json.dumps(found, separators=(",", ":")))
        return found

    def _defined(self, name: str, paths: Iterable[str]) -> Iterator[Definition]:
        return (found for scan in self.scanned(paths) for found in scan.defined(name))

    def resolve(self, name: str, from_file: str = "") -> tuple[Definition, ...]:
        """The definitions that ``name`` may mean in ``from_file``: its own, those it includes, the global ones."""
        own = self.scan(from_file) if from_file else None
        if own is not None and (found := own.defined(name)):
            return found
        return choose(self.definitions(name), from_file, self.includes)

    def includes(self, path: str) -> frozenset[str]:
        """Files that ``path`` includes, directly and by one more step."""
        if self._plain is not None and not self._overlay.files.keys() & {path}:
            return self._plain.includes(path)
        if path not in self._includes:
            direct = self._direct_includes(path)
            self._includes[path] = direct.union(*(self._direct_includes(header) for header in direct))
        return self._includes[path]

    def _direct_includes(self, path: str) -> frozenset[str]:
        source = self.read(path)
        if source is None:
            return frozenset()
        reached = set()
        for name in _INCLUDE.findall(source):
            paths = include_paths(name.decode("utf-8", "replace"), path)
            reached.update([next((one for one in paths if self.has(one)), "")])
        return frozenset(reached - {""})

    def callers(self, name: str, file: str | None = None, limit: int = 0) -> tuple[CallSite, ...]:
        """Call sites of ``name``, by file and line.

        ``file`` is where the function meant is defined: for a static one only that file (a header: those that include
        it) is looked at, and files with a static one of their own are left out.  ``limit`` bounds the files (0: all).
        """
        wanted = self._reach(name, file)
        paths = [path for path in self.files_with(token(name, CALLED)) if wanted is None or path in wanted]
        sites: list[CallSite] = []
        for scan in self.scanned(paths[:limit] if limit else paths):
            if file is not None and scan.path != file and scan.defined(name):
                continue
            sites.extend(scan.calls_of(name))
        return tuple(sites)

    def _reach(self, name: str, file: str | None) -> frozenset[str] | None:
        """Files that can call the ``name`` of ``file``; None for all."""
        scan = self.scan(file) if file else None
        if scan is None or not scan.path.endswith(".c"):
            return None
        own = scan.defined(name)
        return frozenset({scan.path}) if own and all(found.static for found in own) else None

    def callees(self, function: str, file: str | None = None) -> tuple[CallSite, ...]:
        """What a function calls; of all definitions when ``file`` does not settle which."""
        found = self.resolve(function, file) if file else self.definitions(function)
        sites: list[CallSite] = []
        for definition in found:
            scan = self.scan(definition.file)
            if scan is not None:
                sites.extend(scan.calls_in(definition))
        return tuple(sites)

    def exported(self, name: str) -> bool:
        """Whether a module may use it: some file says ``EXPORT_SYMBOL*(name)``."""
        return bool(self.files_with(token(name, EXPORTED)))


def _place(found: Definition) -> tuple[str, int]:
    return (found.file, found.start)
