"""Static keys in a state of the tree: where they are defined, changed and tested, and under which conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from patchlint.checkers.conditions import ALWAYS, Condition
from patchlint.checkers.standing import Stand, Standing, standing
from patchlint.checkers.tree_view import Piece, TreeView, all_pieces
from patchlint.ir import Call, Expr, Function, Index, Member, Name, Unary
from patchlint.syntax import Unit

Op = Literal["inc", "dec", "enable", "disable"]

OPPOSITE: Final[dict[Op, Op]] = {"inc": "dec", "dec": "inc", "enable": "disable", "disable": "enable"}
COUNTED: Final = frozenset(("inc", "dec"))

_CHANGE: Final = re.compile(
    r"_*static_(?:branch|key)_(?:slow_|deferred_|fast_)?(inc|dec|enable|disable)"
    r"(?:_deferred)?(?:_not_disabled)?(_cpuslocked)?"
)
_WORD: Final = re.compile(rb"\b_*static_(?:branch|key)_\w+")
_DEFINE: Final = re.compile(
    rb"^(static\s+)?(?:\w+[ \t]+)*DEFINE_STATIC_KEY(?:_ARRAY|_DEFERRED|_MAYBE)?(_TRUE|_FALSE)?(?:_RO)?"
    rb"\(\s*(?:CONFIG_\w+\s*,\s*)?(\w+)",
    re.MULTILINE,
)
_KEY_TYPE: Final = re.compile(r"struct static_key(_true|_false)?(_deferred)?\b")


@dataclass(frozen=True, slots=True)
class KeySite:
    """One change of a key. ``condition`` is where it stands in its function; ``config`` where it is compiled."""

    key: str
    op: Op
    word: str
    path: str
    function: str
    line: int
    column: int
    condition: Condition
    config: tuple[str, ...] = ()
    locked: bool = False
    """``_cpuslocked``: the caller holds the hotplug lock."""
    whole: bool = True
    """Whether all of the function was seen."""
    place: tuple[Standing, Stand] | None = field(default=None, compare=False)
    """The function around it, for questions about its paths; None in macros."""


@dataclass(frozen=True, slots=True)
class KeyDefinition:
    """Where a key gets its storage and what it starts as."""

    key: str
    path: str
    line: int
    default: bool
    static: bool


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """All that a state of the tree says of one key."""

    key: str
    definitions: tuple[KeyDefinition, ...]
    sites: tuple[KeySite, ...]

    def having(self, *ops: Op) -> tuple[KeySite, ...]:
        """Sites that do one of ``ops``."""
        return tuple(site for site in self.sites if site.op in ops)


class KeyReader:
    """Reads the changes of keys off files, each file once for all states that hold it."""

    def __init__(self) -> None:
        self._known: dict[Piece, tuple[KeySite, ...]] = {}

    def sites(self, piece: Piece) -> tuple[KeySite, ...]:
        """Changes of static keys in one file, by function and variant."""
        if piece not in self._known:
            self._known[piece] = _sites_in(piece)
        return self._known[piece]

    def facts(self, view: TreeView, key: str) -> KeyFacts:
        """Everything about ``key`` in ``view``: definitions and changes in all files that mention it."""
        base = _base_name(key)
        pieces = tuple(all_pieces(view, view.files_with(base)))
        definitions = tuple(d for piece in pieces for d in definitions_in(piece) if d.key == base)
        sites = [site for piece in pieces for site in self.sites(piece) if site.key == key]
        if view.touched and len({d.path for d in definitions if d.static}) > 1:
            # several files have a key of this name of their own
            sites = [site for site in sites if site.path in view.touched]
        return KeyFacts(key, definitions, tuple(dict.fromkeys(sites)))


def _sites_in(piece: Piece) -> tuple[KeySite, ...]:
    unit = piece.unit
    found: dict[tuple[int, str], KeySite] = {}
    for head in unit.heads:
        if _WORD.search(unit.source, head.start, head.end):
            function = unit.function(head)
            for site, pos in _function_sites(piece, unit, function, head.config):
                known = found.get((pos, site.key))
                found[pos, site.key] = site if known is None else _both(known, site, len(function.variants))
    return (*found.values(), *_macro_sites(piece, unit))


def definitions_in(piece: Piece) -> Iterator[KeyDefinition]:
    """Keys that get their storage in one file."""
    for match in _DEFINE.finditer(piece.unit.source):
        name = match[3].decode("ascii")
        yield KeyDefinition(name, piece.path, piece.file_line(match.start(3)), match[2] == b"_TRUE", bool(match[1]))
    for variable in piece.unit.globals:
        typed = _KEY_TYPE.search(variable.type)
        if typed and not variable.extern:
            yield KeyDefinition(
                variable.name, piece.path, piece.file_line(variable.pos), typed[1] == "_true", variable.static
            )


def key_of(arg: Expr) -> str:
    """The key that an argument names: "foo", "foo[]" for an element of an array, "" for what cannot be told."""
    expr = arg.operand if isinstance(arg, Unary) and arg.op == "&" else arg
    direct = expr is not arg
    while isinstance(expr, Member) and expr.field == "key" and not expr.arrow:
        expr = expr.base
    if isinstance(expr, Index):
        base = key_of(Unary("&", expr.base, expr.pos))
        return base if not base or base.endswith("[]") else f"{base}[]"
    if isinstance(expr, Member) and not expr.arrow and isinstance(expr.base, Name):
        return f"{expr.base.id}.{expr.field}"
    return expr.id if isinstance(expr, Name) and direct else ""


def change_of(word: str) -> tuple[Op, bool] | None:
    """What a call of ``word`` does to a key and whether it wants the hotplug lock held; None for other words."""
    match = _CHANGE.fullmatch(word)
    if match is None:
        return None
    return match[1], match[2] is not None  # type: ignore[return-value]


def _function_sites(
    piece: Piece, unit: Unit, function: Function, config: tuple[str, ...]
) -> Iterator[tuple[KeySite, int]]:
    for variant in function.variants:
        placed = standing(function, variant)
        names = placed.names.params | placed.names.locals
        for stand in placed.stands:
            change = change_of(stand.call.name)
            key = key_of(stand.call.args[0]) if change and stand.call.args else ""
            if change is None or not key or _base_name(key) in names:
                continue
            call: Call = stand.call
            yield KeySite(
                key, change[0], call.name, piece.path, function.name, piece.file_line(call.pos),
                unit.lines.column(call.pos), stand.condition, (*config, *variant.config), change[1], function.whole,
                (placed, stand),
            ), call.pos


def _both(known: KeySite, other: KeySite, variants: int) -> KeySite:
    """One site seen in two variants: it is compiled in more than one configuration, so none is named."""
    return replace(known, config=()) if variants > 1 and known.config != other.config else known


def _macro_sites(piece: Piece, unit: Unit) -> Iterator[KeySite]:
    """Changes inside the text of function-like macros; they stand where the macro is used."""
    for define in unit.defines if unit.path.endswith(".h") else ():
        for match in _CHANGE.finditer(define.body):
            rest = re.match(r"\s*\(\s*&\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\)", define.body[match.end() :])
            change = change_of(match[0])
            if rest and change and rest[1].split(".")[0] not in define.params and "##" not in define.body:
                yield KeySite(
                    rest[1].removesuffix(".key"), change[0], match[0], piece.path, define.name,
                    piece.file_line(define.pos), 1, ALWAYS, (), change[1],
                )


def _base_name(key: str) -> str:
    return key.removesuffix("[]").split(".")[0]
