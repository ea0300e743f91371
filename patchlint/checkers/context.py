"""What a checker of single functions is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from patchlint.checkers.beside import NOTHING_BESIDE, Beside
from patchlint.checkers.file_facts import NO_FACTS, FileFacts
from patchlint.checkers.teardown import NO_TEARDOWNS, Teardowns
from patchlint.dataflow import Callees
from patchlint.ir import Function
from patchlint.lines import LineTable
from patchlint.model import Finding, NotAnalysed
from patchlint.ruleset import Ruleset

Mode = Literal["changed", "new", "tree"]
"""changed: the function exists before and after the patch and only what differs between the two will be shown, so
unmodelled calls are taken to borrow.  new: it arrives whole; tree: it stands in the tree (``patchlint file``): in both
an unmodelled call may keep what it is given unless its body shows otherwise.  (PRECISION.md: treatments b and c.)"""


@dataclass(frozen=True, slots=True)
class FunctionContext:
    """One function in one state of its file, with all that is known about what it calls."""

    function: Function
    path: str
    source: bytes
    lines: LineTable
    file_line: Callable[[int], int]
    """Byte offset to line of the real file (differs from ``lines`` for fragments)."""
    ruleset: Ruleset
    callees: Callees
    mode: Mode = "changed"
    held_by_callers: frozenset[str] = frozenset()
    """Families ("rcu", "mutex" ...) that every known caller holds around its call."""
    is_callback: str = ""
    """The operations-table field this function is stored in ("" for none), e.g. "start", "probe"."""
    file: FileFacts = NO_FACTS
    """What the other functions of the file tell of what RCU protects."""
    added: tuple[tuple[int, int], ...] = ()
    """Offsets (first, past the last) of what the series wrote of a changed function: there is nothing before to
    compare what is taken there with."""
    teardowns: Teardowns = NO_TEARDOWNS
    """What the file's teardown functions give back."""
    beside: Beside = NOTHING_BESIDE
    """What the file's functions do with what calls give them."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Findings of one function (verdict, patch and fingerprint are the review's business) and what was not analysed."""

    findings: tuple[Finding, ...] = ()
    not_analysed: tuple[NotAnalysed, ...] = ()
    states: int = 0
    """States the path engine explored, for ``--stats``."""
