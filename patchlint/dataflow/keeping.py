"""What is held is put or given to stay: stores, structures that are shared, callees that may keep what they get."""

from __future__ import annotations

from patchlint.dataflow.holds import Holds
from patchlint.dataflow.log import Log
from patchlint.dataflow.machine import Machine
from patchlint.dataflow.matching import SEED
from patchlint.dataflow.report import Policy
from patchlint.dataflow.state import Hold, State
from patchlint.dataflow.values import Value
from patchlint.effects import ANY, NEG, POS, ZERO, Effect, Summary
from patchlint.ir import Expr, Name


class Keeping:
    """The part of ``Calls`` that tells which holds others can end from now on."""

    machine: Machine
    policy: Policy
    log: Log
    holds: Holds
    pointers: frozenset[str]
    """Parameters and locals that are pointers."""

    def keeps(self, st: State, value: Value) -> bool:
        """Whether a reference to, or the memory of, ``value`` is held."""
        return any(hold.owned and hold.obj == value for hold in st.holds)

    def by_value(self, st: State, expr: Expr) -> Value:
        """What is given or stored: a structure of the function's own that something is held on, as it is called then.

        ``kern_path(name, &path); x->path = path;``
        """
        if st.holds and isinstance(expr, Name):
            whole = self.machine.values.make("&l", expr.id)
            if any(self.machine.values.root[hold.obj] == whole for hold in st.holds):
                return whole
        return self.machine.value(st, expr)

    def stored(self, st: State, value: Value, pos: int, *, local: bool, text: str = "") -> None:
        """A pointer was put somewhere: holds on it can be ended from there."""
        if local or not st.holds:
            return
        self.log.pos = pos
        roots = self.machine.values.root
        element = self.holds.of_array(st, value) if self.machine.values.nodes[value][0] == "ld" else -1
        given = {roots[value], roots[st.holds[element].obj]} if element >= 0 else {roots[value]}
        if self._store_holds(st, given):
            st.mark("store", pos, text)

    def cleared(self, st: State, value: Value) -> None:
        """The place that a pointer was put into got NULL: where it was the only one, nobody finds it there any more."""
        if value not in st.mem.values():
            st.holds = tuple(
                h._replace(stored=False) if h.stored and h.obj == value and self._kept_once(h) else h for h in st.holds
            )

    def _kept_once(self, hold: Hold) -> bool:
        return sum(site == hold.site for site, _ in self.log.kept) == 1

    def _store_holds(self, st: State, given: set[Value], pos: int = -1) -> bool:
        """Holds on what is derived from ``given`` can be ended from elsewhere; whether there were any.

        Not what the call at ``pos`` itself took. A pointer that is stored carries one hold of a sort with it: of
        several on one object the last one taken, a loop's last.
        """
        roots = self.machine.values.root
        chosen: dict[tuple[Value, str], int] = {}
        for index, hold in enumerate(st.holds):
            free = hold.owned and not hold.stored and roots[hold.obj] in given and hold.site != pos
            if free and ((hold.obj, hold.family) not in chosen or hold.scope >= 0):
                chosen[hold.obj, hold.family] = index
        if chosen:
            picked = set(chosen.values())
            self.log.kept.update((st.holds[i].site, self.log.pos) for i in picked)
            st.holds = tuple(h._replace(stored=True) if i in picked else h for i, h in enumerate(st.holds))
        return bool(chosen)

    def _keeps(self, summary: Summary, index: int) -> bool:
        """Whether the callee may keep what an argument leads to: nothing says that it only looks at it."""
        if summary.origin != "model":
            return not summary.looks
        return (summary.args[index] if index < len(summary.args) else summary.rest) != "borrow"

    def _registers(self, effect: Effect) -> bool:
        return effect.action == "acquire" and (
            "registers" in effect.flags or self.holds.family(effect.resource).sort == "reg"
        )

    def leads_to(self, st: State, owner: Value, value: Value) -> bool:
        """Whether ``value`` is found by way of ``owner``: read from it, or put there."""
        values = self.machine.values
        if not values.leaves[owner].isdisjoint(values.leaves[value]):
            return True
        return any(kept == value and values.root[at] == values.root[owner] for at, kept in st.mem.items())

    def _absorb(self, st: State, args: list[Value]) -> None:
        """What a structure holds that describes a new thing belongs to that thing (``dma_buf_export(&info)``)."""
        given = set[Value]().union(*(self._inside_local(st, value) for value in args))
        if given:
            roots = self.machine.values.root
            st.holds = tuple(h for h in st.holds if not (h.owned and roots[h.obj] in given))

    def _share_local(self, st: State, args: list[Value], pos: int = -1) -> None:
        """A structure of this function's own that holds pointers is given away: they may be kept through it."""
        given = set[Value]().union(*(self._inside_local(st, value) for value in args))
        self._store_holds(st, given, pos)

    def _may_take(self, st: State, value: Value, result: Value = -1) -> None:
        """An unknown call may keep what it is given, by policy; who fails, with its ``result``, has not kept it."""
        roots = self.machine.values.root
        given = {roots[value], *self._inside_local(st, value)}
        kept: list[Hold] = []
        for hold in st.holds:
            taken = hold.owned and roots[hold.obj] in given and hold.site != self.log.pos
            taken = taken and not self._elsewhere(hold, value)
            if not taken or not self._may_be_kept(hold) or self.holds.paid_for(st, hold):
                kept.append(hold)
                continue
            if (hold.site, self.log.pos) in self.policy.lent:
                st.mark("lend", self.log.pos, "", site=hold.site)
                kept.append(hold)
                continue
            self.log.kept.add((hold.site, self.log.pos))
            if hold.doubt and hold.cond == result:
                kept.append(hold)  # it was given to this very call in two ways
            elif self._left_by_failure(st, hold, result):
                failed = NEG | ZERO if self.machine.target in self.pointers else NEG | POS
                kept.append(hold._replace(cond=result, mask=failed, doubt=True))
        st.holds = tuple(kept)

    def _left_by_failure(self, st: State, hold: Hold, result: Value) -> bool:
        """Whether a call that fails leaves ``hold`` to whoever took it: not what travels, whatever comes of it.

        Nor what the result takes the place of (``inode = fill(inode)``): nobody has it any more when that fails.
        """
        if result < 0 or hold.stored or self.policy.travels is None or hold.family in self.policy.travels:
            return False
        roots, replaced = self.machine.values.root, st.env.get(self.machine.target)
        if replaced is not None and roots[replaced] == roots[hold.obj]:
            return False
        site = self.log.sites.get((hold.site, hold.family))
        settled = hold.cond < 0 or not self.machine.facts.mask(st, hold.cond) & ~hold.mask
        return settled and site is not None and site.by in ("result", "out")

    def _kept_by(self, st: State, value: Value) -> None:
        """A callee's body keeps what it is given; where a path before the change ended it all the same, it may."""
        self._may_take(st, value)
        self._store_holds(st, {self.machine.values.root[value]})

    def _may_be_kept(self, hold: Hold) -> bool:
        """Whether by policy an unknown call may keep what was taken where ``hold`` was."""
        return self.policy.unknown_takes or any(first <= hold.site < last for first, last in self.policy.fresh)

    def _elsewhere(self, hold: Hold, value: Value) -> bool:
        """A reference taken on one member is not what a call gets that is given another member's address."""
        site = self.log.sites.get((hold.site, hold.family))
        return site is not None and site.by == "arg" and hold.obj != value and not hold.stored

    def _inside_local(self, st: State, value: Value) -> set[Value]:
        """What a structure holds whose address is given away."""
        root = self.machine.values.root
        if self.machine.values.nodes[root[value]][0] not in ("&l", "&g"):
            return set()
        inside = {root[v] for a, v in st.mem.items() if root[a] == root[value]}
        return inside | {root[v] for a, v in st.mem.items() if root[a] in inside}

    def _share(self, st: State, args: list[Value], pos: int, result: Value, when: int) -> None:
        """What was registered can be found by others: holds on the things it is part of count as stored.

        Not where the call, by its ``result``, has failed.  Not what it was made of: the hold that begins here tells at
        each exit what becomes of that.
        """
        roots = self.machine.values.root
        given = {roots[value] for value in args}.union(*(self._inside_local(st, value) for value in args))
        given -= {roots[h.obj] for h in st.holds if h.site == pos and (h.owned or h.cond >= 0)}
        kept: list[Hold] = []
        for hold in st.holds:
            if not hold.owned or hold.site == pos or roots[hold.obj] not in given:
                kept.append(hold)
                continue
            failed = None
            if when != ANY and hold.family != SEED and not hold.stored:
                failed = self.holds.conditional(st, hold, result, ANY & ~when)
            if failed is None:
                kept.append(hold._replace(stored=True))
            else:
                kept += (failed._replace(cond=result, mask=when, stored=True), failed)
        st.holds = tuple(kept)
