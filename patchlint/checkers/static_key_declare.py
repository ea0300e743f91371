"""KEY005: keys declared by hand, counted and switched at once, or used by modules without an export."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from patchlint.checkers.static_key_sites import COUNTED, KeyFacts, KeySite
from patchlint.checkers.static_key_state import step
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece, TreeView
from patchlint.model import Step

_RAW: Final = re.compile(r"struct static_key_(true|false)")
_MODULE: Final = frozenset(("MODULE_LICENSE", "module_init", "module_exit"))


def declarations(view: TreeView, path: str) -> Iterator[TreeFault]:
    """``extern struct static_key_false x;`` where ``DECLARE_STATIC_KEY_FALSE(x);`` says the same."""
    for piece in view.pieces(path):
        for variable in piece.unit.globals:
            match = _RAW.fullmatch(variable.type.replace("extern ", "").strip())
            if match and variable.extern and not variable.array and not variable.pointer:
                macro = f"DECLARE_STATIC_KEY_{match[1].upper()}"
                line = piece.file_line(variable.pos)
                message = f"static key {variable.name} is declared by hand; use {macro}({variable.name})"
                yield TreeFault(
                    "raw-extern", "high", message, path, line, piece.unit.lines.column(variable.pos), "",
                    variable.name, (Step(path, line, "declared here"),), severity="note",
                )  # fmt: skip


def mixed(facts: KeyFacts) -> Iterator[TreeFault]:
    """A key that is counted in one place and switched in another of the same configuration."""
    counted = [site for site in facts.sites if site.op in COUNTED]
    for switch in facts.having("enable", "disable"):
        for count in counted:
            if _together(count, switch):
                message = (
                    f"static key {facts.key} is {'enabled' if switch.op == 'enable' else 'disabled'} here but counted "
                    f"in {count.function}: enable and disable overwrite the count"
                )
                yield TreeFault(
                    "mixed", "medium", message, switch.path, switch.line, switch.column, switch.function, facts.key,
                    (step(count), step(switch)), switch.config,
                )  # fmt: skip
                return


def not_exported(view: TreeView, facts: KeyFacts) -> Iterator[TreeFault]:
    """A module changes a key that another part of the kernel defines and does not export."""
    if not view.whole or len(facts.definitions) != 1 or facts.definitions[0].static:
        return
    definition = facts.definitions[0]
    home = PurePosixPath(definition.path).parent
    for site in facts.sites:
        away = PurePosixPath(site.path).parent
        if site.path.endswith(".h") or away == home or home in away.parents or away in home.parents:
            continue
        pieces = view.pieces(site.path)
        if any(_is_module(piece) for piece in pieces) and not view.exported(facts.key.removesuffix("[]")):
            message = f"static key {facts.key} is used by a module but {definition.path} does not export it"
            defined = Step(definition.path, definition.line, f"{facts.key} defined, not exported")
            yield TreeFault(
                "not-exported", "medium", message, site.path, site.line, site.column, site.function, facts.key,
                (defined, step(site)), site.config,
            )  # fmt: skip
            return


def _is_module(piece: Piece) -> bool:
    return any(macro.name in _MODULE for macro in piece.unit.macros)


def _together(one: KeySite, other: KeySite) -> bool:
    """Whether no choice of configuration keeps the two apart."""
    denied = {_denial(word) for word in one.config}
    return not denied & set(other.config)


def _denial(word: str) -> str:
    """The opposite of a configuration word."""
    if word.endswith("=y"):
        return f"{word[:-2]}=n"
    if word.endswith("=n"):
        return f"{word[:-2]}=y"
    return word[1:] if word.startswith("!") else f"!{word}"
