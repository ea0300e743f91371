"""In which context a function runs: what all of its known callers hold around their calls.

A must-analysis over each caller's control-flow graph: a family counts where every path to the call has taken it, and
not given it back, by calls whose effect does not depend on their result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from patchlint.callgraph.callees import Callee
from patchlint.callgraph.flows import expressions_of, graphs
from patchlint.callgraph.scan import CallSite, Definition
from patchlint.callgraph.summaries import FileCallees, TreeCallees
from patchlint.callgraph.words import token
from patchlint.cfg import Block, Cfg, EnterGuard, LeaveGuard, Op, walk
from patchlint.dataflow import Callees
from patchlint.effects import ANY, Summary
from patchlint.ir import Call, Expr, Function

MAX_SITES = 30
"""Call sites looked at; a function with more runs in any context, as far as this tells."""
MAX_DEPTH = 2
"""How far up callers are asked for the context that they run in themselves."""
_KINDS = ("lock", "rcu")

_Depths = dict[str, int]
"""Family to the number of times it is held on every path."""
_WORD = re.compile(rb"[A-Za-z_]\w*")
_OPENS = re.compile(rb"\s*+\(")
_EXPORTED = re.compile(rb"EXPORT_\w*SYMBOL\w*\(\s*$")


class _Step(NamedTuple):
    """A call, or the begin or end of a scope (""), and by how much it changes the depths of families."""

    call: str
    changes: tuple[tuple[str, int], ...]


class Locking(NamedTuple):
    """What a function does with locks and sections."""

    held: Mapping[str, frozenset[str]]
    """Families that it holds itself at each of its calls, by the name that is called."""
    let_go: frozenset[str]
    """Those that it gives back somewhere without having taken them: its caller's."""


NO_LOCKS = Locking({}, frozenset())


class Contexts:
    """Answers for one state of a tree; memoised."""

    def __init__(self, callees: TreeCallees) -> None:
        self._callees = callees
        self._known: dict[tuple[str, str], frozenset[str]] = {}
        self._locks: dict[tuple[str, int], Locking | None] = {}

    def held(self, function: str, file: str, depth: int = 0) -> frozenset[str]:
        """Families that every known call of the function of this file holds; none when a caller may be unknown."""
        key = (function, file)
        if key not in self._known:
            self._known[key] = frozenset()  # what recursion sees of itself
            found = self._held(function, file, depth)
            if depth:
                # Cut short by the depth it was asked at: another question may look further.
                del self._known[key]
                return found
            self._known[key] = found
        return self._known[key]

    def _held(self, function: str, file: str, depth: int) -> frozenset[str]:
        index = self._callees.index
        sites = index.callers(function, file, limit=MAX_SITES)
        if not sites or len(sites) > MAX_SITES or self._address_taken(function, file):
            return frozenset()
        common: frozenset[str] | None = None
        for site in dict.fromkeys((site.file, site.function) for site in sites):
            here = self._at(CallSite(site[0], 0, site[1], function, 0), depth)
            common = here if common is None else common & here
            if not common:
                return frozenset()
        return common or frozenset()

    def _at(self, site: CallSite, depth: int) -> frozenset[str]:
        """Families held at all calls in one caller, those of its own context among them."""
        scan = self._callees.index.scan(site.file)
        definitions = scan.defined(site.function) if scan is not None else ()
        found = [self._locking(definition) for definition in definitions]
        known = [locking for locking in found if locking is not None]
        if not known or len(known) != len(found):
            return frozenset()
        own = self.held(site.function, site.file, depth + 1) if depth < MAX_DEPTH else frozenset()
        dropped = frozenset[str]().union(*(locking.let_go for locking in known))
        held = (locking.held.get(site.name, frozenset()) for locking in known)
        return frozenset.intersection(*held) | (own - dropped)

    def _locking(self, definition: Definition) -> Locking | None:
        """What a function does with locks; None for a macro and for what cannot be read."""
        place = (definition.file, definition.start)
        if place not in self._locks:
            callee = self._callees.bodies.callee(definition)
            self._locks[place] = self._read(callee) if definition.kind == "function" else None
        return self._locks[place]

    def _read(self, callee: Callee) -> Locking | None:
        if callee.flow is None or callee.body is None:
            return None
        callees = _LockCallees(self._callees, callee.definition.file)
        called = (callees.summary(name) for name in callee.flow.called if name)
        guards = (callees.guard(word.decode()) for word in set(_WORD.findall(callee.body.text)))
        if not any(any(_changes(summary, callees)) for summary in called if summary is not None) and not any(guards):
            return NO_LOCKS  # most callers: their bodies need not be read
        function = self._callees.bodies.function(callee)
        return None if function is None else locking_of(function, callees)

    def _address_taken(self, function: str, file: str) -> bool:
        """Whether the function may be called through a pointer: its name stands somewhere without a call."""
        index = self._callees.index
        scan = index.scan(file)
        static = scan is not None and file.endswith(".c") and all(one.static for one in scan.defined(function))
        paths = (file,) if static else index.files_with(token(function))
        return any(
            not _OPENS.match(one.code, at + len(function.encode()))
            and not _EXPORTED.search(one.code, max(0, at - 60), at)
            for one in index.scanned(paths)
            for at in one.mentions(function)
        )


