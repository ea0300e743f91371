"""The files of a series before and after each of its patches."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Final, TypeAlias

from patchlint.callgraph import FileScan
from patchlint.model import FileImage, Patch, Series
from patchlint.ruleset import Models
from patchlint.source import AppliedPatch, TreeReader, apply_series
from patchlint.syntax import Define, Unit, defines_in, parse

SOURCE_SUFFIXES = (".c", ".h")

_OWN_HEADER: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_JUMPS: Final = frozenset(("return", "goto", "break", "continue"))
_MAX_HEADERS: Final = 12
_MAX_HEADER: Final = 400_000
"""Bytes of a header that is searched for macros: generated register lists are longer and define no control flow."""


@dataclass(frozen=True, eq=False)
class View:
    """One file in one state. ``fragments`` is empty for a whole file (see :class:`FileImage`).

    Two views are equal when they are the same object; :class:`Views` makes one for each content.
    """

    path: str
    source: bytes
    fragments: tuple[tuple[int, int, str], ...] = ()
    origin: tuple[int, ...] = ()
    """For each line the patch of the series that wrote it, 0 for the base; () where all is the base's."""
    macros: Callable[[], tuple[Define, ...]] = tuple
    """Function-like macros of the headers of its own that the file includes; asked when it is parsed."""
    keep: frozenset[str] = frozenset()
    """Names that mean something by themselves: macros of theirs are not looked into."""

    def added(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Runs of lines between two offsets that the series wrote, as (first, past the last) offset from ``start``."""
        if not any(self.origin):
            return ()
        at = self.source.rfind(b"\n", 0, start) + 1
        runs: list[tuple[int, int]] = []
        for line in range(self.source.count(b"\n", 0, at), len(self.origin)):
            after = (self.source.find(b"\n", at) + 1) or len(self.source)
            if self.origin[line]:
                runs.append((max(at - start, 0), after - start))
            if after >= end:
                break
            at = after
        return tuple(runs)

    @cached_property
    def _beside(self) -> tuple[Define, ...]:
        return self.macros()

    @cached_property
    def unit(self) -> Unit:
        """The file, parsed."""
        return parse(self.source, self.path, fragments=self.fragments, macros=self._beside, keep=self.keep)

    @cached_property
    def bodies(self) -> Mapping[str, str]:
        """The bodies of the function-like macros of the file and of its own headers, by name."""
        return {define.name: define.body for define in (*self.unit.defines, *self._beside)}

    @cached_property
    def scan(self) -> FileScan:
        """The file, scanned for words."""
        return FileScan(self.path, self.source)

    def file_line(self, offset: int) -> int:
        """Line of the real file at a byte offset."""
        line = self.unit.lines.line(offset)
        for image_line, real_line, _ in reversed(self.fragments):
            if line >= image_line:
                return line - image_line + real_line
        return line


@dataclass(frozen=True, slots=True)
class FileChange:
    """What one patch does to one C file: the view before (None: new file) and after (None: deleted)."""

    image: FileImage
    before: View | None
    after: View | None


State: TypeAlias = Mapping[str, tuple[View, ...]]
"""All C files of the series at one moment, by path.

One view for a whole file; for fragments all that the patches up to there have shown, the newest first."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One patch, applied, with the state of all files of the series before and after it."""

    order: int
    patch: Patch
    applied: AppliedPatch
    changes: tuple[FileChange, ...]
    before: State
    after: State

    @property
    def whole(self) -> bool:
        """Whether the patch was applied to whole files, so that states before and after hang together."""
        return self.applied.applied in ("exact", "offset")


class Views:
    """Views by path, content and fragments, so that a file that two patches see is parsed once.

    ``reader`` finds the headers that files include as ``"name.h"``, ``models`` tells the names that mean something.
    """

    def __init__(self, reader: TreeReader | None = None, models: Models | None = None) -> None:
        self._reader = reader
        self._models = models
        self._keep = frozenset(models.names()) if models is not None else frozenset()
        self._latest: dict[str, bytes] = {}
        self._defines: dict[bytes, tuple[Define, ...]] = {}
        self._known: dict[tuple[str, bytes, tuple[tuple[int, int, str], ...]], View] = {}

    def view(
        self, path: str, source: bytes, fragments: tuple[tuple[int, int, str], ...] = (), origin: tuple[int, ...] = ()
    ) -> View:
        """The view of this content, made at most once."""
        key = (path, source, fragments)
        found = self._known.get(key)
        if found is None:
            macros = partial(self._macros, path, source)
            found = self._known[key] = View(path, source, fragments, origin, macros, self._keep)
        if not fragments:
            self._latest[path] = source
        return found

    def _telling(self, defines: tuple[Define, ...]) -> tuple[Define, ...]:
        """Those that leave, jump, take or give back, and those made of them: all others are as harmless as calls."""
        words = {define.name: set(_WORD.findall(define.body)) for define in defines}
        telling = {name for name, body in words.items() if body & _JUMPS or any(map(self._acts, body))}
        grown = True
        while grown:
            more = {name for name, body in words.items() if name not in telling and body & telling}
            telling |= more
            grown = bool(more)
        return tuple(define for define in defines if define.name in telling)

    def _acts(self, word: str) -> bool:
        summary = self._models.summary(word) if self._models is not None else None
        return summary is not None and bool(summary.effects)

    def _macros(self, path: str, source: bytes) -> tuple[Define, ...]:
        """What the headers define that lie beside the file: as the series leaves them, else as the tree has them."""
        found: list[Define] = []
        for match in islice(_OWN_HEADER.finditer(source), _MAX_HEADERS):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1].decode(errors="replace")))
            header = self._latest.get(name)
            if header is None and self._reader is not None and not name.startswith(("/", "..")):
                header = self._reader.read(name)
            if header is not None and len(header) <= _MAX_HEADER:
                if header not in self._defines:
                    self._defines[header] = self._telling(defines_in(header))
                found.extend(self._defines[header])
        return tuple(found)


