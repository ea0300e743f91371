"""What a call does: the values that connect API models, callee bodies and the path engine.

A result is classed by three bits, the same for integers and pointers:
``NEG`` (negative, or an ERR_PTR), ``ZERO`` (0, false, NULL), ``POS`` (positive, true, a valid pointer).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

NEG = 1
ZERO = 2
POS = 4
ANY = 7

Action = Literal["acquire", "release", "take", "tag", "set"]
"""acquire, release: a hold on ``place``.  take: every hold on ``place`` leaves (stored, queued, consumed).

tag: the value at ``place`` gets the tag ``resource``.  set: the out-parameter at ``place`` is written (fresh value)."""


class Place(NamedTuple):
    """Where an effect acts: ``root`` is "result", "arg" (then ``index`` from 0) or "global"; ``deref`` says
    that the thing is what the argument points to (out-parameter ``*arg``); ``path`` is a field below it."""

    root: Literal["result", "arg", "global"]
    index: int = 0
    deref: bool = False
    path: str = ""


class Effect(NamedTuple):
    """One thing a call does, when its result is in class ``when``."""

    action: Action
    resource: str
    """Family of the resource: "of_node", "mutex", "rcu" ..., or the tag's name."""
    place: Place
    when: int = ANY
    null_ok: bool = False
    """For a release: silent for NULL."""
    err_ok: bool = False
    """For a release: silent for an ERR_PTR."""
    frees: bool = False
    """For a release or take: the object must not be used afterwards (kfree, consume)."""
    context: str = ""
    """For an acquire: what the hold makes of the context: "rcu", "atomic", "irq", "bh" ... ("" for nothing)."""
    key: Place | None = None
    """For a lock-like hold with a cookie (irq flags, srcu index): where the cookie is."""
    flags: frozenset[str] = frozenset()
    """Marks the checkers read: "maybe-last" (the drop may not be the last), "registers", "conditional" ..."""


class Summary(NamedTuple):
    """What a call of ``name`` does to its arguments, its result and the context.

    ``args`` gives for each argument "borrow" (not kept), "take" (kept or consumed, any result), "unknown";
    arguments past its end are ``rest``.  ``result`` is the mask of classes the result may be in;
    ``returns_arg`` the argument that it returns (-1: none).  ``sleeps`` is "no", "yes", "unknown" or
    "argN" (argument N from 0 holds gfp flags that decide).
    """

    name: str
    effects: tuple[Effect, ...] = ()
    args: tuple[str, ...] = ()
    rest: str = "unknown"
    result: int = ANY
    returns_arg: int = -1
    never_returns: bool = False
    sleeps: str = "unknown"
    origin: Literal["model", "body", "pattern"] = "model"
    where: str = ""
    """file:line of the definition it was read from, for traces."""


class Family(NamedTuple):
    """A kind of hold: what acquires of it are called in messages, what ends it.

    ``kind`` chooses the rule ("ref", "mem", "lock", "rcu", "pair").  ``compatible`` names families whose
    releases also end a hold of this one (``put_device(&pdev->dev)`` for ``pci_dev_put``).
    """

    name: str
    kind: Literal["ref", "mem", "lock", "rcu", "pair"]
    label: str
    releases: tuple[str, ...]
    compatible: frozenset[str] = frozenset()
    context: str = ""
    sort: str = ""
    """The finer sort of a "pair": "clk", "pm", "irq", "map", "reg" ..."""


class Macro(NamedTuple):
    """A macro or inline whose value or store the engine understands without a body.

    ``acts``: "value" (its argument ``arg``), "store" (argument ``value`` goes into the place named by ``arg``),
    "exchange" (as store, the old content is the result), "is_err", "is_err_or_null", "ptr_err", "err_ptr",
    "ptr_err_or_zero", "is_null", "interior" (a pointer derived from ``arg``: container_of, accessors; a valid
    pointer whenever ``arg`` is one), "constant" (same value for the same arguments: IS_ENABLED), "nonzero_error"
    (a negative value: dev_err_probe returns its argument ``arg``), "never".
    """

    name: str
    acts: str
    arg: int = 0
    value: int = 1


class Loop(NamedTuple):
    """A for_each-like macro: argument ``assigns`` (from 0; -1: none) is set for every turn.

    With ``family`` the current element is held during a turn; leaving the loop early leaves the hold, the normal
    end none.  ``drops_itself``: early exits are handled by the macro (``_scoped``).  ``context`` is what the walk
    wants around it ("rcu"), ``held`` the path below the element that is held (``it.node``).
    """

    name: str
    assigns: int = 0
    family: str = ""
    drops_itself: bool = False
    context: str = ""
    held: str = ""
    non_null: bool = True