class _LockCallees(FileCallees):
    """Models, and bodies of those callees only whose name speaks of a lock: reading them all would take too long."""

    def __init__(self, tree: TreeCallees, file: str) -> None:
        super().__init__(tree, file, levels=1)
        self._models = tree.models

    def summary(self, name: str) -> Summary | None:
        """See the port."""
        return super().summary(name) if "lock" in name else self._models.summary(name)


def locking_of(function: Function, callees: Callees) -> Locking:
    """What the function holds at its calls, in all variants, and what it gives back without having taken it."""
    held: dict[str, frozenset[str]] = {}
    let_go: set[str] = set()
    for cfg in graphs(function):
        steps = [tuple(_steps(block, callees)) for block in cfg.blocks]
        for at, entry in _entries(cfg, steps).items():
            depths = dict(entry)
            for step in steps[at]:
                here = frozenset(family for family, depth in depths.items() if depth > 0)
                held[step.call] = held.get(step.call, here) & here
                let_go.update(family for family, by in step.changes if by < 0 and family not in here)
                _change(depths, step)
    return Locking(held, frozenset(let_go))


def _entries(cfg: Cfg, steps: Sequence[Sequence[_Step]]) -> Mapping[int, _Depths]:
    """What is held on every path to the start of each block."""
    entries: dict[int, _Depths] = {0: {}}
    work = [0]
    while work:
        at = work.pop()
        after = dict(entries[at])
        for step in steps[at]:
            _change(after, step)
        for following in cfg.successors(at):
            old = entries.get(following)
            new = after if old is None else {name: min(depth, after.get(name, 0)) for name, depth in old.items()}
            new = {name: depth for name, depth in new.items() if depth > 0}
            if new != old:
                entries[following] = new
                work.append(following)
    return entries


def _steps(block: Block, callees: Callees) -> Iterator[_Step]:
    """The calls of a block in order."""
    for op in block.ops:
        yield from _scope(op, callees)
        for expr in expressions_of(op):
            yield from _calls(expr, callees)
    for expr in expressions_of(block.term):
        yield from _calls(expr, callees)


def _scope(op: Op, callees: Callees) -> Iterator[_Step]:
    if isinstance(op, EnterGuard | LeaveGuard):
        guard = callees.guard(op.name)
        if guard is not None and guard.family:
            yield _Step("", ((guard.family, 1 if isinstance(op, EnterGuard) else -1),))


def _calls(expr: Expr, callees: Callees) -> Iterator[_Step]:
    # Inner calls are made first.
    for node in reversed(walk(expr)):
        if isinstance(node, Call):
            summary = callees.summary(node.name) if node.name else None
            yield _Step(node.name, tuple(_changes(summary, callees)) if summary is not None else ())


def _changes(summary: Summary, callees: Callees) -> Iterator[tuple[str, int]]:
    for effect in summary.effects:
        family = callees.family(effect.resource)
        if family is None or family.kind not in _KINDS:
            continue
        if effect.action == "acquire" and effect.when == ANY:
            yield effect.resource, 1
        elif effect.action == "release":
            yield from ((name, -1) for name in (effect.resource, *family.compatible))


def _change(depths: _Depths, step: _Step) -> None:
    for family, by in step.changes:
        depths[family] = max(0, min(4, depths.get(family, 0) + by))
