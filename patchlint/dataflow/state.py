"""The state of one path: what variables and memory hold, what is known of values, what is held."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from patchlint.dataflow.values import Value, Values
from patchlint.effects import ANY, NEG, POS, ZERO

Trail: TypeAlias = "tuple[Trail | None, Mark]"


class Mark(NamedTuple):
    """One decision or event on a path."""

    kind: str
    """"if", "case", "turn", "end", "acquire", "release", "take", "store", "choice"; "undo" (a call that sounds like
    undoing), "may-end" (one that leaves locks or sections of the family ``text``), "lend" (a call that is taken only to
    look at what was taken at ``site``), "answer" (a branch on what the call at ``site`` gave)."""
    pos: int
    text: str
    truth: bool = True
    site: int = -1
    """Of a release or take: the place where the hold began that ends here."""


class Hold(NamedTuple):
    """Something held: a reference, memory, a lock, a section, any half of a pair.

    Held only while the class of ``cond`` is within ``mask`` (``cond`` -1: always).
    """

    family: str
    obj: Value
    site: int
    cond: Value = -1
    mask: int = ANY
    stored: bool = False
    """A pointer to it was put where others can find it."""
    scope: int = 0
    """Guard ident or, negative, loop block that ends it; 0 for none."""
    owned: bool = False
    """It goes with the pointer (references, memory, handles): whoever gets that may end it."""
    lost: bool = False
    """The memory with the only stored pointer to it was freed."""
    ending: bool = False
    """``cond`` is the result of a helper that ends it, unless that fails: who does not ask takes it for done."""
    doubt: bool = False
    """A call that nothing is known of was given it: it counts only where the result, ``cond``, told of a failure."""


class State:
    """One path's knowledge. Mutable while a block is executed, copied where paths part."""

    __slots__ = ("env", "facts", "holds", "mem", "tags", "trail", "turns", "vague")

    def __init__(self) -> None:
        self.env: dict[str, Value] = {}
        self.mem: dict[Value, Value] = {}
        self.facts: dict[int, int] = {}
        """Value -> classes it may be in; ~value -> the constant it equals."""
        self.holds: tuple[Hold, ...] = ()
        self.tags: dict[Value, tuple[str, int]] = {}
        """Value -> (tag, place where it got it)."""
        self.trail: Trail | None = None
        self.turns = 0
        """Back edges taken: paths with fewer turns of loops are walked first."""
        self.vague = False
        """Part of the path could not be read: what is not held may still be."""

    def copy(self) -> State:
        """An independent state with the same knowledge."""
        other = State.__new__(State)
        other.env = self.env.copy()
        other.mem = self.mem.copy()
        other.facts = self.facts.copy()
        other.holds = self.holds
        other.tags = self.tags.copy()
        other.trail = self.trail
        other.turns = self.turns
        other.vague = self.vague
        return other

    def key(self) -> object:
        """Equal for states that know the same; the way they came does not count."""
        return (
            frozenset(self.env.items()),
            frozenset(self.mem.items()),
            frozenset(self.facts.items()),
            self.holds,
            frozenset(self.tags.items()),
            self.vague,
        )

    def mark(self, kind: str, pos: int, text: str, truth: bool = True, site: int = -1) -> None:
        """Add a step to the trail."""
        self.trail = (self.trail, Mark(kind, pos, text, truth, site))


def marks(trail: Trail | None) -> list[Mark]:
    """The steps of a path, first to last."""
    found = []
    while trail is not None:
        trail, mark = trail
        found.append(mark)
    found.reverse()
    return found


