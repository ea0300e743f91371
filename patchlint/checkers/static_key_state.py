"""KEY001 and KEY002 as one state of the tree shows them: increments without answer, answers under other conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from patchlint.checkers.conditions import common, kinds_of
from patchlint.checkers.standing import Store, standing
from patchlint.checkers.static_key_pairs import Pairing, cleared_before, is_nothing, pairings, told
from patchlint.checkers.static_key_sites import KeyFacts, KeySite
from patchlint.checkers.tree_change import text_of
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece, TreeView
from patchlint.model import Confidence, Step
from patchlint.syntax import Head

_BOOT: Final = re.compile(rb"\b(?:__init|__exit|__cpuinit|__ref|__initdata|__head)\b")
_ONCE: Final = re.compile(rb"\b(?:DO_ONCE|early_param|__setup|initcall)\b")


_OPPOSITE_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "open": ("stop", "close", "release"),
    "init": ("uninit", "exit", "destroy", "release", "fini"),
    "probe": ("remove", "disconnect"),
    "start": ("stop",),
    "attach": ("detach",),
    "bind": ("unbind",),
    "create": ("destroy", "release", "free"),
    "alloc": ("free",),
    "online": ("offline",),
    "enable": ("disable",),
    "setup": ("teardown", "cleanup"),
    "add": ("del", "remove"),
    "ctr": ("dtr",),
}
"""Words in names of operations and the words for what undoes them."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the caller knows of a key beyond its sites."""

    complete: bool
    """Every place that changes the key is in sight."""
    fresh: bool
    """The series brings the key in."""
    added: frozenset[tuple[str, str]] = frozenset()
    """(path, function) of increments that the series brings in."""


def unpaired(view: TreeView, facts: KeyFacts, known: Known) -> Iterator[TreeFault]:
    """Increments that nothing undoes and decrements that nothing precedes."""
    incs, decs = facts.having("inc"), facts.having("dec")
    if not known.complete:
        return
    if incs and not facts.having("dec", "disable"):
        site = _first_lasting(view, incs)
        if site is not None:
            yield _no_decrement(view, facts, site, known)
    elif decs and not facts.having("inc", "enable") and not any(d.default for d in facts.definitions):
        yield _no_increment(facts, decs[0], known)
    else:
        yield from _orphans(view, facts)


def forgotten(view: TreeView, facts: KeyFacts) -> Iterator[TreeFault]:
    """Functions that empty the field whose truth the key counts, without the decrement that others make for it."""
    decs = facts.having("dec")
    undoing = {site.function for site in decs} | {site.function for site in facts.having("disable")}
    for dec in decs:
        field = _counted_field(dec, facts)
        if not field or dec.place is None:
            continue
        for piece in view.pieces(dec.path):
            for head in piece.unit.heads:
                calls = piece.unit.calls(head)
                if head.name in undoing or calls & undoing or not _mentions(piece, head, field):
                    continue
                store = _emptied(piece, head, field)
                if store is not None:
                    yield _left_behind(dec, piece, head.name, store, field)


def unequal(facts: KeyFacts) -> Iterator[TreeFault]:
    """Pairs whose conditions disagree for sure."""
    for pair in pairings(facts):
        if pair.dec is None or not (pair.inc.whole or pair.dec.whole or facts.definitions):
            continue
        if pair.relation == "differs":
            yield _differing(pair, "high", "they stand under different conditions")
        elif pair.relation == "own state" and not _once(pair.inc):
            yield _differing(pair, "medium", "the decrement asks the key's own count, not the object that counted")
        elif pair.relation == "cleared":
            yield _differing(pair, "medium", "the condition is emptied before the decrement asks it")


def step(site: KeySite) -> Step:
    """A step of a trace: what a site does, under which condition."""
    verb = {"inc": "incremented", "dec": "decremented", "enable": "enabled", "disable": "disabled"}[site.op]
    condition = told(site)
    return Step(site.path, site.line, f"{site.key} {verb} in {site.function} {when(condition)}")


def when(condition: str) -> str:
    """``condition`` as words: "when x" or "always"."""
    return condition if condition in ("always", "never") else f"when {condition}"


