"""KEY004: keys changed where sleeping is not allowed, or under the hotplug lock with a call that takes it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from patchlint.checkers.held import Hold, Holds, held_at
from patchlint.checkers.standing import standing
from patchlint.checkers.static_key_sites import KeyFacts, KeySite
from patchlint.checkers.static_key_state import is_boot, is_tool, step
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece, TreeView
from patchlint.model import Step
from patchlint.ruleset import Models, Ruleset

ATOMIC: Final = frozenset(("atomic", "irq", "bh", "rcu"))
"""Contexts in which a change of a key must not be made: it takes a mutex and the hotplug lock."""

HOTPLUG: Final = frozenset(("cpus_read_lock", "cpus_write_lock", "get_online_cpus", "lockdep_assert_cpus_held"))
HOTPLUG_END: Final = frozenset(("cpus_read_unlock", "cpus_write_unlock", "put_online_cpus"))

NO_PATCHING: Final = "CONFIG_JUMP_LABEL=n"
"""Without jump labels a key is a plain atomic counter and nothing sleeps."""

MAX_CALLERS: Final = 12
"""Callers of one function that are looked into."""


def wrong_contexts(view: TreeView, facts: KeyFacts, ruleset: Ruleset) -> Iterator[TreeFault]:
    """Sites inside a lock or section, in their own function or in a caller."""
    for site in facts.sites:
        if site.place is None or ("deferred" in site.word and site.op == "dec") or NO_PATCHING in site.config:
            continue
        placed, stand = site.place
        holds = held_at(placed, frozenset((stand.call,)), ruleset.models.summary, ruleset.models.guard)
        fault = _own(view, site, holds.get(stand.call, frozenset()))
        if fault is not None:
            yield fault
        elif not is_boot(view, site):
            yield from _callers(view, site, ruleset.models)


def _own(view: TreeView, site: KeySite, holds: Holds) -> TreeFault | None:
    hold = _bad(holds, site)
    if hold is None or site.place is None:
        return None
    opened = Step(site.path, _line(view, site.path, site.function, hold.pos), f"{hold.word}() opens a section here")
    return _fault(site, hold, (opened, step(site)), "")


def _callers(view: TreeView, site: KeySite, models: Models) -> Iterator[TreeFault]:
    """The first caller that holds something for certain around its call."""
    sites = view.callers(site.function, site.path)
    for call in sites[:MAX_CALLERS]:
        if not call.function or call.function == site.function or is_tool(call.file) != is_tool(site.path):
            continue
        for piece in view.pieces(call.file):
            found = _held_by(piece, call.function, site, models)
            if found is not None:
                hold, pos, opened = found
                trace = (
                    Step(call.file, opened, f"{call.function} opens {hold.word}()"),
                    Step(call.file, pos, f"and calls {site.function}"),
                    step(site),
                )
                yield _fault(site, hold, trace, call.function)
                return


def _held_by(piece: Piece, function: str, site: KeySite, models: Models) -> tuple[Hold, int, int] | None:
    for head in piece.unit.heads:
        if head.name != function or site.function not in piece.unit.calls(head):
            continue
        lowered = piece.unit.function(head)
        for variant in lowered.variants:
            placed = standing(lowered, variant)
            calls = frozenset(stand.call for stand in placed.stands if stand.call.name == site.function)
            for call, holds in held_at(placed, calls, models.summary, models.guard).items():
                hold = _bad(holds, site)
                if hold is not None:
                    return hold, piece.file_line(call.pos), piece.file_line(hold.pos)
    return None


def _bad(holds: Holds, site: KeySite) -> Hold | None:
    """The hold under which the site must not run."""
    for hold in sorted(holds, key=lambda hold: hold.pos):
        if hold.context in ATOMIC or (hold.word in HOTPLUG and not site.locked):
            return hold
    return None


def _fault(site: KeySite, hold: Hold, trace: tuple[Step, ...], caller: str) -> TreeFault:
    by = f" (called by {caller})" if caller else ""
    if hold.word in HOTPLUG:
        message = f"{site.word}() takes the CPU hotplug lock, held since {hold.word}(){by}; use the _cpuslocked form"
    else:
        message = f"{site.word}() may sleep, but {site.function}{by} changes {site.key} inside {hold.word}()"
    return TreeFault(
        "hotplug" if hold.word in HOTPLUG else "sleeps", "medium" if caller else "high", message, site.path, site.line,
        site.column, site.function, site.key, trace, site.config, detail=caller,
    )  # fmt: skip


def _line(view: TreeView, path: str, function: str, pos: int) -> int:
    for piece in view.pieces(path):
        for head in piece.unit.heads:
            if head.name == function and head.start <= pos <= head.end:
                return piece.file_line(pos)
    return 0