class Facts:
    """Reasoning about values in a state."""

    __slots__ = ("values",)

    def __init__(self, values: Values) -> None:
        self.values = values

    def mask(self, st: State, value: Value) -> int:
        """Classes that ``value`` may be in."""
        known = st.facts.get(value)
        if known is not None:
            return known
        key = self.values.nodes[value]
        if key[0] == "not":
            inner = self.mask(st, key[1])
            return POS if inner == ZERO else ZERO if not inner & ZERO else ZERO | POS
        if key[0] == "perr0":
            inner = self.mask(st, key[1])
            return (NEG if inner & NEG else 0) | (ZERO if inner & (ZERO | POS) else 0)
        return self.values.static[value]

    def narrow(self, st: State, value: Value, mask: int) -> bool:
        """Learn that ``value`` is in ``mask``; False when that cannot be."""
        old = self.mask(st, value)
        new = old & mask
        if new == 0:
            return False
        if new != old:
            st.facts[value] = new
            key = self.values.nodes[value]
            if key[0] == "perr0":  # ``PTR_ERR_OR_ZERO(p) == -EBUSY``: it tells what ``p`` is
                return self.narrow(st, key[1], NEG if new == NEG else ZERO | POS)
        return True

    def assume(self, st: State, value: Value, truth: bool) -> bool:
        """Learn the truth of ``value``; False when the path is impossible."""
        while True:
            key = self.values.nodes[value]
            kind = key[0]
            if kind == "not":
                value, truth = key[1], not truth
            elif kind == "op" and key[1] == "==":
                return self._equal(st, value, key[2], key[3], truth)
            elif kind == "op" and key[1] == "<":
                return self._less(st, value, key[2], key[3], truth)
            elif kind == "perr0":
                return self.narrow(st, key[1], NEG if truth else ZERO | POS)
            else:
                return self.narrow(st, value, NEG | POS if truth else ZERO)

    def _record(self, st: State, value: Value, truth: bool) -> bool:
        return self.narrow(st, value, POS if truth else ZERO)

    def _equal(self, st: State, op: Value, a: Value, b: Value, truth: bool) -> bool:
        if b == 0:
            return self.narrow(st, a, ZERO if truth else NEG | POS)
        if not self._record(st, op, truth):
            return False
        kind = self.values.nodes[b][0]
        equal = st.facts.get(~a)
        if truth and any(self.values.nodes[x][0] == "n" and self.mask(st, y) == ZERO for x, y in ((a, b), (b, a))):
            return False  # ``if (err) ...; if (err == E_BUSY)``: who has asked for 0 means another by its name
        if kind in ("c", "neg", "n"):
            if equal is not None:
                return (equal == b) == truth
            if truth:
                st.facts[~a] = b
                if kind == "n":  # ``if (id == INVALID_ID)``: it says that there is none
                    st.holds = tuple(h for h in st.holds if not (h.owned and h.obj == a))
                return self.narrow(st, a, self.mask(st, b))
            return True
        both = self.mask(st, a) & self.mask(st, b)
        if truth:
            self._given_back(st, a, b)
            return both != 0 and self.narrow(st, a, both) and self.narrow(st, b, both)
        return not (self.mask(st, a) == ZERO and self.mask(st, b) == ZERO)

    def _given_back(self, st: State, a: Value, b: Value) -> None:
        """What was taken turns out to be a parameter (``if (WARN_ON(found != p)) ...``): who passed that has it."""
        for one, other in ((a, b), (b, a)):
            if self.values.nodes[one][0] == "p" and st.holds:
                st.holds = tuple(h for h in st.holds if not (h.owned and h.obj == other))

    def _less(self, st: State, op: Value, a: Value, b: Value, truth: bool) -> bool:
        if not self._record(st, op, truth):
            return False
        right, left = self.values.nodes[b], self.values.nodes[a]
        if right[0] == "c":  # a < n
            n = right[1]
            if truth:
                return self.narrow(st, a, NEG if n <= 0 else ANY)
            return self.narrow(st, a, POS if n > 0 else ZERO | POS if n == 0 else ANY)
        if left[0] == "c":  # n < b
            n = left[1]
            if truth:
                return self.narrow(st, b, POS if n >= 0 else ZERO | POS if n == -1 else ANY)
            return self.narrow(st, b, NEG | ZERO if n == 0 else NEG if n == -1 else ANY)
        return True

    def truth(self, st: State, value: Value) -> bool | None:
        """Whether ``value`` is true, false, or (None) either."""
        mask = self.mask(st, value)
        if mask == ZERO:
            return False
        if not mask & ZERO:
            return True
        return None

    def settle(self, st: State) -> None:
        """Forget holds whose condition has become impossible."""
        for hold in st.holds:
            if hold.cond >= 0 and not self.mask(st, hold.cond) & hold.mask:
                st.holds = tuple(h for h in st.holds if h.cond < 0 or self.mask(st, h.cond) & h.mask)
                return

    def decided(self, st: State) -> None:
        """A branch was taken: forget the holds that it rules out."""
        self.settle(st)
        self._refused(st)

    def _refused(self, st: State) -> None:
        """Forget what came with a call that told of its failure elsewhere: ``skb = make(&err); if (err) return err;``.

        Only as long as nobody has asked whether the result itself is a valid pointer.
        """
        nodes = self.values.nodes
        for hold in st.holds:
            key = nodes[hold.obj]
            if not hold.owned or key[0] != "s" or key[2] or not self.mask(st, hold.obj) & (NEG | ZERO):
                continue
            outs = (v for v in st.facts if v >= 0 and nodes[v][:2] == key[:2] and nodes[v][2].startswith("out"))
            if any(not self.mask(st, v) & ZERO for v in outs):
                st.holds = tuple(h for h in st.holds if h.obj != hold.obj)

    def stated(self, st: State, value: Value) -> None:
        """Two things are one where a statement warns of the opposite, ``WARN_ON(a != b);``, and goes on."""
        nodes = self.values.nodes
        equal = nodes[nodes[value][1]] if nodes[value][0] == "not" and st.holds else ()
        if equal[:2] == ("op", "==") and nodes[equal[3]][0] not in ("c", "n", "neg"):
            self.assume(st, value, False)
            for one, other in (equal[2:], equal[:1:-1]):
                if nodes[one][0] == "p":  # what was got back is what the caller has given
                    st.holds = tuple(h for h in st.holds if not (h.owned and h.obj == other))