class GuardClass(NamedTuple):
    """What ``guard(name)``, ``scoped_guard(name)`` or ``CLASS(name, v)`` holds.

    Conditional forms (``_try``, ``_intr``) may fail.
    """

    name: str
    family: str
    arg: int = 0
    """Argument that is held (-1: a global)."""
    context: str = ""
    conditional: bool = False


Kind = Literal["ref", "mem", "lock", "rcu", "pair"]
"""Which rules speak of a family: REF, MEM, LCK, RCU or PAIR."""


class Family(NamedTuple):
    """What can be held: one resource, the calls that give it back, and what to call it in a message."""

    name: str
    kind: Kind = "pair"
    sort: str = ""
    """Finer than ``kind`` for messages: "clk", "irq", "map", "pm", "reg", "net" ..."""
    label: str = ""
    """Reads after "the": "reference to the node", "memory", "spinlock"."""
    releases: tuple[str, ...] = ()
    """Names of the calls that give it back, the usual one first."""
    compatible: frozenset[str] = frozenset()
    """Other families whose release also ends a hold of this one (``kvfree`` of kmalloc'ed memory)."""
    group: str = ""
    """Families of one group are flavours of one thing ("spinlock", "rcu"): a hold of one flavour ended by
    the release of another is a mismatch, not a leak."""
    context: str = ""
    """What a hold makes of the context: "rcu", "srcu", "atomic", "irq", "bh" ... ("" for nothing)."""
    nests: bool = False
    """The hold counts: taking it twice and giving it back twice is right."""


class Loop(NamedTuple):
    """A loop written as a macro; argument numbers count from 0, -1 is none."""

    name: str
    assigns: int = -1
    """The argument that each round writes (the element)."""
    scratch: tuple[int, ...] = ()
    """Further arguments that it writes: cursors, indices, look-ahead elements."""
    over: int = -1
    """The argument that is walked: list head, parent node."""
    holds: str = ""
    """Family held on the element inside a round; the normal end leaves nothing, an early exit leaves one."""
    drops_itself: bool = False
    """The early exit drops it as well (``_scoped`` forms)."""
    tag: str = ""
    """Tag of the element ("rcu": valid only inside the section)."""
    needs: str = ""
    """Family that must be held around it, "" for none."""
    may_be_null: bool = False
    """The element is NULL after the normal end (a cursor of ``hlist`` or ``while ((p = next(p)))`` form)."""


MacroAct = Literal[
    "value", "load", "store", "store_through", "swap", "steal", "is_err", "is_err_or_null", "is_null", "ptr_err",
    "err_ptr", "ptr_err_or_zero", "interior", "assert", "assert_not", "assert_held", "config", "nothing",
]


class Macro(NamedTuple):
    """A macro (or tiny inline function) that the engine looks through; arguments count from 0.

    value: is its argument.  load: is what its argument points to.  store: ``arg`` gets ``value``.
    store_through: ``*arg`` gets ``value``.  swap: as store, and it is what ``arg`` was.  steal: is its
    argument, which becomes NULL and whose hold leaves the scope's cleanup.  is_err, is_err_or_null,
    is_null, ptr_err, err_ptr, ptr_err_or_zero: as their names.  interior: a pointer into (or out of) the
    object of ``arg``, NULL iff that is.  assert, assert_not: the argument is true (false) after it.
    assert_held: the lock ``arg`` is held by contract.  config: a constant of the configuration.
    nothing: has no effect and evaluates nothing.
    """

    name: str
    acts: MacroAct
    arg: int = 0
    value: int = -1
    tag: str = ""
    """Tag that its value gets ("rcu", "rcu-access")."""
    family: str = ""
    """For assert_held without argument: the family held (``ASSERT_RTNL`` -> "rtnl")."""


class Guard(NamedTuple):
    """A scope class: ``guard(name)(args)`` calls ``acquire(args)`` here and ``release`` at the end of its block.

    ``conditional`` forms (``scoped_cond_guard``) may not get it.
    """

    name: str
    acquire: str
    release: str
    conditional: bool = False


class Cleanup(NamedTuple):
    """``__free(name)``: ``release`` is called on the variable when it goes out of scope."""

    name: str
    release: str
    null_ok: bool = True
    err_ok: bool = False
