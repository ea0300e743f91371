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
    that the thing is what the argument points to (out-parameter ``*arg``); ``path`` is a field below it, with "&"
    before it the field's own address."""

    root: Literal["result", "arg", "global"]
    index: int = 0  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
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
    where: str = ""
    """file:line in the callee's body that does it, where it was read there; "" for models."""


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
    arranges: tuple[int, ...] = ()
    """Which argument is a function that is called later, and which is given to it (``devm_add_action``); mostly ()."""
    looks: bool = False
    """It surely writes nothing that outlives it: neither its arguments nor what they lead to are kept."""
    tries: bool = False
    """The body takes a reference that it may fail to get: whoever is told of success has it."""
    may_end: tuple[str, ...] = ()
    """Families of locks, sections and states that the body ends on some path though it never began them: whose?"""
    unused: tuple[int, ...] = ()
    """Arguments of which the body does not speak."""
    always: int = 0
    """The one class that the body's result is always in, though ``result`` says that callers must be ready for any."""


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
    group: str = ""
    """Families of one group are flavours of one thing ("spin", "rcu"): a hold of one that another's release ends is a
    mismatch of flavours, not a leak."""
    nests: bool = False
    """The hold is a count: taking it again while held is right (RCU sections, references, ``preempt_disable``)."""
    handle: bool = False
    """A "pair" on a thing that the taking call returns (a mapping): whoever gets the pointer may end it."""
    parts: tuple[str, ...] = ()
    """Families that can be taken one by one instead, the state of the processor (interrupts) last."""


class Macro(NamedTuple):
    """A macro or inline whose value or store the engine understands without a body.

    ``acts``: "value" (its argument ``arg``), "store" (argument ``value`` goes into the place named by ``arg``),
    "exchange" (as store, the old content is the result), "is_err", "is_err_or_null", "ptr_err", "err_ptr",
    "ptr_err_or_zero", "is_null", "interior" (a pointer derived from ``arg``: container_of, accessors; a valid
    pointer whenever ``arg`` is one), "constant" (same value for the same arguments: IS_ENABLED), "nonzero_error"
    (a negative value: dev_err_probe returns its argument ``arg``), "never".  Further: "load" (what ``arg`` points to:
    smp_load_acquire), "steal" (its argument, which becomes NULL and is no longer cleaned up: no_free_ptr), "assert"
    and "assert_not" (``arg`` is true, false after it: ASSERT, BUG_ON), "assert_held" (the lock ``arg``, or with
    ``arg`` -1 the global hold ``family``, is held by contract), "nothing" (evaluates nothing: BUILD_BUG_ON).
    """

    name: str
    acts: str
    arg: int = 0
    value: int = 1
    through: bool = False
    """For store, exchange and load: the place is ``*arg`` (smp_store_release, xchg), not the lvalue ``arg`` itself."""
    tag: str = ""
    """Tag that its value gets: "rcu" (valid inside the section only), "rcu-access" (never to be followed)."""
    family: str = ""
    """For assert_held without an argument, and for loads that need a section: the family."""


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
    scratch: tuple[int, ...] = ()
    """Further arguments that a turn writes: cursors, indices, look-ahead elements."""
    over: int = -1
    """The argument that is walked: list head, parent node (-1: none)."""
    tag: str = ""
    """Tag of the element: "rcu" where it is valid inside the section only."""


class GuardClass(NamedTuple):
    """What ``guard(name)``, ``scoped_guard(name)`` or ``CLASS(name, v)`` holds.

    Conditional forms (``_try``, ``_intr``) may fail.
    """

    name: str
    family: str
    arg: int = 0
    """Argument that is held (-1: a global, -2: the value of the class variable, ``CLASS(fdget, f)``)."""
    context: str = ""
    conditional: bool = False
    acquire: str = ""
    """The call it stands for; its summary says what else happens (sleeping)."""
    release: str = ""


class Cleanup(NamedTuple):
    """``__free(name)``: what ends the hold of the variable when it goes out of scope."""

    name: str
    release: str
    """The call made on the variable; "" for a release that fits any family of ``families``."""
    families: frozenset[str] = frozenset()
    null_ok: bool = True
    err_ok: bool = False
