"""RCU007: an skb that holds a route or socket without a reference outlives the section that protects it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from patchlint.checkers.canonical import strip
from patchlint.checkers.dst_flow import Judge, first_end, names_object
from patchlint.checkers.dst_words import DstWords
from patchlint.checkers.held import held_at
from patchlint.checkers.standing import Stand, Standing
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece
from patchlint.ir import Call, Function, Name
from patchlint.model import Step
from patchlint.ruleset import Models
from patchlint.syntax import Head

_ENDS: Final = "the RCU section ends"
_SECTION_ENDS: Final = frozenset(("rcu_read_unlock", "rcu_read_unlock_bh"))


@dataclass(frozen=True, slots=True)
class NorefPair:
    """A call that gives an skb something it holds no reference to, and the calls that take it away or count it."""

    setter: str
    settlers: frozenset[str]
    what: str
    where: tuple[Step, ...] = field(default=())


def pairs_of(pieces: Iterable[Piece], words: DstWords) -> tuple[NorefPair, ...]:
    """The pairs of the models, and those of helpers that the pieces define (``x_set_noref_y``, ``x_clear_noref_y``)."""
    heads = [(piece, head) for piece in pieces for head in piece.unit.heads if "noref" in head.name]
    found = []
    for piece, head in heads:
        function = piece.unit.function(head)
        if not re.search(r"(?:^|_)(?:set|assign|attach)(?:_|$)", head.name) or not _takes_skb(function):
            continue
        stem = _stem(head.name)
        settlers = frozenset(h.name for _, h in heads if h.name != head.name and _stem(h.name) == stem)
        if settlers and head.name not in words.attaches_noref:
            where = (Step(piece.path, piece.file_line(head.start), f"{head.name} takes no reference"),)
            what = "socket" if re.search(r"_sk(?:_|$)|sock", head.name) else "object"
            found.append(NorefPair(head.name, settlers | {"skb_orphan"}, what, where))
    known = (NorefPair(name, words.settles, "route") for name in sorted(words.attaches_noref))
    return (*known, *found)


def outliving(
    piece: Piece, head: Head, placed: Standing, pairs: tuple[NorefPair, ...], words: DstWords, models: Models
) -> Iterator[TreeFault]:
    """Noref objects still on the skb where the section of this function ends, or where the skb is queued."""
    calls = frozenset(stand.call for stand in placed.stands)
    for pair in pairs:
        sets = [stand for stand in placed.stands if stand.call.name == pair.setter and stand.call.args]
        if not sets or head.name in pair.settlers or head.name == pair.setter:
            continue
        holds = held_at(placed, calls & {s.call for s in sets}, models.summary, models.guard)
        for stand in sets:
            skb = strip(stand.call.args[0])
            if not isinstance(skb, Name):
                continue
            inside = any(hold.context == "rcu" for hold in holds.get(stand.call, frozenset()))
            end, what = first_end(placed, stand.call, _judge(pair, words, skb.id, inside))
            if end is not None and what == _ENDS:
                end, what = first_end(placed, end, _afterwards(words, skb.id))
            if end is not None:
                yield _fault(piece, placed, pair, stand, end, what, skb.id)


def _judge(pair: NorefPair, words: DstWords, skb: str, inside: bool) -> Judge:
    """Without a section of its own a function leaves the end of the section to its caller."""

    def judge(call: Call) -> str:
        if call.name in _SECTION_ENDS:
            return _ENDS if inside else ""
        if not any(names_object(arg, skb) for arg in call.args):
            return ""
        if call.name in pair.settlers:
            return "settled"
        if call.name in words.queues:
            return "it is queued"
        return "" if call.name.startswith(words.looks) or call.name == pair.setter else "settled"

    return judge


def _afterwards(words: DstWords, skb: str) -> Judge:
    """After the section any use of the skb but its end is one too many."""

    def judge(call: Call) -> str:
        if not any(names_object(arg, skb) for arg in call.args):
            return ""
        if call.name.startswith(words.ends):
            return "settled"
        if call.name in words.queues:
            return "it is queued after the RCU section"
        return "" if call.name.startswith(words.looks) else "it is used after the RCU section"

    return judge


def _takes_skb(function: Function) -> bool:
    return bool(function.params) and "sk_buff" in function.params[0].type


def _stem(name: str) -> str:
    """The name without its verb: ``skb_set_noref_sk`` and ``skb_clear_noref_sk`` have one stem."""
    return re.sub(r"(?:^|_)(?:set|assign|attach|clear|drop|force|reset|put|detach)(?=_|$)", "", name)


def _fault(
    piece: Piece, placed: Standing, pair: NorefPair, stand: Stand, end: Call, what: str, skb: str
) -> TreeFault:
    lines = piece.file_line(stand.call.pos), piece.file_line(end.pos)
    settle = " or ".join(f"{name}()" for name in sorted(pair.settlers)[:2])
    message = f"{skb} still holds a {pair.what} without a reference when {what}; {settle} must come before"
    trace = (
        *pair.where,
        Step(piece.path, lines[0], f"{pair.setter}() gives {skb} a {pair.what} without a reference"),
        Step(piece.path, lines[1], f"{what} at {end.name}()"),
    )
    return TreeFault(
        "noref", "medium", message, piece.path, lines[1], piece.unit.lines.column(end.pos), placed.function.name, skb,
        trace, placed.variant.config, detail=pair.setter,
    )  # fmt: skip
