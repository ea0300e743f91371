"""Modules whose exit leaves callbacks of call_rcu() to run code that is gone, whichever of their files has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece, TreeView
from patchlint.model import Step
from patchlint.syntax import Head

_CALLS_BACK: Final = re.compile(rb"\bcall_rcu(?:_hurry)?\s*\(")
_EXIT: Final = re.compile(rb"^module_exit\s*\(\s*(\w+)\s*\)", re.MULTILINE)
_OBJECTS: Final = re.compile(
    r"^(?P<module>[\w-]+?)-(?:y|m|objs|\$\([^)\n]*\))[ \t]*[:+]?=[ \t]*(?P<list>(?:[^\n\\]|\\\n)*)", re.MULTILINE
)
"""``module-y += part.o other.o`` of a Makefile."""
_OBJECT: Final = re.compile(r"([\w./-]+)\.o\b")
_COMMENT: Final = re.compile(r"#[^\n]*")
_LISTS: Final = frozenset(("obj", "lib", "always", "targets"))
"""What looks like a module in a Makefile and lists modules."""


def unbarred_exit(view: TreeView, piece: Piece, head: Head) -> Iterator[TreeFault]:
    """The exit function of a module of several files, one of which calls call_rcu() while none waits for it.

    A file that does both is its own business: see ``FileFacts.unbarred``.
    """
    source = piece.unit.source
    if head.name.encode() not in _exits(source):
        return
    if _CALLS_BACK.search(source) or b"rcu_barrier" in source:
        return
    others = [path for path in module_files(view, piece.path) if path != piece.path]
    texts = [(path, view.source(path) or b"") for path in others]
    if any(b"rcu_barrier" in text for _, text in texts):
        return
    for path, text in texts:
        called = _CALLS_BACK.search(text)
        if called is not None:
            yield _fault(piece, head, path, text.count(b"\n", 0, called.start()) + 1)
            return


@lru_cache(maxsize=16)  # every function of a file asks
def _exits(source: bytes) -> frozenset[bytes]:
    return frozenset(_EXIT.findall(source))


def module_files(view: TreeView, path: str) -> Sequence[str]:
    """The C files of which the Makefile beside ``path`` makes one module with it."""
    place = PurePosixPath(path)
    for name in ("Makefile", "Kbuild"):
        text = view.source(str(place.parent / name))
        if text is not None:
            return tuple(str(place.parent / f"{part}.c") for part in _parts(text, place.stem))
    return ()


def _parts(makefile: bytes, stem: str) -> Iterator[str]:
    modules: dict[str, set[str]] = {}
    for match in _OBJECTS.finditer(_COMMENT.sub("", makefile.decode("utf-8", "replace"))):
        if match["module"] not in _LISTS:
            modules.setdefault(match["module"], set()).update(_OBJECT.findall(match["list"]))
    for parts in modules.values():
        if stem in parts:
            yield from sorted(parts)


def _fault(piece: Piece, head: Head, path: str, line: int) -> TreeFault:
    message = (
        f"{head.name}() ends the module but does not wait with rcu_barrier() for the callbacks of call_rcu() in {path}"
    )
    first = piece.file_line(head.start)
    trace = (
        Step(path, line, "call_rcu() leaves a callback of the module to be run later"),
        Step(piece.path, first, f"when {head.name}() returns, the code of the callback is gone"),
    )
    return TreeFault("no-barrier", "medium", message, piece.path, first, 1, head.name, head.name, trace)
