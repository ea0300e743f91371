"""The expressions of a function in order of its text, whatever the path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from patchlint.cfg import walk
from patchlint.ir import (
    Assign,
    Call,
    Case,
    Compound,
    Decl,
    DoWhile,
    Evaluate,
    Expr,
    For,
    ForEach,
    Function,
    Guard,
    HiddenGoto,
    If,
    Name,
    Return,
    Scope,
    Stmt,
    StmtExpr,
    Switch,
    While,
)

_STRUCT: Final = re.compile(r"^(?:const )?struct (\w+)$")


class _Contents(NamedTuple):
    expressions: tuple[Expr, ...]
    nodes: tuple[Expr, ...]
    calls: tuple[Call, ...]
    called: frozenset[str]


def called_in(function: Function) -> frozenset[str]:
    """The names that the function calls, in any of its variants."""
    return _contents(function).called


def calls_in(function: Function) -> tuple[Call, ...]:
    """Every call in the function's text, those of all variants."""
    return _contents(function).calls


def all_expressions(function: Function) -> tuple[Expr, ...]:
    """Expressions that the function evaluates, those of all variants; an initialiser counts as an assignment."""
    return _contents(function).expressions


def nodes_in(function: Function) -> tuple[Expr, ...]:
    """:func:`all_expressions` and all that is inside them."""
    return _contents(function).nodes


def assigned(function: Function) -> Iterator[tuple[str, Expr]]:
    """Variables and what they are given, anywhere in the function; an initialiser counts."""
    for node in nodes_in(function):
        if isinstance(node, Assign) and isinstance(node.target, Name):
            yield node.target.id, node.value


@lru_cache(maxsize=4)
def statements(function: Function) -> tuple[Stmt, ...]:
    """All statements of all variants, outer ones first; those of statement expressions are left out."""
    found: list[Stmt] = []
    pending: list[Stmt] = [variant.body for variant in reversed(function.variants)]
    while pending:
        stmt = pending.pop()
        found.append(stmt)
        pending.extend(reversed(_inner(stmt)))
    return tuple(found)


def struct_pointers(function: Function) -> Iterator[tuple[str, str]]:
    """Variables that point to a structure, and the structure's tag."""
    for param in function.params:
        if param.pointer == 1 and (match := _STRUCT.match(param.type)):
            yield param.name, match[1]
    for stmt in statements(function):
        if isinstance(stmt, Decl) and stmt.pointer == 1 and (match := _STRUCT.match(stmt.type)):
            yield stmt.name, match[1]


@lru_cache(maxsize=4)  # the checkers of one function all ask the same
def _contents(function: Function) -> _Contents:
    found: list[Expr] = []
    nodes: list[Expr] = []
    for variant in function.variants:
        _gather(variant.body, found, nodes)
    calls = tuple(node for node in nodes if isinstance(node, Call))
    return _Contents(tuple(found), tuple(nodes), calls, frozenset(call.name for call in calls) - {""})


def _gather(stmt: Stmt, found: list[Expr], nodes: list[Expr]) -> None:
    """What ``stmt`` evaluates, that of statements inside it and of statement expressions included."""
    for expr in _own(stmt):
        found.append(expr)
        inside = walk(expr)
        nodes += inside
        for node in inside:
            if type(node) is StmtExpr:
                for inner in node.body:
                    _gather(inner, found, nodes)
    for inner in _inner(stmt):
        _gather(inner, found, nodes)


def _own(stmt: Stmt) -> tuple[Expr, ...]:
    match stmt:
        case Evaluate(expr, _):
            return (expr,)
        case Decl():
            return () if stmt.init is None else (Assign("=", Name(stmt.name, stmt.pos), stmt.init, stmt.pos),)
        case If(test, _, _, _) | While(test, _, _) | DoWhile(_, test, _):
            return (test,)
        case For(_, test, step, _, _):
            return tuple(part for part in (test, step) if part is not None)
        case Guard(_, args, _) | Scope(_, _, args, _, _, _):
            return args
        case ForEach(macro, _, _):
            return (macro,)
        case Switch(value, _, _, _):
            return (value,)
        case Case(low, high, _):
            return tuple(part for part in (low, high) if part is not None)
        case HiddenGoto(call, _, _):
            return (call,)
        case Return(value, _):
            return () if value is None else (value,)
    return ()


def _inner(stmt: Stmt) -> tuple[Stmt, ...]:
    match stmt:
        case Compound(body, _, _):
            return body
        case If(_, then, orelse, _):
            return (then,) if orelse is None else (then, orelse)
        case For(init, _, _, body, _):
            return (*init, body)
        case While(_, body, _) | DoWhile(body, _, _) | ForEach(_, body, _) | Switch(_, body, _, _):
            return (body,)
        case Scope():
            return (stmt.body,)
    return ()