def is_boot(view: TreeView, site: KeySite) -> bool:
    """Whether the site runs once, while the kernel or module starts, or every known caller of its function does."""
    if _boot_function(view, site.path, site.function):
        return True
    calls = view.callers(site.function, site.path)
    callers = {(c.file, c.function) for c in calls if c.function and not is_tool(c.file)}
    return bool(callers) and len(callers) < 8 and all(_boot_function(view, *caller) for caller in callers)


def is_tool(path: str) -> bool:
    """Whether the file is no part of the kernel, so that its functions are others of the same name."""
    return path.startswith(("tools/", "Documentation/", "scripts/"))


def _boot_function(view: TreeView, path: str, function: str) -> bool:
    for piece in view.pieces(path):
        text = text_of(piece, function)
        head = text.split(b"{", 1)[0]
        if text and (_BOOT.search(head) or _ONCE.search(head)):
            return True
    return False


def _first_lasting(view: TreeView, incs: tuple[KeySite, ...]) -> KeySite | None:
    """The first increment that may run again and again, for a module with each loading; None when all run once."""
    for site in incs:
        if not _once(site) and (not is_boot(view, site) or _tear_down(view, site) is not None):
            return site
    return None


def _once(site: KeySite) -> bool:
    """Guarded by the key not being set yet: it is made true once, not counted."""
    return "key" in kinds_of(site.condition)


def _no_decrement(view: TreeView, facts: KeyFacts, site: KeySite, known: Known) -> TreeFault:
    sure: Confidence = "low"
    end = Step(site.path, site.line, "no decrement anywhere")
    down = _tear_down(view, site)
    if down is not None:
        end = Step(site.path, down[0].file_line(down[1].start), f"{down[1].name} does not decrement it")
    if known.fresh:
        sure = "high"
    elif (site.path, site.function) in known.added or down is not None:
        sure = "medium"
    trace = (*(step(s) for s in facts.having("inc")), end)
    message = f"static key {facts.key} is incremented here and decremented nowhere"
    return _fault("unpaired", sure, message, site, trace)


def _no_increment(facts: KeyFacts, site: KeySite, known: Known) -> TreeFault:
    trace = (*(step(s) for s in facts.having("dec")), Step(site.path, site.line, "no increment anywhere"))
    message = f"static key {facts.key} is decremented here and incremented nowhere"
    return _fault("unpaired", "high" if known.fresh else "medium", message, site, trace, "reverse")


def _orphans(view: TreeView, facts: KeyFacts) -> Iterator[TreeFault]:
    """Increments that only functions which balance themselves could answer."""
    for pair in pairings(facts):
        if pair.relation not in ("none", "undo") or _once(pair.inc) or is_boot(view, pair.inc):
            continue
        if pair.relation == "undo" and not pair.inc.whole:
            continue
        yield _orphan(view, facts, pair)


def _orphan(view: TreeView, facts: KeyFacts, pair: Pairing) -> TreeFault:
    """The fault of an increment without tear-down, placed at the tear-down where an operations table names it."""
    others = tuple(site for site in facts.having("dec") if site != pair.dec)
    trace = (step(pair.inc), *(step(site) for site in others))
    down = _tear_down(view, pair.inc)
    if down is None:
        message = (
            f"static key {facts.key} is incremented in {pair.inc.function} and no tear-down decrements it: "
            "the decrements that exist belong to other changes of state"
        )
        return _fault("unpaired", "medium", message, pair.inc, trace)
    piece, head = down
    line = piece.file_line(head.start)
    message = f"{head.name} undoes {pair.inc.function} but does not decrement static key {facts.key}, incremented there"
    last = Step(piece.path, line, f"{head.name} leaves the count as it is")
    return TreeFault(
        "unpaired", "medium", message, piece.path, line, 1, head.name, facts.key, (*trace, last), pair.inc.config
    )


def _tear_down(view: TreeView, inc: KeySite) -> tuple[Piece, Head] | None:
    """The function that undoes the incrementing one: by its place in an operations table, else by its name."""
    for names_in in (_beside, _alike):
        for piece in view.pieces(inc.path):
            names = names_in(piece, inc.function)
            for head in piece.unit.heads:
                if head.name in names:
                    return piece, head
    return None


