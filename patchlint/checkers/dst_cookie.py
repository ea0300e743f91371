"""DST001 and DST003: cookies that say nothing, cookies that nobody stores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from patchlint.checkers.dst_calls import SOCKET_CACHE, checks, family_of, field_of, is_zero
from patchlint.checkers.dst_words import DstWords
from patchlint.checkers.standing import Standing, Store, standing
from patchlint.checkers.static_key_pairs import is_nothing
from patchlint.checkers.tree_change import Changed, added_calls, text_of
from patchlint.checkers.tree_fault import TreeFault
from patchlint.checkers.tree_view import Piece, TreeView, all_pieces
from patchlint.model import Confidence, Step
from patchlint.syntax import Head

_CHECK_HEAD: Final = re.compile(
    rb"\b((?:__)?(?:sk_)?dst_check|__inet6_csk_dst_check)\s*\([^(){};]*,\s*(?:0|0[uU])\s*\)\s*\{"
)
_CHECK_WORD: Final = re.compile(rb"dst_check|ops->check")
_TOO_COMMON: Final = frozenset((".dst", ".cookie", ".rt", ".cache"))


def zero_cookies(piece: Piece, head: Head, placed: Standing, words: DstWords) -> Iterator[TreeFault]:
    """Checks with a constant 0 on a route that may be IPv6."""
    for check in checks(placed, words):
        if not is_zero(check.cookie):
            continue
        call = check.stand.call
        family = family_of(placed.function, piece.path, check.stand.condition, call, placed)
        if family == "v4":
            continue
        what = "an IPv6 route" if family == "v6" else "a route that may be IPv6"
        line = piece.file_line(call.pos)
        message = f"{check.name}() is given the constant cookie 0 for {what}: IPv6 compares it and the cache never hits"
        sure: Confidence = "high" if family == "v6" else "medium"
        yield TreeFault(
            "zero-cookie", sure, message, piece.path, line, piece.unit.lines.column(call.pos), head.name, check.name,
            (Step(piece.path, line, f"{check.name}() with cookie 0"),), placed.variant.config,
        )  # fmt: skip


def zero_parameter(piece: Piece, head: Head) -> Iterator[TreeFault]:
    """A checking function defined with a constant where its cookie parameter belongs."""
    match = _CHECK_HEAD.search(piece.unit.source, head.start, head.end)
    if match is not None and match[1].decode("ascii") == head.name:
        line = piece.file_line(match.start(1))
        message = f"{head.name}() has the constant 0 in place of its cookie parameter: every IPv6 route looks stale"
        yield TreeFault(
            "zero-cookie", "high", message, piece.path, line, 1, head.name, head.name,
            (Step(piece.path, line, "the cookie parameter is a constant"),), detail="parameter",
        )  # fmt: skip


def unstored_cookies(
    view: TreeView, piece: Piece, head: Head, placed: Standing, words: DstWords
) -> Iterator[TreeFault]:
    """A cookie that a check reads and that no code stores."""
    if not view.whole:
        return
    for check in checks(placed, words):
        field = field_of(check.cookie, placed.names)
        if "cookie" not in field or field in _TOO_COMMON:
            continue
        if not any(_stores_field(p, field) for p in all_pieces(view, view.files_with(_last(field)))):
            line = piece.file_line(check.stand.call.pos)
            message = f"{check.name}() asks the cookie {field}, which nothing stores"
            yield TreeFault(
                "cookie-not-stored", "high", message, piece.path, line,
                piece.unit.lines.column(check.stand.call.pos), head.name, _last(field),
                (Step(piece.path, line, f"{field} read here"), Step(piece.path, line, "no store of it in the tree")),
            )  # fmt: skip


def cached_without_cookie(
    view: TreeView, piece: Piece, head: Head, placed: Standing, words: DstWords
) -> Iterator[TreeFault]:
    """A route cached in a field whose checks compare a cookie, with no cookie stored beside it."""
    for store in placed.stores:
        if store.op != "=" or is_nothing(store.value) or store.place in _TOO_COMMON or "dst" not in store.place:
            continue
        if "cookie" in store.place or family_of(placed.function, piece.path, store.condition, None, placed) != "v6":
            continue
        pair = cookie_for(view, store.place, words)
        if pair is None or _stored_beside(view, piece, placed, pair[0]):
            continue
        cookie, where = pair
        line = piece.file_line(store.pos)
        message = f"route cached in {store.place} without its cookie: {where.what}, but {head.name} does not store it"
        yield TreeFault(
            "cookie-not-stored", "medium", message, piece.path, line, piece.unit.lines.column(store.pos), head.name,
            _last(cookie), (Step(piece.path, line, f"{store.place} stored here"), where),
        )  # fmt: skip


def lost_cookies(
    view: TreeView, change: Changed, before: Standing, after: Standing, words: DstWords
) -> Iterator[TreeFault]:
    """A function stored a cookie beside the route it caches and stores it no more."""
    if change.after is None:
        return
    was = {store.place: store for store in before.stores if "cookie" in store.place}
    now = {store.place for store in after.stores}
    for place, store in was.items():
        if place in now or _someone_stores(view, change, place):
            continue
        readers = _readers(view, place, words)
        if not readers and not _is_cookie_value(store):
            continue
        line = next(change.after.file_line(h.start) for h in change.after.unit.heads if h.name == change.name)
        message = f"{change.name} no longer stores the cookie {place} of the route it caches"
        trace = (*readers[:2], Step(change.path, line, f"{change.name} no longer stores {place}"))
        yield TreeFault(
            "cookie-not-stored", "high", message, change.path, line, 1, change.name, _last(place), trace, detail="lost"
        )


def cookie_for(view: TreeView, cache: str, words: DstWords) -> tuple[str, Step] | None:
    """The cookie field that checks of the routes cached in ``cache`` compare, and where one does."""
    for piece in all_pieces(view, view.files_with(_last(cache))):
        for head in piece.unit.heads:
            if not _CHECK_WORD.search(piece.unit.source, head.start, head.end):
                continue
            if cache != SOCKET_CACHE and _last(cache).encode() not in piece.unit.source[head.start : head.end]:
                continue
            for placed in _variants(piece, head):
                for check in checks(placed, words):
                    source = SOCKET_CACHE if check.route is None else field_of(check.route, placed.names)
                    cookie = field_of(check.cookie, placed.names)
                    if source == cache and "cookie" in cookie:
                        line = piece.file_line(check.stand.call.pos)
                        return cookie, Step(piece.path, line, f"{head.name} compares {cookie}")
    return None


def _variants(piece: Piece, head: Head) -> Iterator[Standing]:
    function = piece.unit.function(head)
    return (standing(function, variant) for variant in function.variants)


def _stored_beside(view: TreeView, piece: Piece, placed: Standing, cookie: str) -> bool:
    """Whether the function, or one that it calls in the same file, stores the cookie."""
    if any(store.place == cookie for store in placed.stores):
        return True
    called = {stand.call.name for stand in placed.stands}
    return any(head.name in called and _stores_in(piece, head, cookie) for head in piece.unit.heads)


def _stores_in(piece: Piece, head: Head, field: str) -> bool:
    return _store_pattern(field).search(piece.unit.source, head.start, head.end) is not None


def _stores_field(piece: Piece, field: str) -> bool:
    return _store_pattern(field).search(piece.unit.source) is not None


def _store_pattern(field: str) -> re.Pattern[bytes]:
    name = re.escape(_last(field).encode())
    address = rb"&[\w>.()\-]*(?:->|\.)" + name + rb"\b"
    return re.compile(rb"(?:->|\.)\s*" + name + rb"\s*=(?!=)|" + address)


def _someone_stores(view: TreeView, change: Changed, place: str) -> bool:
    """Whether a function that the changed one now calls in addition stores the cookie."""
    added = added_calls(change)
    return any(
        _store_pattern(place).search(text)
        for name in sorted(added)
        for _, text in view.bodies(name)
    )


def _is_cookie_value(store: Store) -> bool:
    name = getattr(store.value, "name", "")
    return name.endswith("get_cookie")


def _readers(view: TreeView, place: str, words: DstWords) -> tuple[Step, ...]:
    """Checks that compare the cookie."""
    found = []
    for piece in all_pieces(view, view.files_with(_last(place))):
        for head in piece.unit.heads:
            text = text_of(piece, head.name)
            if _last(place).encode() in text and _CHECK_WORD.search(text):
                for placed in _variants(piece, head):
                    for check in checks(placed, words):
                        if field_of(check.cookie, placed.names) == place:
                            line = piece.file_line(check.stand.call.pos)
                            found.append(Step(piece.path, line, f"{head.name} compares {place}"))
    return tuple(dict.fromkeys(found))


def _last(field: str) -> str:
    return field.rsplit(".", 1)[-1]
