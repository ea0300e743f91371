"""What later code can still ask: live variables and words of reachable conditions, per block.

Paths whose states differ only in what nobody asks any more are one path (PRECISION.md: "facts are kept only while
some reachable branch tests them").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from patchlint.cfg import Block, Branch, Cfg, Cleanup, EnterGuard, Leave, Select, Terminator, Turn, walk
from patchlint.ir import Assign, Call, Decl, Evaluate, Expr, Function, Member, Name, Unary

_Bits: TypeAlias = int
"""A set of words, one bit each: the fixpoint joins them at every edge of the graph."""


class Needs(NamedTuple):
    """What is needed from the blocks on that several edges enter."""

    live: Mapping[int, frozenset[str]]
    """Variables read at or after the start of the block, and those whose address is taken somewhere."""
    asked: Mapping[int, frozenset[str]]
    """Names in conditions at or after the start of the block."""
    returned: frozenset[str]
    """Variables whose value the function returns somewhere."""


class _Words:
    """The words of one graph by number."""

    __slots__ = ("_numbers", "_words")

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._words: list[str] = []

    def bit(self, word: str) -> _Bits:
        """The set of this word alone."""
        number = self._numbers.setdefault(word, len(self._numbers))
        if number == len(self._words):
            self._words.append(word)
        return 1 << number

    def named(self, bits: _Bits) -> frozenset[str]:
        """The words of a set."""
        return frozenset(word for number, word in enumerate(self._words) if bits >> number & 1)


class _Mentioned(NamedTuple):
    """What an expression speaks of."""

    names: _Bits
    """Variables, constants and functions that are used as values."""
    words: _Bits
    """Those, fields and called functions."""
    addressed: _Bits
    """Variables whose address is taken."""


class _Uses:
    """Reads before writes, writes and condition words of one block."""

    __slots__ = ("addressed", "asked", "flows", "reads", "returned", "words", "writes")

    def __init__(self, words: _Words) -> None:
        self.words = words
        self.reads: _Bits = 0
        self.writes: _Bits = 0
        self.asked: _Bits = 0
        self.addressed: _Bits = 0
        self.returned: _Bits = 0
        self.flows: list[tuple[_Bits, _Bits]] = []
        """Targets of assignments and the words of what is assigned, in order."""

    def block(self, block: Block) -> None:
        """Add what a block does."""
        for op in block.ops:
            if isinstance(op, Evaluate):
                self._evaluate(op.expr)
            elif isinstance(op, Decl):
                target = self.words.bit(op.name)
                if op.init is not None:
                    self.flows.append((target, self._read(op.init).words))
                self.writes |= target
            elif isinstance(op, EnterGuard):
                for arg in op.args:
                    self._read(arg, addresses=False)
            elif isinstance(op, Cleanup):
                variable = self.words.bit(op.var)
                self.reads |= variable & ~self.writes
                self.asked |= variable
        self._term(block.term)

    def _term(self, term: Terminator) -> None:
        if isinstance(term, Branch):
            self.asked |= self._read(term.test).words
            for node in walk(term.test):
                if isinstance(node, Assign):
                    self._flow(node)
        elif isinstance(term, Select | Leave):
            value: Expr | None = term.value
            if value is not None:
                found = self._read(value)
                self.asked |= found.words
                self.returned |= found.names if isinstance(term, Leave) else 0
        elif isinstance(term, Turn):
            for arg in term.macro.args:
                self._read(arg, addresses=False)

    def _read(self, expr: Expr, *, addresses: bool = True) -> _Mentioned:
        found = self._mentioned(expr)
        self.reads |= found.names & ~self.writes
        self.addressed |= found.addressed if addresses else 0
        return found

    def _evaluate(self, expr: Expr) -> None:
        if isinstance(expr, Assign) and isinstance(expr.target, Name):
            target = self.words.bit(expr.target.id)
            self.flows.append((target, self._read(expr.value).words))
            if expr.op != "=":
                self.reads |= target & ~self.writes
            self.writes |= target
        else:
            self._read(expr)
            if isinstance(expr, Assign):
                self._flow(expr)

    def _flow(self, assign: Assign) -> None:
        self.flows.append((self._mentioned(assign.target).words, self._mentioned(assign.value).words))

    def _mentioned(self, expr: Expr) -> _Mentioned:
        bit = self.words.bit
        names = others = addressed = 0
        for node in walk(expr):
            if isinstance(node, Name):
                names |= bit(node.id)
            elif isinstance(node, Member):
                others |= bit(node.field)
            elif isinstance(node, Call) and node.name:
                others |= bit(node.name)
            elif isinstance(node, Unary) and node.op == "&" and isinstance(node.operand, Name):
                addressed |= bit(node.operand.id)
        return _Mentioned(names, names | others, addressed)


@lru_cache(maxsize=8)  # a graph is explored again to confirm a fault, and callees in between
def analyse(cfg: Cfg) -> Needs:
    """Live variables and reachable condition words (backward, to the least fixpoint)."""
    words = _Words()
    uses = []
    for block in cfg.blocks:
        uses.append(_Uses(words))
        uses[-1].block(block)
    live, asked = _fixpoint(cfg, uses)
    addressed = returned = 0
    for use in uses:
        addressed |= use.addressed
        returned |= use.returned
    joins = tuple(_joins(cfg))
    return Needs(
        {at: words.named(live[at] | addressed) for at in joins},
        {at: words.named(asked[at]) for at in joins},
        words.named(returned),
    )


def _fixpoint(cfg: Cfg, uses: list[_Uses]) -> tuple[list[_Bits], list[_Bits]]:
    after = [cfg.successors(at) for at in range(len(uses))]
    live = [use.reads for use in uses]
    asked = [use.asked for use in uses]
    changed = True
    while changed:
        changed = False
        for at in range(len(uses) - 1, -1, -1):
            use, new_live, new_asked = uses[at], live[at], asked[at]
            for succ in after[at]:
                new_live |= live[succ] & ~use.writes
                new_asked |= asked[succ]
            for targets, words in reversed(use.flows):
                if targets & new_asked:
                    new_asked |= words
            if new_live != live[at] or new_asked != asked[at]:
                live[at], asked[at], changed = new_live, new_asked, True
    return live, asked


def _joins(cfg: Cfg) -> Iterator[int]:
    """Blocks that several edges enter; the entry has one from outside."""
    entries = [1] + [0] * (len(cfg.blocks) - 1)
    for at in range(len(cfg.blocks)):
        for succ in set(cfg.successors(at)):
            entries[succ] += 1
    return (at for at, count in enumerate(entries) if count > 1)


def locals_of(cfg: Cfg, function: Function) -> dict[str, bool]:
    """Names of parameters and locals; true where the name stands for an address (arrays)."""
    found = {p.name: False for p in function.params if p.name}
    for block in cfg.blocks:
        for op in block.ops:
            if isinstance(op, Decl) and not op.static:
                found[op.name] = op.array
    return found


def pointers_of(cfg: Cfg, function: Function) -> frozenset[str]:
    """Names of the parameters and locals that are pointers."""
    params = {p.name for p in function.params if p.pointer}
    return frozenset(params.union(
        op.name for block in cfg.blocks for op in block.ops if isinstance(op, Decl) and op.pointer and not op.array
    ))  # fmt: skip
