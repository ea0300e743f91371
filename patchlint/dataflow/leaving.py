"""The ways out of a function: what goes with the result, what stays held."""

from __future__ import annotations

from typing import Final

from patchlint.cfg import Leave, render
from patchlint.dataflow.calls import Calls
from patchlint.dataflow.report import Exit, Policy
from patchlint.dataflow.state import Hold, State
from patchlint.dataflow.values import Value
from patchlint.effects import ANY, NEG, POS, ZERO
from patchlint.ir import Function

_CLASSES: Final = (NEG, ZERO, POS)


class Leaving:
    """Collects exits; those that leave alike are one."""

    def __init__(self, calls: Calls, function: Function, policy: Policy) -> None:
        self._calls = calls
        self._facts = calls.machine.facts
        self._values = calls.machine.values
        self._function = function
        self._policy = policy
        self.exits: dict[object, Exit] = {}

    def leave(self, st: State, term: Leave, value: Value, mask: int, returned: tuple[Hold, ...]) -> None:
        """The path of ``st`` returns ``value`` (-1: nothing), which is in one of the classes of ``mask``."""
        for part in self._split(st, value, mask):
            self._exit(st, term, value, part, returned, guessed=part != mask and not self._told(st, value))

    def classes(self, st: State, value: Value) -> int:
        """The classes that the result may be in: a pointer that is a sum leads into an object."""
        if self._function.return_pointer and self._values.nodes[value][:2] == ("op", "+"):
            self._facts.narrow(st, value, POS)
        return self._facts.mask(st, value)

    def returned(self, st: State, value: Value) -> tuple[Hold, ...]:
        """What is returned is the caller's: take those holds out of the state.

        What a loop macro holds nobody gets with a pointer found through it: the macro drops it in its next turn.
        """
        roots = self._values.root
        returned = tuple(
            h for h in st.holds
            if h.owned and (roots[h.obj] == roots[value] or (h.scope >= 0 and self._derived(value, h.obj)))
        )  # fmt: skip
        if returned:
            st.holds = tuple(h for h in st.holds if h not in returned)
        return returned

    def _derived(self, value: Value, obj: Value) -> bool:
        """A pointer loaded from the held object stands for it: its owner finds the object through it."""
        key = self._values.nodes[value]
        if not self._function.return_pointer or key[0] not in ("ld", "in", "f", "s"):
            return False
        return obj in self._values.leaves[value] or (
            key[0] == "s" and self._values.root[obj] in self._calls.given.get(key[1], ())
        )

    def _split(self, st: State, value: Value, mask: int) -> tuple[int, ...]:
        """Classes of result to tell apart, because a hold depends on them."""
        if value < 0 or mask in _CLASSES:
            return (mask,)
        if any(h.cond == value and not h.doubt for h in st.holds):
            return tuple(c for c in _CLASSES if c & mask)
        if mask == ANY and st.holds and not self._policy.seed_params and self._fails(st, value):
            return (NEG, ZERO | POS)
        return (mask,)

    def _fails(self, st: State, value: Value) -> bool:
        """``return f(x)`` in a function that returns 0 or an error: the call may fail.

        Not one that was made before anything was taken: with its failure the function would not have gone on. Nor one
        that is known by name (``ret == OK``).
        """
        key = self._values.nodes[value]
        late = key[0] == "s" and ~value not in st.facts and any(key[1] >= hold.site for hold in st.holds)
        return late and self._function.return_type.split()[-1:] == ["int"]

    def _told(self, st: State, value: Value) -> bool:
        """``p = make(&err); if (!p) return err;``: the call that gave nothing has told why."""
        key = self._values.nodes[value]
        if key[0] != "s" or not key[2].startswith("out"):
            return False
        return self._facts.mask(st, self._values.make("s", key[1], "", key[3])) == ZERO

    def _failed(self, st: State, cond: Value, value: Value, mask: int) -> bool:
        """Whether the path was told that the call with the result ``cond`` failed, and says so itself if it can."""
        known = self._facts.mask(st, cond)
        fails = mask in (NEG, 0) or cond == value or (self._function.return_pointer > 0 and mask == ZERO)
        return fails and bool(known & NEG) and not known & ZERO

    def _exit(
        self, st: State, term: Leave, value: Value, mask: int, returned: tuple[Hold, ...], *, guessed: bool
    ) -> None:
        holds = tuple(h for h in st.holds if not self._is_nothing(st, h))
        if any(h.doubt for h in holds):
            holds = tuple(h for h in holds if not h.doubt or self._failed(st, h.cond, value, mask))
        if any(h.cond >= 0 for h in holds):
            holds = tuple(h for h in holds if h.cond < 0 or self._stays(st, h, value, mask))
        key: tuple[object, ...] = (term.pos, mask, holds, st.vague)
        facts: tuple[tuple[int, int], ...] = ()
        memory: tuple[tuple[Value, Value], ...] = ()
        if self._policy.seed_params:
            facts, memory = tuple(st.facts.items()), tuple(st.mem.items())
            key = (*key, value, returned, facts, memory)
        if key not in self.exits:
            text = render(term.value)
            self.exits[key] = Exit(
                term.pos, value, mask, holds, st.trail, text, st.vague, facts, returned, memory, guessed
            )

    def _is_nothing(self, st: State, hold: Hold) -> bool:
        """The path knows what is held to be NULL, or a negative number or an error: it cannot have been taken."""
        known = self._facts.mask(st, hold.obj)
        return known == NEG or (hold.owned and known == ZERO)

    def _stays(self, st: State, hold: Hold, value: Value, mask: int) -> bool:
        """Whether a hold that depends on a result may be there."""
        known = mask if hold.cond == value else self._facts.mask(st, hold.cond)
        if hold.ending and not self._policy.seed_params and hold.cond != value:
            return not known & ~hold.mask & (ZERO | POS)  # ``if (f())``: below 0 is no answer
        return known & hold.mask != 0
