"""The C of one function as plain values: what ``syntax`` hands to ``cfg`` and the checkers.

Nodes are frozen for the type checker only: a review builds some hundred thousand of them, and the
run-time check of a frozen dataclass would triple that cost.  Dispatch on ``type(node)`` or by ``match``;
``dataclasses.replace`` makes changed copies.  ``pos`` is a byte offset into the
original source of the file (line and column come from :class:`patchlint.lines.LineTable`).  Transparent
wrappers (parentheses) are gone.  Macro invocations are calls; the names are those in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True)
def node(cls: type[_T]) -> type[_T]:
    """A slotted, hashable dataclass that the type checker holds to be frozen."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


# ---------------------------------------------------------------- expressions


@node
class Name:
    """An identifier: variable, constant, enumerator or function."""

    id: str
    pos: int


@node
class Num:
    """A number or character constant; ``value`` is None when it cannot be told (floats)."""

    value: int | None
    text: str
    pos: int


@node
class Str:
    """A string literal (joined with its neighbours)."""

    text: str
    pos: int


@node
class Call:
    """``name(args)``; ``name`` is "" for a call through an expression, then see ``func``.

    ``func`` is always there: Name(name) for direct calls, Member for ``ops->open(...)``.
    """

    name: str
    func: Expr
    args: tuple[Expr, ...]
    pos: int
    end: int


@node
class TypeArg:
    """A type where an expression is expected: ``struct foo`` in ``container_of(p, struct foo, m)``."""

    text: str
    pos: int


@node
class Member:
    """``base.field`` or, with ``arrow``, ``base->field``."""

    base: Expr
    field: str
    arrow: bool
    pos: int


@node
class Index:
    """``base[index]``."""

    base: Expr
    index: Expr
    pos: int


@node
class Unary:
    """``op operand``; op is one of ``! - ~ + * & ++ --`` or postfix ``p++ p--``; ``&&`` takes a label's address."""

    op: str
    operand: Expr
    pos: int


@node
class Binary:
    """``left op right`` including ``&&``, ``||`` and ``,``."""

    op: str
    left: Expr
    right: Expr
    pos: int


@node
class Assign:
    """``target op value`` with op ``=``, ``+=``, ``|=`` ..."""

    op: str
    target: Expr
    value: Expr
    pos: int


@node
class Conditional:
    """``test ? then : other``; ``then`` is None for GNU ``test ?: other``."""

    test: Expr
    then: Expr | None
    other: Expr
    pos: int


@node
class Cast:
    """``(type)operand``."""

    type: str
    operand: Expr
    pos: int


@node
class SizeOf:
    """``sizeof``, ``alignof``, ``offsetof``, ``typeof``: the operand is not evaluated."""

    text: str
    pos: int


@node
class StmtExpr:
    """``({ ... })``; the value is that of the last expression statement."""

    body: tuple[Stmt, ...]
    pos: int


@node
class InitList:
    """``{ .a = x, [2] = y, z }``, alone or as a compound literal of ``type``; designators as text ("" for none)."""

    type: str
    items: tuple[tuple[str, Expr], ...]
    pos: int


@node
class Opaque:
    """Anything else; ``parts`` are the expressions inside it (asm operands, _Generic ...)."""

    parts: tuple[Expr, ...]
    pos: int


Expr: TypeAlias = (
    Name | Num | Str | Call | TypeArg | Member | Index | Unary | Binary | Assign
    | Conditional | Cast | SizeOf | StmtExpr | InitList | Opaque
)

# ----------------------------------------------------------------- statements


@node
class Evaluate:
    """An expression statement."""

    expr: Expr
    pos: int


@node
class Decl:
    """One declared variable. ``pointer`` counts stars; ``type`` is the base type's text.

    ``cleanup`` is the argument of ``__free(x)`` / ``__cleanup(f)`` ("" for none); for
    ``CLASS(name, var)(args)`` it is "CLASS:name" and ``init`` is a Call of ``class_name_constructor``.
    """

    name: str
    type: str
    pointer: int
    array: bool
    init: Expr | None
    static: bool
    cleanup: str
    pos: int


