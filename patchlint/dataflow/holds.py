"""Taking, finding and ending holds; the log of what happened."""

from __future__ import annotations

from patchlint.dataflow.callees import Callees
from patchlint.dataflow.log import Log
from patchlint.dataflow.matching import OWNED, SEED, Matching
from patchlint.dataflow.report import Event, Released, Site
from patchlint.dataflow.state import Facts, Hold, State
from patchlint.dataflow.values import Value, Values
from patchlint.effects import ANY, POS, Effect, Family

COUNTED = "counted"
"""Tag of what has one count more than it came with: who gives it up once may go on."""

_MAX_SAME = 2
"""Holds of one place in one state, the last ones: a loop that takes without end must converge."""


class Holds(Matching):
    """Operations on the holds of a state."""

    def __init__(self, values: Values, facts: Facts, callees: Callees, log: Log) -> None:
        self.values = values
        self.facts = facts
        self.callees = callees
        self.log = log
        self._unknown: dict[str, Family] = {}

    # taking ---------------------------------------------------------------

    def acquire(self, st: State, hold: Hold, site: Site) -> None:
        """Add ``hold``; reports taking again what does not nest."""
        fam = self.family(hold.family)
        if not fam.nests and fam.kind == "lock" and site.by != "loop":
            self._again(st, hold, site)
        if site.where and fam.kind == "lock" and any(h.family == hold.family and h.obj == hold.obj for h in st.holds):
            return  # a helper that let go of the lock and took it again, as far as its body tells
        if not fam.nests and fam.kind == "lock" and hold.cond < 0:
            # Taken plainly while it is held: some call in between has let go of it, else this would wait for itself.
            st.holds = tuple(h for h in st.holds if h.family != hold.family or h.obj != hold.obj)
        self.log.sites.setdefault((site.pos, hold.family), site)
        if "anew" in site.flags:
            st.holds = tuple(h for h in st.holds if (h.family, h.obj) != (hold.family, hold.obj))
        same = [h for h in st.holds if h.site == hold.site and h.family == hold.family]
        if same and fam.kind == "pair" and not fam.nests and not hold.owned:
            # A state of one object, set anew in a turn of a loop.
            st.holds = tuple(h for h in st.holds if h.obj != hold.obj or h not in same)
            same = [h for h in same if h.obj != hold.obj]
        if same:
            kept = 0 if site.by == "out" else 1 - _MAX_SAME
            gone = {id(h) for h in (same[:kept] if kept else same)}
            st.holds = tuple(h for h in st.holds if id(h) not in gone)
        st.holds = (*st.holds, hold)
        self.log.blocks.setdefault(site.pos, self.log.block)
        st.mark("acquire", site.pos, site.call)
        self._untag(st, hold.obj, site)

    def _again(self, st: State, hold: Hold, site: Site) -> None:
        for old in st.holds:
            if old.family == hold.family and old.obj == hold.obj and old.cond < 0:
                subject = site.subject
                self.log.event(
                    Event("again", site.pos, site.call, hold.family, hold.obj, subject, st.holds, st.trail, old.site)
                )
                return

    def surely(self, st: State, family: str, obj: Value) -> bool:
        """Whether such a hold on ``obj`` is there, whatever it may have depended on."""
        return any(
            h.family == family and h.obj == obj and (h.cond < 0 or not self.facts.mask(st, h.cond) & ~h.mask)
            for h in st.holds
        )

    def _untag(self, st: State, obj: Value, site: Site) -> None:
        """Who holds a reference need no longer fear for the pointer."""
        roots = self.values.root
        for value in [v for v, (tag, _) in st.tags.items() if roots[v] == roots[obj] and tag in ("rcu", "stale")]:
            tag, since = st.tags.pop(value)
            self.log.event(Event("held", site.pos, site.call, tag, obj, site.subject, st.holds, st.trail, since))

    # ending ---------------------------------------------------------------


    def count_down(self, st: State, obj: Value) -> bool:
        """``obj`` is consumed: end the hold on a count inside of it, if there is one."""
        index = self._counter_inside(st, obj)
        if index >= 0:
            st.holds = (*st.holds[:index], *st.holds[index + 1 :])
        return index >= 0

    def release(self, st: State, effect: Effect, obj: Value, result: Value, pos: int, name: str, subject: str) -> None:
        """End the hold on ``obj``, or report that there is none."""
        mask = self.facts.mask(st, obj)
        if mask & (POS | 1) == 0 and effect.null_ok:
            return
        self._split(st, effect.resource, obj)
        index, exact = self.find(st, effect.resource, obj)
        self.log.blocks[pos] = self.log.block
        if index < 0:
            index = self._through_body(st, effect, obj)
        if index < 0:
            index = self._through_member(st, effect, obj)
        if index < 0:
            index = self._by_text(st, effect, subject)
        if index < 0:
            index = self._memory_of_count(st, effect, obj)
        if index < 0 and self._in_parts(st, effect, obj, result, pos, name, subject):
            return
        site, held = (st.holds[index].site, st.holds[index].family) if index >= 0 else (-1, "")
        self.log.releases.setdefault(
            (effect.resource, obj, pos, index >= 0, site),
            Released(effect.resource, obj, subject, pos, index >= 0, site, exact, held),
        )
        if index < 0:
            self._missing(st, effect, obj, pos, name, subject)
        else:
            self._end(st, index, effect, result, pos, name)
        if index < 0 and "tells-last" in effect.flags and result >= 0:
            self._share_given_up(st, obj, result)
        by_body = "inferred" in effect.flags  # whose body may well end what the memory holds as well
        if effect.frees and effect.when == ANY and self.family(effect.resource).kind == "mem" and not by_body:
            self._lose(st, obj)
        self._after(st, effect, obj, result, pos)

    def _in_parts(
        self, st: State, effect: Effect, obj: Value, result: Value, pos: int, name: str, subject: str
    ) -> bool:
        """``local_irq_save(f); spin_lock(l); ... spin_unlock_irqrestore(l, f)``: whether that was ended here.

        A lock alone is not: who restores interrupts must have turned them off.
        """
        family, whole = self.family(effect.resource), self.values.make("&g", "")
        found = {part: at for part in family.parts for at in (whole, obj) if self.find(st, part, at)[0] >= 0}
        if not found or (family.kind == "lock" and family.parts[-1] not in found):
            return False
        for part, at in found.items():
            self.release(st, effect._replace(resource=part), at, result, pos, name, subject)
        return True

    def _split(self, st: State, part: str, obj: Value) -> None:
        """``clk_prepare_enable(c); ... clk_disable(c)``: a part of what was taken at once ends, the others go on."""
        for at, hold in enumerate(st.holds):
            family = self.family(hold.family)
            site = self.log.sites.get((hold.site, hold.family))
            if part in family.parts and family.kind == "pair" and hold.obj == obj and site is not None:
                for name in family.parts:
                    self.log.sites.setdefault((hold.site, name), site._replace(family=name))
                pieces = (hold._replace(family=name) for name in family.parts)
                st.holds = (*st.holds[:at], *pieces, *st.holds[at + 1 :])
                return

    def _share_given_up(self, st: State, counter: Value, result: Value) -> None:
        """The count inside memory of this function's own went down: only who hears that it was the last must free."""
        roots = self.values.root
        shared = (
            (self.conditional(st, h, result, POS) or h)
            if h.owned and h.obj != counter and roots[h.obj] == roots[counter] and self.family(h.family).kind == "mem"
            else h
            for h in st.holds
        )
        st.holds = tuple(shared)

    def _lose(self, st: State, memory: Value) -> None:
        """``memory`` is freed, with the pointers that only it holds."""
        roots = self.values.root
        places: dict[Value, set[Value]] = {}
        for address, value in st.mem.items():
            places.setdefault(value, set()).add(roots[address])
        st.holds = tuple(
            h._replace(stored=False, lost=True) if h.owned and h.stored and places.get(h.obj) == {memory} else h
            for h in st.holds
        )

    def _end_with(self, st: State, counted: Value) -> None:
        """A count was dropped: if it was the last one, the object is freed with all that was put into it."""
        roots = self.values.root
        inside = {v for a, v in st.mem.items() if a != counted and roots[a] == roots[counted]}
        if any(h.stored and h.obj in inside for h in st.holds):
            st.holds = tuple(h for h in st.holds if not (h.stored and h.obj in inside))

    def _missing(self, st: State, effect: Effect, obj: Value, pos: int, name: str, subject: str) -> None:
        tagged = st.tags.get(obj)
        if tagged is not None and tagged[0] in ("freed", "dropped"):
            self.log.event(
                Event("released", pos, name, effect.resource, obj, subject, st.holds, st.trail, tagged[1], tagged[0])
            )
        elif not st.vague:
            group = self.family(effect.resource).group
            flavour = next((h for h in st.holds if group and self._flavour(st, h, effect.resource, obj)), None)
            self.log.event(
                Event(
                    "underflow", pos, name, effect.resource, obj, subject, st.holds, st.trail,
                    flavour.site if flavour else 0, flavour.family if flavour else "",
                )
            )  # fmt: skip
            if flavour is not None:
                st.holds = tuple(h for h in st.holds if h is not flavour)
        st.mark("release", pos, name)

    def _flavour(self, st: State, hold: Hold, released: str, obj: Value) -> bool:
        """Whether ``hold`` is of another flavour of what was released, and on the same lock."""
        held, fam = self.family(hold.family), self.family(released)
        if held.group != fam.group or held.name == fam.name:
            return False
        return held.kind != "lock" or self._likeness(st, hold, obj) > 0

    def _end(self, st: State, index: int, effect: Effect, result: Value, pos: int, name: str) -> None:
        hold = st.holds[index]
        rest = (*st.holds[:index], *st.holds[index + 1 :])
        if hold.cond >= 0:  # the one thing, whatever the call said that it was given to
            one = (hold.family, hold.obj, hold.site, hold.cond)
            rest = tuple(h for h in rest if (h.family, h.obj, h.site, h.cond) != one)
        if effect.when != ANY and result >= 0:
            kept = self.conditional(st, hold, result, ANY & ~effect.when)
            rest = rest if kept is None else (*rest, kept._replace(ending="inferred" in effect.flags))
        st.holds = rest
        left = any((h.site, h.obj) == (hold.site, hold.obj) and h.family != hold.family for h in rest)
        st.mark("release", pos, name, site=-1 if left else hold.site)  # ``clk_disable()`` leaves it prepared

    def conditional(self, st: State, hold: Hold, result: Value, mask: int) -> Hold | None:
        """``hold`` as it is after a call that ends it unless its ``result`` is in ``mask``."""
        if hold.cond >= 0 and self.facts.mask(st, hold.cond) & ~hold.mask:
            return None
        return hold._replace(cond=result, mask=mask)

    def _after(self, st: State, effect: Effect, obj: Value, result: Value, pos: int) -> None:
        """What the object is worth after a release; sections take what they protected with them."""
        fam = self.family(effect.resource)
        if fam.kind == "ref":
            self._end_with(st, obj)
        if fam.kind in OWNED and effect.when == ANY:
            if effect.frees:
                self.bury(st, obj, pos)
            elif not self._kept_alive(st, obj):
                st.tags.setdefault(obj, ("dropped", pos))
        elif fam.kind == "rcu" and not any(self.family(h.family).kind == "rcu" for h in st.holds):
            for value, (tag, _) in list(st.tags.items()):
                if tag == "rcu":
                    st.tags[value] = ("stale", pos)

    def bury(self, st: State, obj: Value, pos: int) -> None:
        """``obj`` was given up: it is not to be used, unless a count more had been taken, or there is none."""
        if st.tags.get(obj, ("", 0))[0] == COUNTED:
            del st.tags[obj]
        elif self.facts.mask(st, obj) & POS:
            st.tags[obj] = ("freed", pos)

    def _kept_alive(self, st: State, obj: Value) -> bool:
        """Whether another reference is held on what ``obj`` is part of; a lock inside of it is none."""
        roots = self.values.root
        return any(
            roots[h.obj] == roots[obj] and (h.owned or self.family(h.family).kind in OWNED) for h in st.holds
        )  # fmt: skip

    def take(self, st: State, obj: Value, *, result: Value = -1, mask: int = ANY, frees: bool = True) -> None:
        """Holds on ``obj`` leave with a callee, owned ones on anything derived from the same root as well.

        A lock inside of it goes with it only where the callee ``frees`` it: a thread that is given a thing does not
        let go of our lock.
        """
        if not st.holds:
            return
        roots = self.values.root
        kept = []
        for hold in st.holds:
            hit = hold.obj == obj or (
                roots[hold.obj] == roots[obj] and (hold.owned or self._inside(obj, hold.obj))
            )
            kind = self.family(hold.family).kind
            stays = kind == "rcu" or (kind == "lock" and hold.obj != obj and not frees)
            if not hit or stays or self.paid_for(st, hold):
                kept.append(hold)
                continue
            self.log.kept.add((hold.site, self.log.pos))
            if mask != ANY and result >= 0:
                rest = self.conditional(st, hold, result, ANY & ~mask)
                if rest is not None:
                    kept.append(rest)
        if len(kept) != len(st.holds) or mask != ANY:
            st.holds = tuple(kept)

    def paid_for(self, st: State, hold: Hold) -> bool:
        """Whether the caller's hold on a parameter stays its own, because what is given away has one taken for it."""
        if hold.family != SEED:
            return False
        roots = self.values.root
        return any(h.owned and h.family != SEED and roots[h.obj] == roots[hold.obj] for h in st.holds)

    def _inside(self, a: Value, b: Value) -> bool:
        """Whether one address is derived from the other."""
        for inner, outer in ((a, b), (b, a)):
            v = inner
            while v != outer and self.values.nodes[v][0] in ("f", "e", "in"):
                v = self.values.nodes[v][1]
            if v == outer:
                return True
        return False
