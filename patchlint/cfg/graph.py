"""The control-flow graph: basic blocks of operations, ended by one terminator each."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from patchlint.ir import Call, Decl, Evaluate, Expr


class EnterGuard(NamedTuple):
    """A scope-bound hold begins; ``ident`` pairs it with its :class:`LeaveGuard`."""

    ident: int
    name: str
    args: tuple[Expr, ...]
    pos: int


class LeaveGuard(NamedTuple):
    """The scope-bound hold ``ident`` ends."""

    ident: int
    name: str
    pos: int


class Cleanup(NamedTuple):
    """A variable declared with a cleanup attribute goes out of scope."""

    var: str
    cleanup: str
    pos: int


class Havoc(NamedTuple):
    """Unreadable or missing text: nothing known before holds after."""

    pos: int


Op: TypeAlias = Evaluate | Decl | EnterGuard | LeaveGuard | Cleanup | Havoc


class Jump(NamedTuple):
    """Go on at ``target``."""

    target: int


class Branch(NamedTuple):
    """Go on at ``true`` or ``false`` after ``test``; the test holds no ``&&``, ``||`` or ``?:``."""

    test: Expr
    true: int
    false: int
    pos: int


class Select(NamedTuple):
    """A switch: ``cases`` are (low, high or None, target) in order of the text."""

    value: Expr
    cases: tuple[tuple[Expr, Expr | None, int], ...]
    default: int
    pos: int
    open: bool = False
    """There is no ``default:``; the cases may well be all that there can be."""


class Turn(NamedTuple):
    """The head of a macro loop: one more turn at ``body``, or the end at ``exit``."""

    macro: Call
    body: int
    exit: int
    pos: int


class Choice(NamedTuple):
    """Any of ``targets``, for reasons the code does not show (hidden gotos, conditional guards)."""

    targets: tuple[int, ...]
    pos: int


class Leave(NamedTuple):
    """The function returns ``value``; ``implicit`` when it falls off its end."""

    value: Expr | None
    pos: int
    implicit: bool = False


class Halt(NamedTuple):
    """The path ends here and never returns to the caller."""

    pos: int


Terminator: TypeAlias = Jump | Branch | Select | Turn | Choice | Leave | Halt


class Block(NamedTuple):
    """Straight-line operations and what follows them."""

    ops: tuple[Op, ...]
    term: Terminator


@dataclass(frozen=True, slots=True, eq=False)
class Cfg:
    """The graph of one function variant; block 0 is the entry. Only reachable blocks are kept.

    Two are equal only when they are one object.
    """

    blocks: tuple[Block, ...]
    end: int
    """Offset of the closing brace."""

    def successors(self, block: int) -> tuple[int, ...]:
        """Blocks that may follow ``block``."""
        return successors(self.blocks[block].term)

    def reachable(self, block: int, last: int = -1) -> set[int]:
        """Blocks that some path from the end of ``block`` enters; none goes on from ``last``."""
        found: set[int] = set()
        work = [block]
        while work:
            for after in self.successors(work.pop()):
                if after not in found:
                    found.add(after)
                    if after != last:
                        work.append(after)
        return found

    def entered_without(self, through: Set[int]) -> frozenset[int]:
        """Blocks that some path from the entry reaches and enters none of ``through`` on the way, those left out."""
        found: set[int] = set()
        work = [0]
        while work:
            at = work.pop()
            if at not in found and at not in through:
                found.add(at)
                work.extend(self.successors(at))
        return frozenset(found)


def successors(term: Terminator) -> tuple[int, ...]:
    """Targets of a terminator, in order, possibly with repetitions."""
    targets = _TARGETS.get(type(term))
    return () if targets is None else targets(term)


_TARGETS: Final[dict[type, Callable[[Any], tuple[int, ...]]]] = {
    Jump: lambda term: (term.target,),
    Branch: lambda term: (term.true, term.false),
    Turn: lambda term: (term.body, term.exit),
    Select: lambda term: (*(case[2] for case in term.cases), term.default),
    Choice: lambda term: term.targets,
}