def _beside(piece: Piece, function: str) -> frozenset[str]:
    """Functions that operations tables, or ``module_exit``, name for what undoes ``function``."""
    found: set[str] = set()
    macros = {macro.name: macro.args[0].strip() for macro in piece.unit.macros if len(macro.args) == 1}
    if macros.get("module_init") == function and "module_exit" in macros:
        found.add(macros["module_exit"])
    for table in piece.unit.tables:
        fields = {entry.field: entry.function for entry in table.entries}
        for field, name in fields.items():
            if name == function:
                found.update(fields[down] for down in _undoing_fields(field) if down in fields)
    return frozenset(found)


def _alike(piece: Piece, function: str) -> frozenset[str]:
    return frozenset(_undoing_names(function))


def _undoing_fields(field: str) -> Iterator[str]:
    """Fields whose operation undoes that of ``field``: ``ndo_open`` gives ``ndo_stop``, ``ndo_close`` ..."""
    for up, downs in _OPPOSITE_WORDS.items():
        if field == up or field.endswith(f"_{up}"):
            yield from (field[: len(field) - len(up)] + down for down in downs)


def _undoing_names(function: str) -> Iterator[str]:
    """Names that by habit undo ``function``: ``lamp_open`` gives ``lamp_close``, ``lamp_open_port`` too."""
    words = function.split("_")
    for at, word in enumerate(words):
        for down in _OPPOSITE_WORDS.get(word, ()):
            yield "_".join((*words[:at], down, *words[at + 1 :]))


def _differing(pair: Pairing, sure: Confidence, why: str) -> TreeFault:
    assert pair.dec is not None
    inc, dec = pair.inc, pair.dec
    trace = [step(inc), step(dec)]
    store = cleared_before(dec)
    if store is not None:
        trace.insert(1, Step(dec.path, dec.line, f"{store.place} is emptied before {dec.function} asks it"))
    message = (
        f"static key {inc.key} is incremented {when(told(inc))} in {inc.function} but decremented "
        f"{when(told(dec))} in {dec.function}: {why}"
    )
    return _fault("conditions", sure, message, dec, tuple(trace))


def _fault(
    fault: str, sure: Confidence, message: str, site: KeySite, trace: tuple[Step, ...], detail: str = ""
) -> TreeFault:
    return TreeFault(
        fault, sure, message, site.path, site.line, site.column, site.function, site.key, trace, site.config,
        detail=detail,
    )


def _counted_field(dec: KeySite, facts: KeyFacts) -> str:
    """The field that must be set for the decrement and that the function of the pair replaces; "" for none."""
    if dec.place is None or not any(s.function == dec.function for s in facts.having("inc")):
        return ""
    asked = {lit.atom for lit in common(dec.condition) if lit.kind == "field" and lit.holds}
    written = {store.place for store in dec.place[0].stores}
    fields = sorted(asked & written)
    return fields[0] if len(fields) == 1 else ""


def _mentions(piece: Piece, head: Head, field: str) -> bool:
    text = piece.unit.source[head.start : head.end]
    return field.rsplit(".", 1)[-1].encode() in text


def _emptied(piece: Piece, head: Head, field: str) -> Store | None:
    """The store of nothing to the field, on a path where it was something."""
    function = piece.unit.function(head)
    for variant in function.variants:
        for store in standing(function, variant).stores:
            held = any(lit.atom == field and lit.holds for lit in common(store.condition))
            if store.place == field and is_nothing(store.value) and held:
                return store
    return None


def _left_behind(dec: KeySite, piece: Piece, function: str, store: Store, field: str) -> TreeFault:
    line = piece.file_line(store.pos)
    message = (
        f"{function} empties {field} while it is set but does not decrement static key {dec.key}, as {dec.function} "
        "does for it"
    )
    trace = (step(dec), Step(piece.path, line, f"{function} empties {field}, the count stays"))
    return TreeFault(
        "unpaired", "medium", message, piece.path, line, piece.unit.lines.column(store.pos), function, dec.key, trace,
        detail=f"forgotten {field}",
    )  # fmt: skip
