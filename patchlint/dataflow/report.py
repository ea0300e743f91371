"""What an exploration found: how paths leave, what happened on the way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from patchlint.dataflow.state import Hold, Trail
from patchlint.dataflow.values import Key, Value


class Policy(NamedTuple):
    """How an exploration behaves where nothing is known."""

    unknown_takes: bool = False
    """A call that nothing is known of may keep or release the references and memory it is given."""
    max_states: int = 4000
    precise: bool = False
    """Keep apart all states that differ in what later code can ask, instead of joining those that hold the same."""
    undoing: re.Pattern[str] | None = None
    """Names of calls that by their sound undo things; where nothing surer is known of one, the path is marked."""
    fresh: tuple[tuple[int, int], ...] = ()
    """Offsets (first, past the last) of code with no earlier state to compare: what is taken there an unknown call
    may keep whatever ``unknown_takes`` says."""
    travels: frozenset[str] | None = None
    """Families that are consumed by whoever gets them, whatever the result. With None every unknown call that may keep
    something may keep it when it fails as well."""
    given: tuple[tuple[int, str], ...] = ()
    """Parameters (from 0) that the function is handed a hold of, and the families."""
    lent: frozenset[tuple[int, int]] = frozenset()
    """Places of a taking, and of a call that may keep what it gets but is taken to look at what was taken there only:
    the path is marked ("lend"), and where it asks what the call answered ("answer")."""
    standing: bool = False
    """The code is judged as it stands: what a body always answers its callers need not be ready to see change."""
    seed_params: bool = False
    """Start with a hold of family ``"param"`` on every pointer parameter (to summarise the function)."""


class Site(NamedTuple):
    """A place where a hold begins."""

    pos: int
    family: str
    call: str
    """The call (or macro) that takes it."""
    subject: str
    """Source text of what is held."""
    by: str
    """"result", "arg", "born" (the first count of memory that was held), "out", "global", "loop", "guard", "given"
    (a parameter, see ``Policy.given``)."""
    where: str = ""
    """file:line in the callee that really takes it, where the call was understood from its body."""
    flags: frozenset[str] = frozenset()


class Exit(NamedTuple):
    """One way out of the function (paths that leave alike are one)."""

    pos: int
    value: Value
    mask: int
    """Classes of the returned value on this path; 0 for a function that returns nothing."""
    holds: tuple[Hold, ...]
    trail: Trail | None
    text: str
    """Source text of the returned expression."""
    vague: bool
    facts: tuple[tuple[int, int], ...] = ()
    """With ``Policy.seed_params``: what is known of values (see ``State.facts``)."""
    returned: tuple[Hold, ...] = ()
    """Holds that leave with the returned value."""
    memory: tuple[tuple[Value, Value], ...] = ()
    """With ``Policy.seed_params``: what the path wrote, address and value."""
    guessed: bool = False
    """``mask`` is what the last call may have answered: no branch has asked."""


class Event(NamedTuple):
    """Something that happened on a path.

    ``kind``: "underflow" (release of what is not held), "again" (acquire of what is held and does not nest),
    "released" (release of what was released before), "use" (dereference or call with a tagged value),
    "call" (a call that may sleep: ``family`` tells the contexts of what is held, ``detail`` is "yes" or the text of the
    allocation flags that decide and ``obj`` their value), "given" (a call of which it is not known whether it sleeps,
    given the constant ``obj`` with the text ``detail`` in such a context), "load" (a load that needs a context),
    "held" (a hold begins on what has the tag ``family``).
    """

    kind: str
    pos: int
    name: str
    """The callee, field or tag concerned."""
    family: str
    obj: Value
    subject: str
    holds: tuple[Hold, ...]
    trail: Trail | None
    since: int = 0
    """Place of the earlier event this one goes back to (release, tag, acquire)."""
    detail: str = ""


class Released(NamedTuple):
    """A release seen on some path."""

    family: str
    obj: Value
    subject: str
    pos: int
    matched: bool
    """A hold taken in this function was there to end."""
    site: int = -1
    exact: bool = True
    """It surely ended that hold; False when it was told by family alone (elements of an array)."""
    held: str = ""
    """Family of that hold: one call may take several at one place."""


@dataclass(frozen=True, slots=True)
class PathReport:
    """The result of one exploration."""

    exits: tuple[Exit, ...]
    events: tuple[Event, ...]
    sites: dict[tuple[int, str], Site]
    releases: tuple[Released, ...]
    asserted: frozenset[str]
    """Families (or lock texts) that the function says are held by its caller."""
    states: int
    bound_hit: bool
    loops: tuple[frozenset[int], ...] = ()
    """Offsets of the operations in each loop of the function."""
    roots: tuple[Value, ...] = ()
    keys: tuple[Key, ...] = ()
    """Description of every value, for callers that ask where a value comes from (see ``values``)."""
    kept: frozenset[tuple[int, int]] = frozenset()
    """Places of an acquisition, and of a store or call that keeps what was taken there."""
    followed: frozenset[tuple[int, int]] = frozenset()
    """Places of a release and of a call that by its name undoes things, where the second can come after the first."""
    outlived: frozenset[tuple[int, int]] = frozenset()
    """Places of a call that by its name undoes things and of a taking, where what was taken is ended after the call."""
    jumped_over: frozenset[tuple[int, int]] = frozenset()
    """Places of a branch and of a release that one way does and the other does not before both go on at one place."""
    passed: Mapping[int, AbstractSet[Value]] = field(default_factory=dict)
    """Place of a call that no model tells of, and what its arguments are derived from, while something was held."""
    taken: AbstractSet[Value] = frozenset()
    """What some call has kept or consumed, whether it was held or not."""
