"""Which parameters a callee only borrows.

A parameter borrows when nothing that can be reached from it keeps it: the greatest fixpoint over the graph of
parameters handed on.  It is found by looking for one that keeps, so recursion needs no special case.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from patchlint.callgraph.callees import Bodies, Callee

MAX_DEPTH = 6
"""How far a parameter is followed from call to call."""
MAX_BODIES = 60
"""Bodies looked at to answer one question; beyond it the answer is no."""

_Node = tuple[str, int, int]
"""A parameter: file, offset of the definition, number."""


class Borrowing:
    """Answers about the callees of one state of a tree; memoised."""

    def __init__(
        self, bodies: Bodies, pays: Callable[[Callee, int], bool], base: Borrowing | None = None,
        untouched: Callable[[Callee], bool] = lambda _: False,
    ) -> None:  # fmt: skip
        self.bodies = bodies
        self._pays = pays
        """Whether a body takes a reference of its own for whatever it keeps of a parameter."""
        self._base = base
        self._untouched = untouched
        """Callees for which ``base``, the tree without overlay, has the answer."""
        self._known: dict[_Node, bool] = {}

    def gives_back(self, callee: Callee, at: int, depth: int = 0) -> bool:
        """Whether the result of a call may be, or point into, argument ``at``; unknown counts as yes."""
        param = callee.parameter(at)
        if param is None or param.returned or depth > MAX_DEPTH:
            return True
        inner = callee.definition.file
        return any(self._name_gives_back(called, inner, arg, depth + 1) for called, arg in param.returned_results)

    def _name_gives_back(self, name: str, file: str, at: int, depth: int = 0) -> bool:
        callees = self.bodies.find(name, file)
        return not callees or any(self.gives_back(callee, at, depth) for callee in callees)

    def borrows(self, callee: Callee, at: int) -> bool:
        """Whether a call surely keeps nothing of argument ``at``."""
        if self._base is not None and self._untouched(callee):
            return self._base.borrows(callee, at)
        root = (*callee.place, at)
        if root not in self._known:
            seen = self._reach(callee, at)
            if seen is None:
                self._known[root] = False
            else:
                # Nothing that keeps can be reached from any of them.
                self._known.update(dict.fromkeys((root, *seen), True))
        return self._known[root]

    def lends(self, name: str, at: int, file: str) -> bool:
        """Whether a call of ``name`` in ``file`` surely keeps nothing of argument ``at``."""
        modelled = self._modelled(name, at)
        if modelled is not None:
            return modelled
        found = self.bodies.find(name, file)
        return bool(found) and all(self.borrows(callee, at) for callee in found)

    def gives_up(self, name: str, file: str) -> bool:
        """Whether a body of ``name`` hands one of its parameters to an API that ends it."""
        return any(
            self._ended_by(called, at)
            for callee in self.bodies.find(name, file) if callee.flow is not None
            for param in callee.flow.params for called, at in param.passed
        )  # fmt: skip

    def _ended_by(self, name: str, at: int) -> bool:
        summary = self.bodies.models.summary(name)
        return summary is not None and any(
            e.action in ("release", "take") and e.place.root == "arg" and e.place.index == at and not e.place.deref
            for e in summary.effects
        )

    def tries(self, callee: Callee) -> bool:
        """Whether a body calls an API that takes a reference where there still is one to take."""
        called = map(self.bodies.models.summary, callee.flow.called if callee.flow is not None else ())
        effects = (effect for summary in called if summary is not None for effect in summary.effects)
        return any(effect.action == "acquire" and "conditional" in effect.flags for effect in effects)

    def _reach(self, callee: Callee, at: int) -> set[_Node] | None:
        """All parameters that this one is handed on to; None when one of them may be kept or is unknown."""
        seen: set[_Node] = set()
        work = deque([(callee, at, 0)])
        while work:
            one, index, depth = work.popleft()
            node = (*one.place, index)
            if node in seen or self._known.get(node):
                continue
            if self._base is not None and self._untouched(one):
                if not self._base.borrows(one, index):
                    return None
                continue
            if self._pays(one, index):
                continue
            seen.add(node)
            file, param = one.definition.file, one.parameter(index)
            if self._known.get(node) is False or param is None or param.kept or len(seen) > MAX_BODIES:
                return None
            if any(self._name_gives_back(name, file, arg) for name, arg in param.stored_results):
                return None
            for name, arg in param.passed:
                further = self._further(name, arg, file, depth)
                if further is None:
                    return None
                work.extend((each, arg, depth + 1) for each in further)
        return seen

    def _further(self, name: str, at: int, file: str, depth: int) -> tuple[Callee, ...] | None:
        """The bodies to look at for a call; () when a model says that it borrows, None when it may keep."""
        modelled = self._modelled(name, at)
        if modelled is not None:
            return () if modelled else None
        found = self.bodies.find(name, file) if depth < MAX_DEPTH else ()
        return found or None

    def _modelled(self, name: str, at: int) -> bool | None:
        """Whether a modelled call borrows its argument; None when there is no model."""
        models = self.bodies.models
        summary = models.summary(name)
        if summary is None:
            return None
        for effect in summary.effects:
            place = effect.place
            if place.root != "arg" or place.index != at or place.deref:
                continue
            family = models.family(effect.resource)
            if effect.action == "acquire" and ("registers" in effect.flags or (family and family.sort == "reg")):
                return False  # from now on it is known elsewhere
            if effect.action not in ("release", "take"):
                continue
            if effect.action == "take" or family is None or family.kind in ("ref", "mem"):
                return False
        return (summary.args[at] if at < len(summary.args) else summary.rest) == "borrow"
