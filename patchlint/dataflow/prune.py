"""Forgetting what no later code can ask: paths that differ in nothing else are one."""

from __future__ import annotations

from typing import Final

from patchlint.dataflow.liveness import Needs
from patchlint.dataflow.state import State
from patchlint.dataflow.values import Value, Values

_NOTHING: Final = frozenset[Value]()


class Pruner:
    """Prunes states where blocks begin; remembers which values are asked for from each block on."""

    def __init__(self, needs: Needs, values: Values) -> None:
        self._needs = needs
        self._values = values
        self._asked: dict[int, dict[Value, bool]] = {block: {} for block in needs.live}

    def prune(self, block: int, st: State) -> None:
        """Forget what code from ``block`` on cannot ask."""
        live, asked = self._needs.live[block], self._needs.asked[block]
        for name in st.env.keys() - live:
            del st.env[name]
        if st.facts or st.mem or st.tags:
            self._knowledge(block, st, asked)

    def _knowledge(self, block: int, st: State, asked: frozenset[str]) -> None:
        kept = {h.cond for h in st.holds if h.cond >= 0}
        kept.update([h.obj for h in st.holds])
        nodes, leaves = self._values.nodes, self._values.leaves
        for name, value in st.env.items():
            if name in asked:
                kept.add(value)
                # What settles its truth: ``flag = x != 3;``
                while nodes[value][0] in ("not", "perr0"):
                    value = nodes[value][1]
                    kept.add(value)
        named = {*st.env.values(), *kept}
        reach = _NOTHING.union(*[leaves[value] for value in named])
        words = self._asked[block]
        for key in list(st.facts):
            value = key if key >= 0 else ~key
            if value not in kept:
                known = words.get(value)
                if known is None:
                    known = words[value] = self._asks(value, asked)
                if not known or not leaves[value] <= reach:
                    del st.facts[key]
        for address in [a for a in st.mem if not leaves[a] <= reach]:
            del st.mem[address]
        if st.tags:
            named.update(st.mem.values())
            for value in [v for v in st.tags if v not in named and not self._near(v, named)]:
                del st.tags[value]

    def _asks(self, value: Value, asked: frozenset[str]) -> bool:
        """Whether a later condition may compute ``value`` again."""
        if not self._values.operands(self._values.nodes[value]):
            return False
        words = self._values.words(value)
        return not words or bool(words & asked)

    def _near(self, value: Value, named: set[Value]) -> bool:
        """Whether ``value`` is a field of something named: ``p->buf`` while p lives."""
        nodes = self._values.nodes
        key = nodes[value]
        return key[0] == "ld" and any(o in named for o in (key[1], *self._values.operands(nodes[key[1]])))
