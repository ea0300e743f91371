"""Where the calls and stores of a function stand: under which condition each of them runs.

One forward pass over the control-flow graph carries the condition under which a block is reached, so enclosing
ifs, early returns, gotos and switch arms before a statement all count, and disjunctions meet again in simple form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from patchlint.cfg import Block, Branch, Cfg, Leave, Op, Select, Turn, build, successors, walk
from patchlint.checkers.canonical import Names, literal, strip, tail
from patchlint.checkers.conditions import ALWAYS, NEVER, OWNED, Condition, Lit, aged, either, given, settled
from patchlint.ir import (
    Assign,
    Binary,
    Call,
    Decl,
    Evaluate,
    Expr,
    Function,
    Index,
    Member,
    Name,
    Num,
    Unary,
    Variant,
)

SWEEPS: Final = 12
"""Passes over the graph before the conditions of loops are taken as they are."""

_WRAPPED_STORES: Final = {
    "WRITE_ONCE": 0, "rcu_assign_pointer": 0, "RCU_INIT_POINTER": 0, "smp_store_release": 0, "xchg": 0,
    "rcu_replace_pointer": 0, "cmpxchg": 0, "smp_store_mb": 0,
}


_QUIET: Final = frozenset(
    (*_WRAPPED_STORES, "READ_ONCE", "rcu_dereference", "rcu_dereference_protected", "netdev_priv")
)
"""Calls that change no state but what they say."""


class Stand(NamedTuple):
    """One call: the condition under which it runs, its block, and whether its result is thrown away."""

    call: Call
    condition: Condition
    block: int
    unused: bool
    target: Expr | None = None
    """What its result is assigned to, when that is all that is done with it."""


class Store(NamedTuple):
    """One store to a field: its canonical place ".a.b", the value, the operator and the condition."""

    place: str
    target: Expr
    value: Expr | None
    op: str
    condition: Condition
    block: int
    pos: int


@dataclass(frozen=True, slots=True)
class Standing:
    """All calls and stores of one variant of a function, in order of the blocks."""

    function: Function
    variant: Variant
    cfg: Cfg
    names: Names
    reached: tuple[Condition, ...]
    """Condition at the start of each block."""
    stands: tuple[Stand, ...]
    stores: tuple[Store, ...]


def standing(function: Function, variant: Variant) -> Standing:
    """Work out where everything in ``variant`` of ``function`` stands."""
    cfg = build(variant, _transparent)
    names = _names(function, cfg)
    reached = _reach(cfg, names)
    stands: list[Stand] = []
    stores: list[Store] = []
    for at, block in enumerate(cfg.blocks):
        now = reached[at]
        for op in block.ops:
            stands.extend(_calls(op, now, at))
            stores.extend(_stores(op, now, at, names))
            now = _after(op, now, names)
        stands.extend(Stand(c, now, at, False) for e in _tested(block) for c in _inside(e))
    return Standing(function, variant, cfg, names, reached, tuple(stands), tuple(stores))


def tests(placed: Standing) -> frozenset[str]:
    """Atoms of everything that the function branches on."""
    found: set[str] = set()
    for block in placed.cfg.blocks:
        for _, lits in _edges(block, placed.names):
            found.update(lit.atom for lit in ((lits,) if isinstance(lits, Lit) else lits or ()))
    return frozenset(found)


def reachable(cfg: Cfg, start: int) -> frozenset[int]:
    """Blocks that may run after ``start`` (itself only when a loop leads back)."""
    seen: set[int] = set()
    work = list(cfg.successors(start))
    while work:
        block = work.pop()
        if block not in seen:
            seen.add(block)
            work.extend(cfg.successors(block))
    return frozenset(seen)


# ------------------------------------------------------------------ the pass


def _reach(cfg: Cfg, names: Names) -> tuple[Condition, ...]:
    preds: list[list[tuple[int, Lit | tuple[Lit, ...] | None]]] = [[] for _ in cfg.blocks]
    for at, block in enumerate(cfg.blocks):
        for target, lits in _edges(block, names):
            preds[target].append((at, lits))
    reached: list[Condition] = [NEVER] * len(cfg.blocks)
    out: list[Condition] = [NEVER] * len(cfg.blocks)
    for _ in range(SWEEPS):
        changed = False
        for at, block in enumerate(cfg.blocks):
            incoming = [_through(out[p], lits) for p, lits in preds[at]]
            if at == 0:
                incoming.append(ALWAYS)
            now = either(*incoming)
            if now == reached[at] and out[at]:
                continue
            changed = True
            reached[at] = now
            for op in block.ops:
                now = _after(op, now, names)
            out[at] = now
        if not changed:
            break
    return tuple(reached)


def _through(condition: Condition, lits: Lit | tuple[Lit, ...] | None) -> Condition:
    if lits is None:
        return condition
    for lit in (lits,) if isinstance(lits, Lit) else lits:
        condition = given(condition, lit)
    return condition


def _edges(block: Block, names: Names) -> Iterator[tuple[int, Lit | tuple[Lit, ...] | None]]:
    term = block.term
    if isinstance(term, Branch):
        yield term.true, literal(term.test, True, names)
        yield term.false, literal(term.test, False, names)
    elif isinstance(term, Turn):
        yield term.body, Lit(f"a turn of {term.macro.name}", True, "loop")
        yield term.exit, None
    elif isinstance(term, Select):
        yield from _arms(term, names)
    else:
        for target in successors(term):
            yield target, None


def _arms(term: Select, names: Names) -> Iterator[tuple[int, tuple[Lit, ...]]]:
    others: list[Lit] = []
    for low, _, target in term.cases:
        lit = literal(Binary("==", term.value, low, term.pos), True, names)
        yield target, (lit,)
        others.append(lit._replace(holds=not lit.holds))
    yield term.default, tuple(others)


def _after(op: Op, now: Condition, names: Names) -> Condition:
    """The condition after ``op``: what spoke of something that it changes, or that a call may change, is old."""
    if any(call.name not in _QUIET for call in _calls_of(op)):
        now = settled(now, OWNED)
    for root, value in _changes(op):
        now = aged(now, root)
        constant = strip(value) if value is not None else None
        private = root in names.locals or root.startswith("$")
        if private and isinstance(constant, Num) and constant.value is not None:
            now = given(now, Lit(root, constant.value != 0, "local", frozenset((root,))))
    return now


def _calls_of(op: Op) -> Iterator[Call]:
    expr = op.expr if isinstance(op, Evaluate) else op.init if isinstance(op, Decl) else None
    return _inside(expr) if expr is not None else iter(())


def _changes(op: Op) -> Iterator[tuple[str, Expr | None]]:
    """Variables and fields that ``op`` changes, with the new value where it is a plain assignment."""
    if isinstance(op, Decl):
        if op.init is not None:
            yield op.name, op.init
            yield from _changed_in(op.init)
    elif isinstance(op, Evaluate):
        yield from _changed_in(op.expr)


def _changed_in(expr: Expr) -> Iterator[tuple[str, Expr | None]]:
    for node in walk(expr):
        if isinstance(node, Assign):
            yield from _roots(node.target, node.value if node.op == "=" else None)
        elif isinstance(node, Unary) and node.op in ("++", "--", "p++", "p--"):
            yield from _roots(node.operand, None)
        elif isinstance(node, Call):
            for arg in node.args:
                if isinstance(arg, Unary) and arg.op == "&" and isinstance(arg.operand, Name):
                    yield arg.operand.id, None
            if node.name in _WRAPPED_STORES and node.args:
                yield from _roots(_stored_to(node), None)


def _roots(target: Expr, value: Expr | None) -> Iterator[tuple[str, Expr | None]]:
    target = strip(target)
    if isinstance(target, Name):
        yield target.id, value
    elif isinstance(target, Call):
        yield f"{target.name}()", None
    elif isinstance(target, Member | Index):
        for part in tail(target).split("."):
            if part:
                yield f".{part}", None


def _stored_to(call: Call) -> Expr:
    target = call.args[_WRAPPED_STORES[call.name]]
    return target.operand if isinstance(target, Unary) and target.op == "&" else target


# -------------------------------------------------------------------- names


def _names(function: Function, cfg: Cfg) -> Names:
    declared: set[str] = set()
    flags: set[str] = set()
    values: dict[str, tuple[Expr, int]] = {}
    count: Counter[str] = Counter()
    stored: dict[str, list[int]] = {}
    made: dict[str, int] = {}
    for block in cfg.blocks:
        for op in block.ops:
            if isinstance(op, Decl):
                declared.add(op.name)
                if op.type.split()[-1:] == ["bool"]:
                    flags.add(op.name)
            for root, value in _changes(op):
                count[root] += 1
                if not function.whole and value is not None and not root.startswith("."):
                    declared.add(root)
                if value is not None:
                    values[root] = (value, op.pos)
                stored.setdefault(root, []).append(op.pos)
            made.update((place, op.pos) for place in _made(op))
        if isinstance(block.term, Turn):
            count.update(n.id for a in block.term.macro.args for n in walk(a) if isinstance(n, Name))
    params = frozenset(p.name for p in function.params)
    single = {n: v for n, v in values.items() if count[n] == 1 and n in declared and n not in params}
    return Names(
        params, frozenset(declared), single, {k: tuple(v) for k, v in stored.items()}, frozenset(flags), made
    )


def _made(op: Op) -> Iterator[str]:
    """Fields and file-level variables that ``op`` sets to what a call gives: asking them asks whether it worked."""
    if isinstance(op, Evaluate) and isinstance(op.expr, Assign) and isinstance(strip(op.expr.value), Call):
        target = strip(op.expr.target)
        place = tail(target) or (target.id if isinstance(target, Name) else "")
        if place:
            yield place


def _transparent(name: str) -> int:
    return 0 if name in ("likely", "unlikely", "WARN_ON", "WARN_ON_ONCE") else -1


# ----------------------------------------------------------- calls and stores


def _calls(op: Op, now: Condition, at: int) -> Iterator[Stand]:
    if isinstance(op, Decl):
        if op.init is not None:
            value = strip(op.init)
            target = Name(op.name, op.pos)
            yield from (Stand(c, now, at, False, target if c is value else None) for c in _inside(op.init))
    elif isinstance(op, Evaluate):
        expr = op.expr
        given_to = expr.target if isinstance(expr, Assign) and expr.op == "=" else None
        whole = strip(expr.value) if isinstance(expr, Assign) else expr
        for call in _inside(expr):
            yield Stand(call, now, at, call is expr, given_to if call is whole else None)


def _inside(expr: Expr) -> Iterator[Call]:
    return (node for node in walk(expr) if isinstance(node, Call))


def _tested(block: Block) -> tuple[Expr, ...]:
    term = block.term
    if isinstance(term, Branch):
        return (term.test,)
    if isinstance(term, Select):
        return (term.value,)
    if isinstance(term, Turn):
        return term.macro.args
    if isinstance(term, Leave) and term.value is not None:
        return (term.value,)
    return ()


def _stores(op: Op, now: Condition, at: int, names: Names) -> Iterator[Store]:
    expr = op.expr if isinstance(op, Evaluate) else op.init if isinstance(op, Decl) else None
    for node in walk(expr) if expr is not None else ():
        if isinstance(node, Assign):
            target, value, how = node.target, node.value, node.op
        elif isinstance(node, Call) and node.name in _WRAPPED_STORES and len(node.args) > 1:
            target, value, how = _stored_to(node), node.args[1], "="
        else:
            continue
        place = tail(target) or _global(target, names)
        if place:
            yield Store(place, target, value, how, now, at, node.pos)




def _global(target: Expr, names: Names) -> str:
    """The name of a file-level variable that is stored to; "" for locals."""
    target = strip(target)
    if isinstance(target, Name) and not target.id.startswith("$") and target.id not in names.params | names.locals:
        return target.id
    return ""
