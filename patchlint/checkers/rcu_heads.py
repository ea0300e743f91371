"""Objects made ready to be freed after a grace period, which nothing ever does: freed at once all the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import basename, dirname
from typing import Final, NamedTuple

from patchlint.checkers.evaluated import assigned, calls_in, struct_pointers
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece, TreeView
from patchlint.ir import Call, Function, Name
from patchlint.model import Step
from patchlint.syntax import Head

_FREES: Final = frozenset(("kfree", "kvfree", "vfree", "kfree_sensitive", "kvfree_sensitive"))
_ANY_FREE: Final = re.compile(rb"\b(?:k|v|kv)free(?:_sensitive)?\s*\(")
_WAITS: Final = re.compile(rb"synchronize_|rcu_barrier|get_state_synchronize|cond_synchronize")
_WAITING: Final = ("synchronize_rcu", "synchronize_net")
_HEAD: Final = re.compile(rb"\bstruct\s+rcu_head\s+(\w+)\s*;")
_MOST_FILES: Final = 40
"""Files that speak of a structure and of some rcu_head; a type known to more is not looked into."""


class _Member(NamedTuple):
    """The rcu_head of a structure."""

    name: str
    path: str
    line: int


def freed_at_once(view: TreeView, piece: Piece, head: Head) -> Iterator[TreeFault]:
    """Plain frees of objects with an ``rcu_head`` that no code of the tree uses: a deferred free was meant."""
    text = piece.unit.source[head.start : head.end]
    if not _ANY_FREE.search(text) or _WAITS.search(text):
        return
    function = piece.unit.function(head)
    if any("rcu_head" in param.type for param in function.params):
        return
    types = dict(struct_pointers(function))
    given = _given(function)
    for call in calls_in(function):
        name = _freed(call)
        if name in types and name in given:
            member = _idle_head(view, types[name])
            if member is not None and not _waited_for(view, piece, member):
                yield _fault(piece, head, call, name, types[name], member)


def _freed(call: Call) -> str:
    """The variable that the call frees; "" for none."""
    if call.name in _FREES and call.args and isinstance(call.args[0], Name):
        return call.args[0].id
    return ""


def _given(function: Function) -> frozenset[str]:
    """Parameters, and variables that a call or macro makes of nothing but one (container_of): whose end this is."""
    params = {param.name for param in function.params if param.pointer}
    made = {
        name
        for name, value in assigned(function)
        if isinstance(value, Call) and value.args and isinstance(value.args[0], Name) and value.args[0].id in params
    }
    return frozenset(params | made)


def _idle_head(view: TreeView, struct: str) -> _Member | None:
    """The ``rcu_head`` of a structure, where every file that knows the structure leaves it alone."""
    if not view.whole:
        return None
    known = frozenset(view.files_with(struct))
    paths = sorted(known & frozenset(view.files_with("rcu_head")), key=lambda path: not path.endswith(".h"))
    member = next(filter(None, (_member(view, path, struct) for path in paths[:_MOST_FILES])), None)
    if member is None:
        return None
    users = known & frozenset(view.files_with(member.name))
    return member if not any(_uses(view.source(path) or b"", member.name) for path in users) else None


def _waited_for(view: TreeView, piece: Piece, member: _Member) -> bool:
    """Some file beside ``piece`` that knows the structure's declaration waits for readers: perhaps before this end."""
    beside, header = dirname(piece.path), basename(member.path).encode()
    waiting = (path for word in _WAITING for path in view.files_with(word) if dirname(path) == beside)
    return any(path == member.path or header in (view.source(path) or b"") for path in waiting)


def _member(view: TreeView, path: str, struct: str) -> _Member | None:
    """The ``rcu_head`` of the structure, if ``path`` declares it."""
    source = view.source(path) or b""
    body = re.search(rb"^struct\s+%s\s*\{(.*?)^\}" % re.escape(struct.encode()), source, re.MULTILINE | re.DOTALL)
    found = _HEAD.search(body[1]) if body is not None else None
    if body is None or found is None:
        return None
    line = source.count(b"\n", 0, body.start(1) + found.start()) + 1
    return _Member(found[1].decode("ascii", "replace"), path, line)


def _uses(source: bytes, member: str) -> bool:
    """Whether some text follows a pointer to a member of that name, or hands its name to a macro or offsetof()."""
    word = re.escape(member.encode())
    return re.search(rb"(?:->|\.)\s*%s\b|,\s*%s\s*[,)]" % (word, word), source) is not None


def _fault(piece: Piece, head: Head, call: Call, name: str, struct: str, member: _Member) -> TreeFault:
    line = piece.file_line(call.pos)
    message = (
        f"'{name}' is freed at once; struct {struct} has an rcu_head '{member.name}' to free it after a grace period, "
        "which nothing uses"
    )
    trace = (
        Step(member.path, member.line, f"struct {struct} can be freed after a grace period"),
        Step(piece.path, line, f"freed here by {call.name}()"),
    )
    column = piece.unit.lines.column(call.pos)
    return TreeFault("idle-head", "medium", message, piece.path, line, column, head.name, name, trace)