@node
class Guard:
    """``guard(name)(args)``: held from here to the end of the enclosing block."""

    name: str
    args: tuple[Expr, ...]
    pos: int


@node
class Scope:
    """A run-once scope: ``scoped_guard(name, args) body``, ``scoped_cond_guard``, ``with_*(args) body``.

    ``macro`` is the word in the text, ``name`` the guard class (for ``with_*`` equal to ``macro``).
    """

    macro: str
    name: str
    args: tuple[Expr, ...]
    body: Stmt
    pos: int
    end: int


@node
class ForEach:
    """A loop written as a macro: ``list_for_each_entry(p, head, member) body``."""

    macro: Call
    body: Stmt
    pos: int


@node
class If:
    """``if (test) then else orelse``."""

    test: Expr
    then: Stmt
    orelse: Stmt | None
    pos: int


@node
class While:
    """``while (test) body``."""

    test: Expr
    body: Stmt
    pos: int


@node
class DoWhile:
    """``do body while (test)``."""

    body: Stmt
    test: Expr
    pos: int


@node
class For:
    """``for (init; test; step) body``."""

    init: tuple[Stmt, ...]
    test: Expr | None
    step: Expr | None
    body: Stmt
    pos: int


@node
class Switch:
    """``switch (value) body``; cases are :class:`Case` markers inside the body."""

    value: Expr
    body: Stmt
    pos: int
    end: int


@node
class Case:
    """A ``case low ... high:`` or (both None) ``default:`` marker; the statements follow as siblings."""

    low: Expr | None
    high: Expr | None
    pos: int


@node
class Label:
    """``name:``; what it labels follows as a sibling."""

    name: str
    pos: int


@node
class Goto:
    """``goto name``; "" for a computed goto."""

    name: str
    pos: int


@node
class HiddenGoto:
    """A macro call that may jump: ``unsafe_get_user(x, p, label)``, ``asm goto``."""

    call: Expr
    labels: tuple[str, ...]
    pos: int


@node
class Return:
    """``return value``."""

    value: Expr | None
    pos: int


@node
class Break:
    """``break``."""

    pos: int


@node
class Continue:
    """``continue``."""

    pos: int


@node
class Compound:
    """``{ body }``; ``end`` is the offset of the closing brace."""

    body: tuple[Stmt, ...]
    pos: int
    end: int


@node
class Broken:
    """Text that could not be read (an ERROR node) or that the hunk cut away: anything may happen here."""

    pos: int
    end: int


Stmt: TypeAlias = (
    Evaluate | Decl | Guard | Scope | ForEach | If | While | DoWhile | For | Switch | Case
    | Label | Goto | HiddenGoto | Return | Break | Continue | Compound | Broken
)

# ------------------------------------------------------------------ functions


@node
class Param:
    """A parameter: its name ("" when unnamed), base type text and number of stars."""

    name: str
    type: str
    pointer: int


@dataclass(frozen=True, slots=True)
class Variant:
    """A function's body under one arrangement of its ``#if`` directives.

    ``config`` holds the choices as text, e.g. ("CONFIG_SMP=y", "!defined(MODULE)"); () where there is one variant only.
    """

    config: tuple[str, ...]
    body: Compound


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function definition (or the part of it that a hunk shows). Two are equal only when they are one object."""

    name: str
    file: str
    line: int
    end_line: int
    start: int
    end: int
    params: tuple[Param, ...]
    return_type: str
    return_pointer: int
    static: bool
    inline: bool
    annotations: tuple[tuple[str, str], ...]
    """Words blanked by the pre-pass that mean something: ("__must_hold", "&x->lock"), ("__acquires", "RCU") ..."""
    variants: tuple[Variant, ...]
    whole: bool = True
    """False when the head, the end or a middle part is missing (fragments)."""
    bound_hit: bool = False
    """More #if arrangements exist than were kept."""
