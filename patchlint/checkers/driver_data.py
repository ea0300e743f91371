"""Memory that setting a device up allocates and stores with it, and that taking it down forgets to free."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from patchlint.checkers.evaluated import assigned, calls_in, nodes_in, struct_pointers
from patchlint.checkers.tree_change import new_findings
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece, TreeView
from patchlint.effects import Summary
from patchlint.ir import Assign, Call, Expr, Function, Member, Name, Unary
from patchlint.model import Finding, Step
from patchlint.ruleset import Models, Ruleset
from patchlint.syntax import Head

_MEMORY: Final = "kmalloc"
_ENDS: Final = re.compile(
    r"(?:^|_)(?:\w*free\w*|\w*put|unregister\w*|unref|release\w*|destroy\w*|del(?!_timer)|delete|cleanup|detach|remove|exit|unbind|"
    r"drop|call_rcu)(?:_|$|\d)"
)
"""Calls that by their name may end what they are given, or what the member that they are given is part of."""


class _Words(NamedTuple):
    """Names from the models: what stores driver data and loads it, the operations that set up and take down."""

    set: tuple[str, ...]
    get: tuple[str, ...]
    setup: tuple[str, ...]
    teardown: tuple[str, ...]
    models: Models


class _Kept(NamedTuple):
    """A setup function that allocates a structure, stores it as driver data and frees it where it fails itself."""

    head: Head
    struct: str
    call: Call


def check_driver_data(before: TreeView | None, after: TreeView, ruleset: Ruleset) -> tuple[Finding, ...]:
    """Findings in the functions that differ between two states, without what ``before`` has as well."""
    table = ruleset.models.table("driver_data")
    words = _Words(
        table.get("set", ()), table.get("get", ()), table.get("setup", ()), table.get("teardown", ()), ruleset.models
    )

    def faults(view: TreeView, piece: Piece, head: Head) -> Iterator[TreeFault]:
        return _faults(view, piece, head, words)

    return new_findings(before, after, faults, "pairing", ruleset, "mem")


def _faults(view: TreeView, piece: Piece, head: Head, words: _Words) -> Iterator[TreeFault]:
    setup = _setup(piece, head, words)
    text = piece.unit.source[head.start : head.end]
    if setup is None or not any(name.encode() in text for name in words.get):
        return
    function = piece.unit.function(head)
    loaded = _loaded(function, words)
    kept = _kept(piece, setup, words) if loaded else None
    if kept is None:
        return
    types = dict(struct_pointers(function))
    for name, call in loaded.items():
        left = types.get(name) == kept.struct and not _may_end(view, piece, function, name, words)
        if left and not _freed_elsewhere(piece, kept, head, words):
            yield _fault(piece, head, name, call, kept)


def _setup(piece: Piece, head: Head, words: _Words) -> str | None:
    """The operation that sets up what ``head`` takes down: of the same table."""
    for table in piece.unit.tables:
        fields = {entry.field: entry.function for entry in table.entries}
        if any(fields.get(field) == head.name for field in words.teardown):
            return next((fields[field] for field in words.setup if field in fields), None)
    return None


def _results(function: Function) -> Iterator[tuple[str, Call]]:
    """Variables that get what a call returns."""
    return ((name, value) for name, value in assigned(function) if isinstance(value, Call))


def _loaded(function: Function, words: _Words) -> Mapping[str, Call]:
    return {name: call for name, call in _results(function) if call.name in words.get}


def _kept(piece: Piece, setup: str, words: _Words) -> _Kept | None:
    head = next((one for one in piece.unit.heads if one.name == setup), None)
    if head is None:
        return None
    function = piece.unit.function(head)
    types = dict(struct_pointers(function))
    calls = calls_in(function)
    stored = {_variable(call, 1) for call in calls if call.name in words.set}
    freed = {_variable(call, 0) for call in calls if _frees(words.models.summary(call.name))}
    for name, call in _results(function):
        if name in stored & freed and name in types and _allocates(words.models.summary(call.name)):
            return _Kept(head, types[name], call)
    return None


def _variable(call: Call, at: int) -> str:
    """The variable that an argument is; "" where it is something else."""
    arg = call.args[at] if len(call.args) > at else None
    return arg.id if isinstance(arg, Name) else ""


def _allocates(summary: Summary | None) -> bool:
    return summary is not None and any(
        effect.action == "acquire" and effect.resource == _MEMORY and effect.place.root == "result"
        for effect in summary.effects
    )


def _frees(summary: Summary | None) -> bool:
    return summary is not None and any(
        effect.action == "release" and effect.resource == _MEMORY for effect in summary.effects
    )


# ------------------------------------------------------------------ who may end it


def _may_end(view: TreeView, piece: Piece, function: Function, name: str, words: _Words) -> bool:
    """Whether the function may free what ``name`` points to, or leave it to someone who does.

    What other functions of the file free, their own text tells.
    """
    here = {head.name for head in piece.unit.heads}
    if any(isinstance(n, Assign) and isinstance(n.value, Name) and n.value.id == name for n in nodes_in(function)):
        return True
    return any(
        _call_may_end(view, call, at, arg, name, words)
        for call in calls_in(function) if call.name not in here for at, arg in enumerate(call.args)
    )  # fmt: skip


def _call_may_end(view: TreeView, call: Call, at: int, arg: Expr, name: str, words: _Words) -> bool:
    if isinstance(arg, Name) and arg.id == name:
        summary = words.models.summary(call.name)
        if summary is not None:
            return _frees(summary) or any(e.action == "take" and e.place.index == at for e in summary.effects)
        return _body_may_end(view, call.name, at)
    return _inside(arg, name) and _ENDS.search(call.name) is not None


def _inside(arg: Expr, name: str) -> bool:
    """``&name->member``: who is given a member may free what it is part of."""
    inner = arg.operand if isinstance(arg, Unary) and arg.op == "&" else None
    while isinstance(inner, Member):
        inner = inner.base
    return isinstance(inner, Name) and inner.id == name


def _body_may_end(view: TreeView, callee: str, at: int) -> bool:
    """Whether a function may end what its parameter ``at`` points to, as far as the names of its calls tell."""
    bodies = view.bodies(callee)
    return not bodies or any(_text_may_end(text, at) for _, text in bodies)


def _text_may_end(text: bytes, at: int) -> bool:
    head, _, body = text.partition(b"{")
    params = head[head.rfind(b"(", 0, head.rfind(b")")) + 1 : head.rfind(b")")].split(b",")
    word = re.search(rb"(\w+)\s*(?:\[\w*\])?\s*$", params[at]) if at < len(params) else None
    if word is None:
        return True
    given = re.compile(rb"\b(\w+)\s*\(\s*(?:%s\s*[,)]|&\s*%s\s*(?:->|\.))" % (word[1], word[1]))
    names = {match[1].decode("ascii", "replace") for match in given.finditer(body)}
    return any(_ENDS.search(name) for name in names)


def _freed_elsewhere(piece: Piece, kept: _Kept, head: Head, words: _Words) -> bool:
    """Whether another function of the file frees such a structure; those of other drivers in it do not count."""
    others = {
        entry.function for table in piece.unit.tables for entry in table.entries
        if entry.field in (*words.setup, *words.teardown)
    }  # fmt: skip
    for other in piece.unit.heads:
        text = piece.unit.source[other.start : other.end]
        if b"free" in text and other.name not in (kept.head.name, head.name, *others):
            if re.search(rb"container_of\([^;]*\bstruct %s\b" % kept.struct.encode(), text):
                return True
            function = piece.unit.function(other)
            types = dict(struct_pointers(function))
            frees = (call for call in calls_in(function) if _frees(words.models.summary(call.name)))
            if any(types.get(_variable(call, 0)) == kept.struct for call in frees):
                return True
    return False


def _fault(piece: Piece, head: Head, name: str, call: Call, kept: _Kept) -> TreeFault:
    line = piece.file_line(head.end)
    message = (
        f"memory '{name}' that {kept.head.name}() allocates and stores with the device is not freed by {head.name}(), "
        f"nor is any struct {kept.struct} elsewhere in the file"
    )
    trace = (
        Step(piece.path, piece.file_line(kept.call.pos), f"allocated here by {kept.call.name}()"),
        Step(piece.path, piece.file_line(call.pos), f"{call.name}() gives it back to who takes the device down"),
        Step(piece.path, line, f"{head.name}() ends while it is still there"),
    )
    return TreeFault("leak", "medium", message, piece.path, line, 1, head.name, name, trace)
