"""DST004: routes put on an skb or a socket without the reference, or the section, that they need."""

from __future__ import annotations

import re
from collections.abc import Iterator

from patchlint.cfg import walk
from patchlint.checkers.canonical import strip, tail
from patchlint.checkers.conditions import common
from patchlint.checkers.dst_flow import Judge, first_end, names_object
from patchlint.checkers.dst_words import DstWords
from patchlint.checkers.held import held_at
from patchlint.checkers.standing import Stand, Standing
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece
from patchlint.ir import Call, Expr, Member, Name
from patchlint.model import Confidence, Step
from patchlint.ruleset import Models


def borrowed(piece: Piece, placed: Standing, words: DstWords) -> Iterator[TreeFault]:
    """A route that somebody else holds is given to an skb or a socket, which will release it."""
    held = {name for stand in placed.stands if stand.call.name in words.holds for name in _names_in(stand.call)}
    for stand in placed.stands:
        call = stand.call
        if call.name not in words.attaches or len(call.args) != 2:
            continue
        route = strip(call.args[1])
        source = _borrowed_from(route, placed, words)
        if source and isinstance(route, Name) and route.id not in held:
            line = piece.file_line(call.pos)
            message = f"{call.name}() is given {route.id}, which {source} only lends: no reference was taken"
            yield _fault(piece, placed, stand, "medium", message, route.id, (Step(piece.path, line, message),))


def noref_outside(piece: Piece, placed: Standing, words: DstWords, models: Models) -> Iterator[TreeFault]:
    """``skb_dst_set_noref`` after the function has closed the RCU section that it loaded the route in."""
    sets = [stand for stand in placed.stands if stand.call.name in words.attaches_noref]
    closes = [stand for stand in placed.stands if stand.call.name.startswith("rcu_read_unlock")]
    if not sets or not closes:
        return
    holds = held_at(placed, frozenset(stand.call for stand in sets), models.summary, models.guard)
    for stand in sets:
        if any(hold.context == "rcu" for hold in holds.get(stand.call, frozenset())):
            continue
        for close in closes:
            end, what = first_end(placed, close.call, _until(stand.call, words))
            if what == "set" and end is stand.call:
                lines = piece.file_line(close.call.pos), piece.file_line(stand.call.pos)
                message = f"{stand.call.name}() outside the RCU section: the route may be gone before the skb is"
                trace = (
                    Step(piece.path, lines[0], f"{close.call.name}() ends the section"),
                    Step(piece.path, lines[1], "route attached without a reference"),
                )
                yield _fault(piece, placed, stand, "medium", message, "noref", trace)
                break


def overwritten(piece: Piece, placed: Standing, words: DstWords) -> Iterator[TreeFault]:
    """An skb that has a route gets another one: the first is leaked."""
    for stand in placed.stands:
        if stand.call.name != "skb_dst_set" or len(stand.call.args) != 2:
            continue
        skb = strip(stand.call.args[0])
        if not isinstance(skb, Name) or _is_null(stand.call.args[1]):
            continue
        first = _earlier(placed, stand, skb.id, words)
        if first is not None:
            lines = piece.file_line(first.pos), piece.file_line(stand.call.pos)
            message = f"skb_dst_set() overwrites the route that {skb.id} holds already; skb_dst_drop() it before"
            trace = (
                Step(piece.path, lines[0], f"{skb.id} has a route here"),
                Step(piece.path, lines[1], "overwritten without skb_dst_drop()"),
            )
            yield _fault(piece, placed, stand, "medium", message, skb.id, trace)


def _earlier(placed: Standing, stand: Stand, skb: str, words: DstWords) -> Call | None:
    """The call before ``stand`` that shows a counted route on the skb: an earlier set, or a test that it has one."""
    for other in placed.stands:
        call = other.call
        if call is stand.call or not call.args or not names_object(call.args[0], skb):
            continue
        if call.name == "skb_dst_set" and not _is_null(call.args[1]):
            end, what = first_end(placed, call, _until(stand.call, words, skb))
            if what == "set" and end is stand.call:
                return call
        if call.name == "skb_valid_dst" and _known(stand, "skb_valid_dst"):
            return None
    return None


def _known(stand: Stand, test: str) -> bool:
    return any(lit.atom.startswith(test) and lit.holds for lit in common(stand.condition))


def _until(target: Call, words: DstWords, skb: str = "") -> Judge:
    def judge(call: Call) -> str:
        if call is target:
            return "set"
        if call.name.startswith("rcu_read_lock"):
            return "settled" if not skb else ""
        if skb and any(names_object(arg, skb) for arg in call.args):
            # anything but a look at it may take the skb away or change its route
            return "settled" if call.name in words.drops or not call.name.startswith(words.looks) else ""
        return ""

    return judge


def _borrowed_from(route: Expr, placed: Standing, words: DstWords) -> str:
    """What lends the route; "" when it is, or may be, held."""
    if not isinstance(route, Name) or route.id not in placed.names.single:
        return ""
    source = strip(placed.names.single[route.id][0])
    if isinstance(source, Call) and source.name in words.lends:
        return f"{source.name}()"
    if isinstance(source, Member) and source.field in words.lending_fields:
        return source.field
    return ""


def _names_in(call: Call) -> frozenset[str]:
    return frozenset(node.id for arg in call.args for node in walk(arg) if isinstance(node, Name))


def _is_null(expr: Expr) -> bool:
    expr = strip(expr)
    return isinstance(expr, Name) and expr.id == "NULL"


def _fault(
    piece: Piece, placed: Standing, stand: Stand, sure: Confidence, message: str, subject: str, trace: tuple[Step, ...]
) -> TreeFault:
    call = stand.call
    return TreeFault(
        "attached-unheld", sure, message, piece.path, piece.file_line(call.pos), piece.unit.lines.column(call.pos),
        placed.function.name, subject, trace, placed.variant.config, detail=call.name,
    )  # fmt: skip


def freed_counted(piece: Piece, placed: Standing) -> Iterator[TreeFault]:
    """A route that skbs hold references to is freed instead of released; unwinding a fresh one is right."""
    if any(stand.call.name.startswith("metadata_dst_alloc") for stand in placed.stands):
        return
    for stand in placed.stands:
        if stand.call.name != "metadata_dst_free" or not stand.call.args:
            continue
        field = tail(stand.call.args[0])
        held = re.search(rb"dst_hold(?:_safe)?\([^;]*->" + re.escape(_last(field)) + rb"\b[^;]*\)", piece.unit.source)
        if field and held:
            lines = piece.file_line(held.start()), piece.file_line(stand.call.pos)
            message = f"metadata_dst_free() ignores the references that skbs hold to {field}; dst_release() drops ours"
            trace = (
                Step(piece.path, lines[0], f"a reference to {field} is taken for an skb"),
                Step(piece.path, lines[1], "freed whatever its count"),
            )
            yield _fault(piece, placed, stand, "medium", message, _last(field).decode("ascii"), trace)


def _last(field: str) -> bytes:
    return field.rsplit(".", 1)[-1].encode()
