"""The calls around routes: which check a cached route, and for which address family a place is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from patchlint.checkers.canonical import Names, strip, tail
from patchlint.checkers.conditions import Condition, common
from patchlint.checkers.dst_words import DstWords
from patchlint.checkers.standing import Stand, Standing
from patchlint.ir import Call, Decl, Expr, Function, Index, Member, Name, Num, Unary

Family = Literal["v4", "v6", "any"]

SOCKET_CACHE: Final = ".sk_dst_cache"
"""The cache that sk_dst_check and __sk_dst_check look at."""

_V6: Final = re.compile(r"(?:^|_)(?:in6|rt6|udpv6|tcpv6|icmpv6)(?=_|\d|$)|v6_|ip6_|[a-z]6(?=_|$)")
_V4: Final = re.compile(r"(?:^|_)(?:v4|ip4|ipv4|inet4|udp4|tcp4|rt4)(?=_|$)|v4_")
_V6_CONSTANT: Final = re.compile(r"IPV6|INET6|IP6|NFPROTO_IPV6")
_V4_CONSTANT: Final = re.compile(r"ETH_P_IP\b|AF_INET\b|PF_INET\b|NFPROTO_IPV4|version==4")


class Check(NamedTuple):
    """One question whether a cached route still stands."""

    stand: Stand
    name: str
    route: Expr | None
    """The route asked about; None for the socket's own cache."""
    cookie: Expr


def checks(placed: Standing, words: DstWords) -> Iterator[Check]:
    """All checks of cached routes in a function, direct, through ``ops->check`` and through indirect-call macros."""
    for stand in placed.stands:
        found = check_of(stand, words)
        if found is not None:
            yield found


def check_of(stand: Stand, words: DstWords) -> Check | None:
    """The check that a call is; None for other calls."""
    call = stand.call
    if len(call.args) > 1 and call.name in words.route_checks:
        return Check(stand, call.name, call.args[0], call.args[1])
    if len(call.args) > 1 and call.name in words.socket_checks:
        return Check(stand, call.name, None, call.args[1])
    if not call.name and isinstance(call.func, Member) and call.func.field == "check" and len(call.args) == 2:
        inner = strip(call.func.base)
        if isinstance(inner, Member) and inner.field == "ops":
            return Check(stand, "ops->check", call.args[0], call.args[1])
    if _is_indirect(call, words):
        return Check(stand, "ops->check", call.args[-2], call.args[-1])
    return None


def _is_indirect(call: Call, words: DstWords) -> bool:
    """``INDIRECT_CALL_n(pointer, likely targets, route, cookie)``."""
    return (
        call.name.startswith("INDIRECT_CALL_")
        and len(call.args) >= 4
        and any(isinstance(arg, Name) and arg.id in words.route_checks for arg in call.args)
    )


def is_zero(cookie: Expr) -> bool:
    """A constant nought."""
    cookie = strip(cookie)
    return isinstance(cookie, Num) and cookie.value == 0


def family_of(function: Function, path: str, condition: Condition, call: Call | None, placed: Standing) -> Family:
    """For which family of routes a place is, by what is tested before it, what it handles and what it is called."""
    for lit in common(condition):
        if _V6_CONSTANT.search(lit.atom):
            return "v6" if lit.holds else "v4"
        if _V4_CONSTANT.search(lit.atom):
            return "v4" if lit.holds else "any"
    if call is not None and _is_v4_route(call, placed):
        return "v4"
    for text in (function.name, path.rsplit("/", 1)[-1]):
        if _V6.search(text) or "v6" in text:
            return "v6"
        if _V4.search(text) or "v4" in text:
            return "v4"
    if path.startswith("net/ipv6/"):
        return "v6"
    return "v4" if path.startswith("net/ipv4/") else "any"


def field_of(expr: Expr | None, names: Names) -> str:
    """The field that a value was loaded from, ".f": itself a member, or a local whose definition is one."""
    seen = 0
    while expr is not None and seen < 5:
        expr = strip(expr)
        if isinstance(expr, Member | Index):
            return tail(expr)
        if isinstance(expr, Call) and expr.args and expr.name in ("xchg", "rcu_replace_pointer"):
            expr = expr.args[0]
        elif isinstance(expr, Unary) and expr.op == "&":
            expr = expr.operand
        elif isinstance(expr, Name) and expr.id in names.single:
            expr = names.single[expr.id][0]
        else:
            return ""
        seen += 1
    return ""


def _is_v4_route(call: Call, placed: Standing) -> bool:
    """The route is, or becomes, a ``struct rtable``: IPv4's own."""
    for arg in call.args:
        inner = strip(arg)
        if isinstance(inner, Unary) and inner.op == "&" and isinstance(inner.operand, Member):
            base = strip(inner.operand.base)
            if isinstance(base, Name) and "rtable" in _type_of(base.id, placed):
                return True
    source = _statement_around(call, placed)
    return "rtable" in source


def _statement_around(call: Call, placed: Standing) -> str:
    """Type of the variable or cast that takes the result."""
    for block in placed.cfg.blocks:
        for op in block.ops:
            text = op.init if isinstance(op, Decl) else getattr(op, "expr", None)
            if text is not None and _holds(text, call):
                cast = _cast_of(text)
                return cast or (op.type if isinstance(op, Decl) else "")
    return ""


def _cast_of(expr: Expr) -> str:
    from_assign = getattr(expr, "value", None)
    for part in (expr, from_assign):
        kind = getattr(part, "type", "")
        if isinstance(kind, str) and kind:
            return kind
    return ""


def _holds(expr: Expr, call: Call) -> bool:
    from_assign = getattr(expr, "value", None)
    return strip(expr) is call or (from_assign is not None and strip(from_assign) is call)


def _type_of(name: str, placed: Standing) -> str:
    for param in placed.function.params:
        if param.name == name:
            return param.type
    for block in placed.cfg.blocks:
        for op in block.ops:
            if isinstance(op, Decl) and op.name == name:
                return op.type
    return ""
