"""Which hold a release ends: the same value, another name of the same thing, or what was kept somewhere."""

from __future__ import annotations

from patchlint.dataflow.callees import Callees
from patchlint.dataflow.log import Log
from patchlint.dataflow.state import Facts, Hold, State
from patchlint.dataflow.values import Value, Values
from patchlint.effects import ANY, POS, Effect, Family

OWNED = frozenset(("ref", "mem"))
"""Kinds of hold that go with a pointer; the others are states of the thing pointed to."""

SEED = "param"
"""Family of the hold that a summarised function starts with on each pointer parameter."""


class Matching:
    """The part of ``Holds`` that compares what is released with what is held."""

    values: Values
    facts: Facts
    callees: Callees
    log: Log
    _unknown: dict[str, Family]

    def family(self, name: str) -> Family:
        """The family called ``name``; one of kind "pair" with nothing else known for an unmodelled one."""
        found = self.callees.family(name)
        if found is None:
            found = self._unknown.setdefault(name, Family(name, "pair", name, ()))
        return found

    def ends(self, released: str, held: str) -> bool:
        """Whether a release of family ``released`` ends a hold of family ``held``."""
        if released == held:
            return True
        fam = self.family(held)
        return released in fam.compatible or held in self.family(released).compatible

    def find(self, st: State, family: str, obj: Value) -> tuple[int, bool]:
        """Index of the hold that a release of ``obj`` ends (-1 for none), and whether it surely is that one."""
        root = self.values.root
        best, rank = -1, 0
        for index, hold in enumerate(st.holds):
            if not self.ends(family, hold.family) or (hold.family == "param" and self._part(family, hold.obj, obj)):
                continue
            score = self._likeness(st, hold, obj)
            if score and hold.family == family:
                score += 1
            if score and (hold.cond < 0 or not self.facts.mask(st, hold.cond) & ~hold.mask):
                score += 1
            if score and not hold.stored:
                score += 1
            if score and not self._half_told(hold):
                score += 1  # what this function took itself is what it gives back
            if score and hold.scope < 0 and hold.stored:
                score += 1  # of two on a loop's element the one that was handed on is not what an early exit drops
            if score and score >= rank:
                best, rank = index, score
        if best < 0:
            inside = self._counter_inside(st, obj) if self.family(family).kind == "ref" else -1
            if inside >= 0:
                return inside, True
            elements = [i for i, h in enumerate(st.holds) if self.ends(family, h.family) and self._alike(h.obj, obj)]
            if elements:
                return elements[-1], False
            same = self.of_array(st, obj, family)
            if same >= 0:
                return same, False
            stored = [i for i, h in enumerate(st.holds) if h.owned and h.stored and self.ends(family, h.family)]
            stored = [i for i in stored if self._may_be_found(st, st.holds[i].obj, obj)]
            if stored and self.values.nodes[root[obj]][0] in ("ld", "s", "phi"):
                return stored[-1], False
        return best, True

    def _may_be_found(self, st: State, kept: Value, obj: Value) -> bool:
        """Whether ``obj`` may be ``kept``, which was put where others find it: not another thing taken here.

        Nor what is read from inside of it, or from a field of another name than those it was put into.
        """
        key = self.values.nodes[obj]
        place = key[1] if key[0] == "ld" else key[2] if key[0] == "phi" else -1
        if not isinstance(place, int) or place < 0:
            return key[0] != "s" or not any(key[1] == pos for pos, _ in self.log.sites)
        place = self._array(place)
        if self.values.root[place] == self.values.root[kept]:
            return False
        names = {self._field(address) for address, value in st.mem.items() if value == kept}
        return not names or "" in names or self._field(place) in {"", *names}

    def _array(self, address: Value) -> Value:
        """The array that an address is in; itself for any other. ``p->ptrs[i]`` reads as an element of what is read."""
        nodes = self.values.nodes
        while nodes[address][0] == "e":
            address = nodes[address][1]
            if nodes[address][0] == "ld":
                address = nodes[address][1]
        return address

    def _field(self, address: Value) -> str:
        """Name of the field that an address is, or is an element of; "" for none."""
        key = self.values.nodes[self._array(address)]
        return str(key[2]) if key[0] == "f" else ""

    def _half_told(self, hold: Hold) -> bool:
        """Whether a body alone says that it is taken, and nothing beside that body gives such a thing back."""
        site = self.log.sites.get((hold.site, hold.family))
        return site is not None and "unpaired" in site.flags

    def _part(self, family: str, whole: Value, obj: Value) -> bool:
        """What is freed is a thing that lives inside of a parameter, not the parameter."""
        return obj != whole and self.family(family).kind == "mem"

    def _by_text(self, st: State, effect: Effect, subject: str) -> int:
        """Index of the only hold that was taken in the very words of this release: -1 for none.

        ``request_region(r->start)``, ``release_region(r->start)``: a state of a number, whatever became of ``r``.
        """
        if self.family(effect.resource).kind != "pair" or not subject:
            return -1
        sites = ((i, self.log.sites.get((h.site, h.family))) for i, h in enumerate(st.holds) if not h.owned)
        same = (effect.resource, subject)
        found = [i for i, site in sites if site is not None and (site.family, site.subject) == same]
        return found[0] if len(found) == 1 else -1

    def _through_body(self, st: State, effect: Effect, obj: Value) -> int:
        """Index of the hold on the same thing where one half was understood from a body: -1 for none.

        What a wrapper takes as memory another gives back as a count: the names of the two need not fit.  Memory that
        is freed in the way of another sort is freed all the same, and with the drop of the count that it began with.
        """
        ended = self.family(effect.resource)
        if ended.kind not in OWNED and not ended.handle:
            return -1
        roots = self.values.root
        for index, hold in enumerate(st.holds):
            site = self.log.sites.get((hold.site, hold.family))
            by_body = "inferred" in effect.flags or (site is not None and site.where != "")
            by_body |= hold.obj == obj and self.family(hold.family).kind == "mem"
            if hold.owned and by_body and hold.family != SEED and roots[hold.obj] == roots[obj]:
                return index
        return -1

    def _through_member(self, st: State, effect: Effect, obj: Value) -> int:
        """Index of the hold on the thing that ``obj`` was read from, where such a release ends it: -1 for none.

        ``fput(sock->file)``: the reference goes with what the thing is known by.
        """
        key = self.values.nodes[obj]
        place = self.values.nodes[key[1]] if key[0] == "ld" else key
        if key[0] != "ld" or place[0] != "f" or self.family(effect.resource).kind != "ref":
            return -1
        held = (
            i for i, h in enumerate(st.holds)
            if h.obj == place[1] and h.family not in (effect.resource, SEED) and self.ends(effect.resource, h.family)
        )  # fmt: skip
        return next(held, -1)

    def _memory_of_count(self, st: State, effect: Effect, obj: Value) -> int:
        """Index of the hold on memory that goes with the count it was born with: a copy of a counted object; or -1."""
        if self.family(effect.resource).kind != "ref" or effect.when != ANY:
            return -1
        same = (i for i, h in enumerate(st.holds) if h.obj == obj and self.family(h.family).kind == "mem")
        return next(same, -1)

    def _counter_inside(self, st: State, obj: Value) -> int:
        """Index of the hold on a count that is a part of ``obj``, which is dropped as a whole; -1 for none."""
        roots = self.values.root
        for index, hold in enumerate(st.holds):
            site = self.log.sites.get((hold.site, hold.family))
            counted = site is not None and site.by in ("arg", "born") and self.family(hold.family).kind == "ref"
            if counted and hold.obj != obj and roots[hold.obj] == obj and hold.family != "param":
                return index
        return -1

    def _likeness(self, st: State, hold: Hold, obj: Value) -> int:
        """How surely ``hold`` is on ``obj``: 0 not at all, 9 the same value."""
        if hold.obj == obj:
            return 9
        roots = self.values.root
        if self.family(hold.family).kind in ("lock", "rcu"):
            return self._same_lock(hold.obj, obj)
        if roots[hold.obj] == roots[obj]:
            return 6
        equal = self.values.binary("==", hold.obj, obj)
        if equal is not None and st.facts.get(equal) == POS:
            return 6
        return 0

    def _alike(self, a: Value, b: Value) -> bool:
        """Whether two values are found by the same path through elements of the same array, whichever they are."""
        x, y = self.values.nodes[a], self.values.nodes[b]
        through = False
        while a != b and x[0] == y[0] and x[0] in ("ld", "f", "in", "e") and (x[0] == "e" or x[2:] == y[2:]):
            through |= x[0] == "e"
            a, b = x[1], y[1]
            x, y = self.values.nodes[a], self.values.nodes[b]
        return a == b and through

    def of_array(self, st: State, obj: Value, family: str = "") -> int:
        """Index of the hold, by default of any family, on an element of the own array that ``obj`` is, or is from."""
        nodes, root = self.values.nodes, self.values.root
        place = nodes[obj][1] if nodes[obj][0] == "ld" else obj
        if nodes[root[place]][0] != "&l" or (place != obj and nodes[place][0] != "e"):
            return -1
        elements = {v for a, v in st.mem.items() if root[a] == root[place] and nodes[a][0] == "e"}
        held = (i for i, h in enumerate(st.holds) if h.owned and h.obj in elements)
        return max((i for i in held if not family or self._fits(family, st.holds[i])), default=-1)

    def _fits(self, family: str, hold: Hold) -> bool:
        """Whether a release of ``family`` may end ``hold``, whose own family was perhaps told from a body."""
        site = self.log.sites.get((hold.site, hold.family))
        return self.ends(family, hold.family) or (site is not None and site.where != "")

    def _same_lock(self, held: Value, obj: Value) -> int:
        """Locks are one when their last fields are called alike (PRECISION.md: objects under two names)."""
        a, b = self.values.nodes[held], self.values.nodes[obj]
        if a[0] == "f" and b[0] == "f" and a[2] == b[2]:
            return 3
        if "s" in (a[0], b[0]) or "ld" in (a[0], b[0]):
            return 2
        return 0
