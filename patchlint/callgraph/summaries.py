"""What a call does, from the callee's body: models first, then the flows of the bodies that it reaches.

Only what every definition that may be meant agrees on is said.  A parameter *borrows* when nothing that can be reached
from it keeps it: the greatest fixpoint over the graph of parameters handed on, so recursion needs no special case.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from hashlib import sha1
from typing import NamedTuple

from patchlint.callgraph.bodies import cut, read
from patchlint.callgraph.flows import VERSION, Flow, ParamFlow, decode, encode, flow_of
from patchlint.callgraph.index import TreeIndex
from patchlint.callgraph.scan import Definition
from patchlint.effects import Cleanup, Family, GuardClass, Loop, Macro, Summary
from patchlint.ruleset import Models

MAX_DEPTH = 6
"""How far a parameter is followed from call to call."""
MAX_BODIES = 60
"""Bodies looked at to answer one question; beyond it the answer is unknown."""

_MAX_ALIASES = 4

_SLEEPING_GFP = ("GFP_KERNEL", "GFP_USER", "GFP_HIGHUSER", "GFP_NOFS", "GFP_NOIO", "__GFP_DIRECT_RECLAIM")
_ATOMIC_GFP = ("GFP_ATOMIC", "GFP_NOWAIT", "GFP_NOWAIT | __GFP_NOWARN", "GFP_ATOMIC | __GFP_NOWARN", "0")


class _Callee(NamedTuple):
    """A definition that a name may mean, with its facts."""

    definition: Definition
    flow: Flow | None
    """None when it cannot be read."""
    alias: str
    never_returns: bool


_Node = tuple[str, int, int]
"""A parameter: file, offset of the definition, number."""


class TreeCallees:
    """Summaries for one state of a tree. Memoises; ask :meth:`within` for the port of one file."""

    def __init__(self, models: Models, index: TreeIndex, digest: str = "") -> None:
        self.models = models
        self.index = index
        self._digest = digest
        self._callees: dict[tuple[str, str], tuple[_Callee, ...]] = {}
        self._read: dict[tuple[str, int], _Callee] = {}
        self._borrows: dict[_Node, bool] = {}
        self._sleeps: dict[tuple[str, str], str] = {}
        self._summaries: dict[tuple[str, str], Summary | None] = {}

    def with_overlay(self, files: Mapping[str, bytes | None]) -> TreeCallees:
        """The same tree with other files before it."""
        return TreeCallees(self.models, self.index.with_overlay(files), self._digest)

    def within(self, file: str) -> FileCallees:
        """What names mean in ``file``."""
        return FileCallees(self, file)

    def summary(self, name: str, file: str) -> Summary | None:
        """What a call of ``name`` in ``file`` does; None when neither a model nor a body tells."""
        found = self.models.summary(name)
        if found is not None:
            return found
        key = (name, file)
        if key not in self._summaries:
            self._summaries[key] = self._infer(name, file)
        return self._summaries[key]

    # ----------------------------------------------------------------- bodies

    def callees(self, name: str, file: str) -> tuple[_Callee, ...]:
        """The definitions that ``name`` may mean in ``file``."""
        key = (name, file)
        if key not in self._callees:
            self._callees[key] = tuple(self._callee(found) for found in self.index.resolve(name, file))
        return self._callees[key]

    def _callee(self, found: Definition) -> _Callee:
        place = (found.file, found.start)
        if place not in self._read:
            self._read[place] = self._make(found)
        return self._read[place]

    def _make(self, found: Definition) -> _Callee:
        scan = self.index.scan(found.file)
        body = cut(scan, found) if scan is not None else None
        if scan is None or body is None:
            return _Callee(found, None, "", False)
        if body.alias:
            return _Callee(found, None, body.alias, False)
        key = sha1(f"{VERSION} {self._digest}\n".encode() + body.text, usedforsecurity=False).digest()
        flow = self._recall(key)
        if flow is None:
            function = read(body, found.file)
            flow = flow_of(function, self.models) if function is not None else Flow((), called=("?",))
            self.index.store.remember("flow", key, encode(flow))
        head = body.text[: max(0, body.text.find(b"{"))]
        return _Callee(found, flow if flow.called != ("?",) else None, "", b"__noreturn" in head)

    def _recall(self, key: bytes) -> Flow | None:
        text = self.index.store.remembered("flow", key)
        if text is None:
            return None
        try:
            return decode(text)
        except (ValueError, TypeError):
            return None

    # -------------------------------------------------------------- inference

    def _infer(self, name: str, file: str, depth: int = 0) -> Summary | None:
        found = self.callees(name, file)
        if not found:
            return None
        if len(found) == 1 and found[0].alias:
            return self._aliased(name, found[0], depth)
        flows = [callee.flow for callee in found if callee.flow is not None]
        if len(flows) != len(found):
            return None
        first = found[0].definition
        returns = {flow.returns_param for flow in flows}
        given_back = returns.pop() if len(returns) == 1 else -1
        count = min(len(flow.params) for flow in flows)
        return Summary(
            name=name,
            args=tuple(self._argument(name, file, at, given_back) for at in range(count)),
            returns_arg=given_back,
            never_returns=all(callee.never_returns for callee in found),
            sleeps=self.sleeps(name, file),
            origin="body",
            where=f"{first.file}:{first.line}",
        )

    def _aliased(self, name: str, callee: _Callee, depth: int) -> Summary | None:
        found = self.models.summary(callee.alias)
        if found is None and depth < _MAX_ALIASES:
            found = self._infer(callee.alias, callee.definition.file, depth + 1)
        return found._replace(name=name) if found is not None else None

    def _argument(self, name: str, file: str, at: int, given_back: int) -> str:
        # A result that points into the argument would be taken for another thing: leave it open what becomes of it.
        if at != given_back and self._gives_back(name, file, at):
            return "unknown"
        return "borrow" if self.borrows(name, file, at) else "unknown"

    def borrows(self, name: str, file: str, at: int) -> bool:
        """Whether a call of ``name`` in ``file`` surely keeps nothing of its argument ``at``."""
        roots = [(callee, at) for callee in self.callees(name, file)]
        return bool(roots) and all(self._node_borrows(callee, at) for callee, at in roots)

    def _node_borrows(self, callee: _Callee, at: int) -> bool:
        root = _node(callee, at)
        if root not in self._borrows:
            seen = self._reach(callee, at)
            if seen is None:
                self._borrows[root] = False
            else:
                # Nothing that keeps can be reached from any of them.
                self._borrows.update(dict.fromkeys(seen, True))
        return self._borrows[root]

    def _reach(self, callee: _Callee, at: int) -> set[_Node] | None:
        """All parameters that this one is handed on to; None when one of them may be kept or is unknown."""
        seen: set[_Node] = set()
        work = deque([(callee, at, 0)])
        bodies: set[tuple[str, int]] = set()
        while work:
            one, index, depth = work.popleft()
            node = _node(one, index)
            if node in seen or self._borrows.get(node):
                continue
            seen.add(node)
            bodies.add(node[:2])
            flow = one.flow
            param = _parameter(flow, index) if flow is not None else None
            if self._borrows.get(node) is False or param is None or param.kept:
                return None
            if any(self._gives_back(name, one.definition.file, at) for name, at in param.stored_results):
                return None
            for name, argument in param.passed:
                judged = self._modelled(name, argument)
                if judged is False:
                    return None
                if judged is None:
                    further = self.callees(name, one.definition.file) if depth < MAX_DEPTH else ()
                    if not further or len(bodies) > MAX_BODIES:
                        return None
                    work.extend((each, argument, depth + 1) for each in further)
        return seen

    def _gives_back(self, name: str, file: str, at: int, depth: int = 0) -> bool:
        """Whether the result of a call may be, or point into, its argument; unknown counts as yes."""
        callees = self.callees(name, file)
        if not callees or depth > MAX_DEPTH:
            return True
        for callee in callees:
            param = _parameter(callee.flow, at) if callee.flow is not None else None
            if param is None or param.returned:
                return True
            inner = callee.definition.file
            if any(self._gives_back(called, inner, arg, depth + 1) for called, arg in param.returned_results):
                return True
        return False

    def _modelled(self, name: str, at: int) -> bool | None:
        """Whether a modelled call borrows its argument; None when there is no model."""
        summary = self.models.summary(name)
        if summary is None:
            return None
        for effect in summary.effects:
            place = effect.place
            if place.root == "arg" and place.index == at and effect.action in ("release", "take") and not place.deref:
                family = self.models.family(effect.resource)
                if effect.action == "take" or family is None or family.kind in ("ref", "mem"):
                    return False
        return (summary.args[at] if at < len(summary.args) else summary.rest) == "borrow"

    # ------------------------------------------------------------------ sleep

    def sleeps(self, name: str, file: str, depth: int = 0) -> str:
        """Whether a call may sleep: "yes" when a sleeping call is surely reached, "argN", "no", or "unknown"."""
        modelled = self.models.summary(name)
        if modelled is not None:
            return modelled.sleeps
        macro = self.models.macro(name)
        if macro is not None:
            return "no"
        key = (name, file)
        if key not in self._sleeps:
            if depth >= MAX_DEPTH:
                return "unknown"
            self._sleeps[key] = "unknown"  # what recursion sees of itself
            self._sleeps[key] = self._sleeps_of(self.callees(name, file), depth)
        return self._sleeps[key]

    def _sleeps_of(self, callees: tuple[_Callee, ...], depth: int) -> str:
        answers = {self._body_sleeps(callee, depth) for callee in callees}
        return answers.pop() if len(answers) == 1 else "unknown"

    def _body_sleeps(self, callee: _Callee, depth: int) -> str:
        flow, file = callee.flow, callee.definition.file
        if flow is None:
            return self.sleeps(callee.alias, file, depth + 1) if callee.alias else "unknown"
        for call in flow.sure:
            answer = gfp_sleeps(self.sleeps(call.name, file, depth + 1), call.args)
            if answer == "yes" or answer.startswith("arg"):
                return answer
        # Many bodies are looked at for a "no", so only short ones are asked.
        if len(flow.called) <= 12 and all(name and self.sleeps(name, file, depth + 1) == "no" for name in flow.called):
            return "no"
        return "unknown"


def gfp_sleeps(sleeps: str, args: tuple[str, ...]) -> str:
    """The answer of a call from that of its callee, whose "argN" means the flags among ``args``."""
    if not sleeps.startswith("arg"):
        return sleeps
    at = int(sleeps[3:])
    text = args[at] if at < len(args) else ""
    if text.startswith("arg"):
        return text
    if text in _ATOMIC_GFP:
        return "no"
    return "yes" if text.split(" ")[0] in _SLEEPING_GFP else "unknown"


def _parameter(flow: Flow, at: int) -> ParamFlow | None:
    """The flow of an argument; None when there is no parameter for it."""
    if at < len(flow.params):
        return flow.params[at]
    return flow.params[-1] if flow.variadic and flow.params else None


def _node(callee: _Callee, at: int) -> _Node:
    return (callee.definition.file, callee.definition.start, at)


class FileCallees:
    """:class:`patchlint.dataflow.Callees` of one file."""

    def __init__(self, tree: TreeCallees, file: str) -> None:
        self._tree = tree
        self.file = file

    def summary(self, name: str) -> Summary | None:
        """See the port."""
        return self._tree.summary(name, self.file)

    def macro(self, name: str) -> Macro | None:
        """See the port."""
        return self._tree.models.macro(name)

    def loop(self, name: str) -> Loop | None:
        """See the port."""
        return self._tree.models.loop(name)

    def guard(self, name: str) -> GuardClass | None:
        """See the port."""
        return self._tree.models.guard(name)

    def scope_release(self, name: str) -> Cleanup | None:
        """See the port."""
        return self._tree.models.scope_release(name)

    def family(self, resource: str) -> Family | None:
        """See the port."""
        return self._tree.models.family(resource)