def stages(series: Series, reader: TreeReader | None, views: Views) -> tuple[Stage, ...]:
    """Apply the patches one upon the other, in memory."""
    applied = tuple(apply_series(series, reader))
    changes = [tuple(_change(image, views) for image in done.images if _is_source(image)) for done in applied]
    state = _base(changes)
    found: list[Stage] = []
    for order, (patch, done) in enumerate(zip(series.patches, applied, strict=True)):
        before, state = state, _advance(state, changes[order], done)
        found.append(Stage(order, patch, done, changes[order], before, state))
    return tuple(found)


def _is_source(image: FileImage) -> bool:
    return image.path.endswith(SOURCE_SUFFIXES)


def _change(image: FileImage, views: Views) -> FileChange:
    before = None if image.pre is None else views.view(image.pre_path, image.pre, image.pre_fragments)
    after = None if image.post is None else views.view(image.path, image.post, image.post_fragments, image.origin)
    return FileChange(image, before, after)


def _advance(state: State, changes: Sequence[FileChange], applied: AppliedPatch) -> State:
    """The state after one patch."""
    moved = dict(state)
    gone = {path for path, data in applied.after.items() if data is None}
    for change in changes:
        renamed = change.before is not None and change.after is not None and change.before.path != change.after.path
        if change.before is not None and (change.before.path in gone or (renamed and change.before.fragments)):
            moved.pop(change.before.path, None)
        if change.after is not None:
            older = moved.get(change.after.path, ()) if change.after.fragments else ()
            moved[change.after.path] = (change.after, *(view for view in older if view != change.before))
    return moved


def _base(changes: Sequence[Sequence[FileChange]]) -> State:
    """The files of the series as the base has them: what the first patch that touches a file finds there."""
    base: dict[str, tuple[View, ...]] = {}
    made: set[str] = set()
    for change in (change for patch in changes for change in patch):
        if change.before is not None and change.before.path not in made:
            base.setdefault(change.before.path, (change.before,))
        made.update(view.path for view in (change.before, change.after) if view is not None)
    return base
