"""Whether a callee may sleep, as far as its straight-line code tells."""

from __future__ import annotations

from patchlint.callgraph.callees import Bodies, Callee

MAX_DEPTH = 4
_MANY_CALLS = 12
"""A "no" needs a look at everything that is called, so bodies that call more are not asked for one."""

_SLEEPING_GFP = ("GFP_KERNEL", "GFP_USER", "GFP_HIGHUSER", "GFP_NOFS", "GFP_NOIO", "__GFP_DIRECT_RECLAIM")
_ATOMIC_GFP = ("GFP_ATOMIC", "GFP_NOWAIT", "0")


class Sleeping:
    """Answers about the callees of one state of a tree; memoised."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self._known: dict[tuple[str, str, int], str] = {}

    def sleeps(self, name: str, file: str, depth: int = 0) -> str:
        """Whether a call may sleep.

        "yes" when a sleeping call is surely reached, "argN" when the flags in argument N decide, "no", "unknown".
        """
        modelled = self.bodies.models.summary(name)
        if modelled is not None:
            return modelled.sleeps
        if self.bodies.models.macro(name) is not None:
            return "no"
        if depth >= MAX_DEPTH:
            return "unknown"
        # With the depth: an answer that was cut short must not stand for one that looks further.
        key = (name, file, depth)
        if key not in self._known:
            self._known[key] = self.agreed(self.bodies.find(name, file), depth)
        return self._known[key]

    def agreed(self, callees: tuple[Callee, ...], depth: int = 0) -> str:
        """What all of some bodies say."""
        answers = {self._body(callee, depth) for callee in callees}
        return answers.pop() if len(answers) == 1 else "unknown"

    def _body(self, callee: Callee, depth: int) -> str:
        flow, file = callee.flow, callee.definition.file
        if flow is None:
            return self.sleeps(callee.alias, file, depth + 1) if callee.alias else "unknown"
        taken: set[str] = set()
        for call in flow.sure:
            if self._lets_go(call.name, taken):
                return "unknown"
            answer = gfp_sleeps(self.sleeps(call.name, file, depth + 1), call.args)
            if answer == "yes" or answer.startswith("arg"):
                return answer
        few = len(flow.called) <= _MANY_CALLS
        if few and all(name and self.sleeps(name, file, depth + 1) == "no" for name in flow.called):
            return "no"
        return "unknown"

    def _lets_go(self, name: str, taken: set[str]) -> bool:
        """Whether a call ends a lock or section that the body has not ``taken``: its caller's, to sleep without it."""
        summary = self.bodies.models.summary(name)
        for effect in summary.effects if summary is not None else ():
            family = self.bodies.models.family(effect.resource)
            if family is None or family.kind not in ("lock", "rcu"):
                continue
            if effect.action == "release" and effect.resource not in taken:
                return True
            taken.add(effect.resource)
        return False


def gfp_sleeps(sleeps: str, args: tuple[str, ...]) -> str:
    """The answer of a call from that of its callee, whose "argN" means the flags among ``args``."""
    if not sleeps.startswith("arg"):
        return sleeps
    at = int(sleeps[3:])
    text = args[at] if at < len(args) else ""
    if text.startswith("arg"):
        return text
    first = text.split(" ")[0]
    if first in _ATOMIC_GFP:
        return "no"
    return "yes" if first in _SLEEPING_GFP else "unknown"
