"""Which expressions hide control flow, and how to look at their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from patchlint.ir import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    InitList,
    Member,
    Name,
    Num,
    Opaque,
    SizeOf,
    StmtExpr,
    Str,
    TypeArg,
    Unary,
)

LEAVES = frozenset((Name, Num, Str, TypeArg, SizeOf))


_PARTS: Final[dict[type, Callable[[Any], tuple[Expr, ...]]]] = {
    Call: lambda e: e.args if e.name else (e.func, *e.args),
    Member: lambda e: (e.base,),
    Unary: lambda e: (e.operand,),
    Cast: lambda e: (e.operand,),
    Index: lambda e: (e.base, e.index),
    Binary: lambda e: (e.left, e.right),
    Assign: lambda e: (e.value, e.target),
    Conditional: lambda e: (e.test, e.other) if e.then is None else (e.test, e.then, e.other),
    InitList: lambda e: tuple(value for _, value in e.items),
    Opaque: lambda e: e.parts,
}


def parts(expr: Expr) -> tuple[Expr, ...]:
    """Direct sub-expressions of ``expr`` in order of evaluation (none for statement expressions)."""
    inner = _PARTS.get(type(expr))
    return () if inner is None else inner(expr)


def hides_flow(expr: Expr) -> bool:
    """Whether evaluating ``expr`` may branch: ``&&``, ``||``, ``?:`` or a statement expression inside."""
    pending = [expr]
    while pending:
        node = pending.pop()
        kind = type(node)
        if kind is Conditional or kind is StmtExpr or (isinstance(node, Binary) and node.op in ("&&", "||")):
            return True
        inner = _PARTS.get(kind)
        if inner is not None:
            pending += inner(node)
    return False


def walk(expr: Expr) -> Sequence[Expr]:
    """``expr`` and all expressions inside it (statement expressions are not entered)."""
    if type(expr) in LEAVES:
        return (expr,)
    found: list[Expr] = []
    stack = [expr]
    while stack:
        node = stack.pop()
        found.append(node)
        inner = _PARTS.get(type(node))
        if inner is not None:
            stack += inner(node)[::-1]
    return found


def rebuild(expr: Expr, new: tuple[Expr, ...]) -> Expr:
    """``expr`` with its :func:`parts` replaced."""
    match expr:
        case Call(name, _, _, pos, end):
            return Call(name, expr.func, new, pos, end) if name else Call(name, new[0], new[1:], pos, end)
        case Member(_, field, arrow, pos):
            return Member(new[0], field, arrow, pos)
        case Unary(op, _, pos):
            return Unary(op, new[0], pos)
        case Cast(type_, _, pos):
            return Cast(type_, new[0], pos)
        case Index(_, _, pos):
            return Index(new[0], new[1], pos)
        case Binary(op, _, _, pos):
            return Binary(op, new[0], new[1], pos)
        case Assign(op, _, _, pos):
            return Assign(op, new[1], new[0], pos)
        case InitList(type_, items, pos):
            return InitList(type_, tuple((d, v) for (d, _), v in zip(items, new, strict=True)), pos)
        case Opaque(_, pos):
            return Opaque(new, pos)
    return expr


def render(expr: Expr | None, limit: int = 60) -> str:
    """Source-like text of ``expr`` for messages, cut at ``limit`` characters."""
    text = _text(expr)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _text(expr: Expr | None) -> str:
    match expr:
        case None:
            return ""
        case Name(name, _):
            return name
        case Num(_, text, _) | Str(text, _) | TypeArg(text, _) | SizeOf(text, _):
            return text
        case Call(name, func, args, _, _):
            return f"{name or _text(func)}({', '.join(map(_text, args))})"
        case Member(base, field, arrow, _):
            return f"{_wrapped(base)}{'->' if arrow else '.'}{field}"
        case Index(base, index, _):
            return f"{_wrapped(base)}[{_text(index)}]"
        case Unary(op, operand, _):
            return f"{_wrapped(operand)}{op[1:]}" if op in ("p++", "p--") else f"{op}{_wrapped(operand)}"
        case Binary(op, left, right, _):
            return f"{_wrapped(left)} {op} {_wrapped(right)}"
        case Assign(op, target, value, _):
            return f"{_text(target)} {op} {_text(value)}"
        case Conditional(test, then, other, _):
            return f"{_wrapped(test)} ? {_text(then)} : {_text(other)}"
        case Cast(type_, operand, _):
            return f"({type_}){_wrapped(operand)}"
    return "{...}"


def _wrapped(expr: Expr) -> str:
    text = _text(expr)
    return f"({text})" if isinstance(expr, Binary | Assign | Conditional | Cast) else text
