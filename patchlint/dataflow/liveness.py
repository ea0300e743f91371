"""What later code can still ask: live variables and words of reachable conditions, per block.

Paths whose states differ only in what nobody asks any more are one path (PRECISION.md: "facts are kept only while
some reachable branch tests them").
"""

from __future__ import annotations

from typing import NamedTuple

from patchlint.cfg import Branch, Cfg, Cleanup, EnterGuard, Leave, LeaveGuard, Select, Turn, walk
from patchlint.ir import Assign, Call, Decl, Evaluate, Expr, Member, Name, Unary


class Needs(NamedTuple):
    """Per block: variables read at or after its start, and names in conditions at or after its start."""

    live: tuple[frozenset[str], ...]
    asked: tuple[frozenset[str], ...]
    addressed: frozenset[str]
    """Variables whose address is taken somewhere."""
    joins: frozenset[int]
    """Blocks that several edges enter."""
    returned: frozenset[str]
    """Variables whose value the function returns somewhere."""


class _Uses:
    """Reads before writes, writes and condition words of one block."""

    __slots__ = ("asked", "flows", "reads", "writes")

    def __init__(self) -> None:
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.asked: set[str] = set()
        self.flows: list[tuple[str, set[str]]] = []

    def read(self, expr: Expr) -> None:
        for node in walk(expr):
            if type(node) is Name and node.id not in self.writes:
                self.reads.add(node.id)

    def evaluate(self, expr: Expr) -> None:
        if isinstance(expr, Assign) and isinstance(expr.target, Name):
            self.read(expr.value)
            if expr.op != "=":
                self.read(expr.target)
            self.flows.append((expr.target.id, _words(expr.value)))
            self.writes.add(expr.target.id)
        else:
            self.read(expr)
            if isinstance(expr, Assign):
                self.flows.extend((word, _words(expr.value)) for word in _words(expr.target))


def _words(expr: Expr) -> set[str]:
    found = set()
    for node in walk(expr):
        if type(node) is Name:
            found.add(node.id)
        elif type(node) is Member:
            found.add(node.field)
        elif type(node) is Call and node.name:
            found.add(node.name)
    return found


def _scan(cfg: Cfg, index: int) -> _Uses:
    uses = _Uses()
    block = cfg.blocks[index]
    for op in block.ops:
        if isinstance(op, Evaluate):
            uses.evaluate(op.expr)
        elif isinstance(op, Decl):
            if op.init is not None:
                uses.read(op.init)
                uses.flows.append((op.name, _words(op.init)))
            uses.writes.add(op.name)
        elif isinstance(op, EnterGuard):
            for arg in op.args:
                uses.read(arg)
        elif isinstance(op, Cleanup):
            if op.var not in uses.writes:
                uses.reads.add(op.var)
            uses.asked.add(op.var)
        elif isinstance(op, LeaveGuard):
            pass
    _scan_term(cfg, index, uses)
    return uses


def _scan_term(cfg: Cfg, index: int, uses: _Uses) -> None:
    term = cfg.blocks[index].term
    if isinstance(term, Branch):
        uses.read(term.test)
        uses.asked |= _words(term.test)
        for node in walk(term.test):
            if isinstance(node, Assign):
                uses.flows.extend((word, _words(node.value)) for word in _words(node.target))
    elif isinstance(term, Select | Leave):
        value: Expr | None = term.value
        if value is not None:
            uses.read(value)
            uses.asked |= _words(value)
    elif isinstance(term, Turn):
        for arg in term.macro.args:
            uses.read(arg)


def analyse(cfg: Cfg) -> Needs:
    """Live variables and reachable condition words of every block (backward, to the least fixpoint)."""
    uses = [_scan(cfg, i) for i in range(len(cfg.blocks))]
    after = [cfg.successors(i) for i in range(len(cfg.blocks))]
    live = [set(u.reads) for u in uses]
    asked = [set(u.asked) for u in uses]
    changed = True
    while changed:
        changed = False
        for i in range(len(uses) - 1, -1, -1):
            new_live, new_asked = set(live[i]), set(asked[i])
            for succ in after[i]:
                new_live |= live[succ] - uses[i].writes
                new_asked |= asked[succ]
            for target, words in reversed(uses[i].flows):
                if target in new_asked:
                    new_asked |= words
            if len(new_live) != len(live[i]) or len(new_asked) != len(asked[i]):
                live[i], asked[i], changed = new_live, new_asked, True
    entries = [1] + [0] * (len(uses) - 1)
    for succs in after:
        for succ in set(succs):
            entries[succ] += 1
    return Needs(
        tuple(map(frozenset, live)),
        tuple(map(frozenset, asked)),
        frozenset(_addressed(cfg)),
        frozenset(i for i, n in enumerate(entries) if n > 1),
        frozenset(_returned(cfg)),
    )


def _addressed(cfg: Cfg) -> set[str]:
    found: set[str] = set()
    for block in cfg.blocks:
        for op in block.ops:
            expr = op.expr if isinstance(op, Evaluate) else op.init if isinstance(op, Decl) else None
            if expr is not None:
                found |= _taken(expr)
        term = block.term
        value = term.test if isinstance(term, Branch) else term.value if isinstance(term, Select | Leave) else None
        if value is not None:
            found |= _taken(value)
    return found


def _taken(expr: Expr) -> set[str]:
    return {
        node.operand.id
        for node in walk(expr)
        if type(node) is Unary and node.op == "&" and type(node.operand) is Name
    }


def _returned(cfg: Cfg) -> set[str]:
    """Variables in returned expressions; through wrappers too (``return ERR_PTR(err)``)."""
    found: set[str] = set()
    for block in cfg.blocks:
        if isinstance(block.term, Leave) and block.term.value is not None:
            found |= {node.id for node in walk(block.term.value) if type(node) is Name}
    return found
