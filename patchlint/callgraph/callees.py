"""The definitions that a name may mean, with the facts of their bodies."""

from __future__ import annotations

from hashlib import sha1
from typing import NamedTuple

from patchlint.callgraph.bodies import Body, cut, read
from patchlint.callgraph.facts import VERSION, Flow, ParamFlow, decode, encode
from patchlint.callgraph.flows import flow_of
from patchlint.callgraph.index import TreeIndex
from patchlint.callgraph.scan import Definition
from patchlint.ir import Function
from patchlint.ruleset import Models

_UNREADABLE = Flow((), called=("?",))
"""What is remembered of a body that cannot be read, so that it is not tried again."""

_KEPT_FUNCTIONS = 300
"""Lowered bodies kept in memory, about 60 kB each: those that are asked for twice are asked for soon."""


class Callee(NamedTuple):
    """A definition that a name may mean."""

    definition: Definition
    flow: Flow | None
    """None when it cannot be read."""
    body: Body | None = None

    @property
    def place(self) -> tuple[str, int]:
        """What tells it from all others: file and offset."""
        return (self.definition.file, self.definition.start)

    @property
    def alias(self) -> str:
        """For ``#define name other``: the other name."""
        return self.body.alias if self.body is not None else ""

    @property
    def never_returns(self) -> bool:
        """Whether its head says so."""
        return b"__noreturn" in self._head

    @property
    def releases(self) -> bool:
        """Whether its head says that it ends what its caller holds."""
        return b"__releases" in self._head and b"__acquires" not in self._head

    @property
    def _head(self) -> bytes:
        return self.body.text[: max(0, self.body.text.find(b"{"))] if self.body is not None else b""

    def parameter(self, at: int) -> ParamFlow | None:
        """The facts of the parameter that argument ``at`` becomes; None when that is unknown."""
        if self.flow is None:
            return None
        if at < len(self.flow.params):
            return self.flow.params[at]
        return self.flow.params[-1] if self.flow.variadic else None


class Bodies:
    """Finds and reads callees in one state of a tree; keeps what it has read."""

    def __init__(self, models: Models, index: TreeIndex, digest: str, base: Bodies | None = None) -> None:
        self.base = base
        """Those of the tree without overlay, asked about the files that are not in the overlay."""
        self.models = models
        self.index = index
        self.digest = digest
        """Of the models; what is remembered between runs depends on them."""
        self._found: dict[tuple[str, str], tuple[Callee, ...]] = {}
        self._read: dict[tuple[str, int], Callee] = {}
        self._functions: dict[tuple[str, int], Function | None] = {}

    def find(self, name: str, file: str) -> tuple[Callee, ...]:
        """The definitions that ``name`` may mean in ``file``; () when there are none."""
        key = (name, file)
        if key not in self._found:
            self._found[key] = tuple(self.callee(found) for found in self.index.resolve(name, file))
        return self._found[key]

    def callee(self, found: Definition) -> Callee:
        """A definition with the facts of its body."""
        if self.base is not None and found.file not in self.index.overlay:
            return self.base.callee(found)
        place = (found.file, found.start)
        if place not in self._read:
            self._read[place] = self._make(found)
        return self._read[place]

    def function(self, callee: Callee) -> Function | None:
        """The lowered body."""
        if self.base is not None and callee.definition.file not in self.index.overlay:
            return self.base.function(callee)
        if callee.place not in self._functions:
            if len(self._functions) >= _KEPT_FUNCTIONS:
                self._functions.pop(next(iter(self._functions)))
            body = callee.body
            readable = body is not None and not body.alias
            self._functions[callee.place] = read(body, callee.definition.file) if body and readable else None
        return self._functions[callee.place]

    def key(self, *parts: str | bytes) -> bytes:
        """A key to remember something under that follows from the parts and the models."""
        text = b"\0".join(part.encode() if isinstance(part, str) else part for part in (self.digest, *parts))
        return sha1(text, usedforsecurity=False).digest()

    def _make(self, found: Definition) -> Callee:
        scan = self.index.scan(found.file)
        body = cut(scan, found) if scan is not None else None
        if body is None or body.alias:
            return Callee(found, None, body)
        key = self.key(str(VERSION), body.text)
        flow = self._recall(key)
        if flow is None:
            function = self.function(Callee(found, None, body))
            flow = flow_of(function, self.models) if function is not None else _UNREADABLE
            self.index.store.remember("flow", key, encode(flow))
        return Callee(found, None if flow == _UNREADABLE else flow, body)

    def _recall(self, key: bytes) -> Flow | None:
        text = self.index.store.remembered("flow", key)
        if text is None:
            return None
        try:
            return decode(text)
        except (ValueError, TypeError):
            return None
