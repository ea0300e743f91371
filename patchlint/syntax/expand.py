"""Expansion of function-like macros that a file (or a header given with it) defines.

Expanded are those that a reader of the calls would miss: bodies with a jump or a call.  The text is
substituted as the preprocessor does (``#``, ``##``, ``__VA_ARGS__``), variables that the macro declares
get a name of their own, and every node of the result stands at the macro call.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from patchlint import ir
from patchlint.syntax.brackets import ARGS
from patchlint.syntax.dialect import Dialect
from patchlint.syntax.expressions import Context
from patchlint.syntax.heads import split_args
from patchlint.syntax.lexical import Directive, lex
from patchlint.syntax.rewrite import rewrite
from patchlint.syntax.statements import Statements
from patchlint.syntax.tree import parse_text
from patchlint.syntax.values import Define

MAX_BODY = 2000
"""Characters of the longest macro body that is expanded."""
MAX_TEXT = 8000
"""Characters of the longest expansion."""
MAX_DEPTH = 4
"""Macros expanded inside one another."""

_DEFINE = re.compile(r"([A-Za-z_]\w*)\(([^)]*)\)\s*([\s\S]*)\Z")
_JUMP = re.compile(r"\b(?:return|goto|break|continue)\b")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_NO_CALL = frozenset(
    {"if", "for", "while", "switch", "sizeof", "typeof", "__typeof__", "defined", "likely", "unlikely"}
)
_BLOCK_HEAD = re.compile(r"(?:for|while|if|switch)\s*" + ARGS.decode())
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|\s*##\s*|#\s*[A-Za-z_]\w*|\d\w*|[\s\S]')
_T = TypeVar("_T")


def read_define(directive: Directive) -> Define | None:
    """The function-like macro that a ``#define`` makes, None for an object-like one."""
    match = _DEFINE.match(directive.rest)
    if match is None:
        return None
    params = tuple(param.strip() for param in match[2].split(",") if param.strip())
    return Define(match[1], params, match[3].strip(), directive.start)


def defines_in(source: bytes) -> tuple[Define, ...]:
    """The function-like macros of a header, to be given to :func:`patchlint.syntax.parse`."""
    found = (read_define(item) for item in lex(source).directives if item.word == "define")
    return tuple(define for define in found if define is not None)


class Macros:
    """The macros to expand."""

    def __init__(self, defines: Iterable[Define], dialect: Dialect, keep: Collection[str]) -> None:
        usable = [define for define in defines if define.name not in keep and _usable(define, dialect)]
        self._table = _worth(usable)

    def expression(self, call: ir.Call, context: Context) -> ir.Expr | None:
        """The value of a macro call inside an expression, None when it is not one that is expanded."""
        statements = self._expand(call, context)
        if statements is None or len(statements) != 1 or not isinstance(statements[0], ir.Evaluate):
            return None
        return statements[0].expr

    def statements(self, call: ir.Call, context: Context) -> tuple[ir.Stmt, ...] | None:
        """The statements of a macro call, None when it is not one that is expanded."""
        return self._expand(call, context)

    def _expand(self, call: ir.Call, context: Context) -> tuple[ir.Stmt, ...] | None:
        define = self._table.get(call.name)
        if define is None or call.name in context.expanding or len(context.expanding) >= MAX_DEPTH:
            return None
        inside = context.source[call.pos : call.end].decode("latin-1")
        opened = inside.find("(")
        args = tuple(split_args(lex(inside[opened + 1 : -1].encode("latin-1")).shadow.decode("latin-1")))
        text = substitute(define, args)
        if text is None or len(text) > MAX_TEXT:
            return None
        source = b"{" + text.encode("latin-1", "replace") + b";}"
        lexed = lex(source)
        rewritten = rewrite(lexed.shadow, context.dialect)
        parsed = parse_text(b"int f()" + rewritten.text, -7)
        if parsed.error >= 0 or len(parsed.root[3]) != 1:
            return None
        marks = rewritten.marks
        inner = replace(
            context,
            source=source,
            types=marks.types,
            heads=frozenset(marks.heads),
            ranges=frozenset(marks.ranges),
            attributes=tuple(marks.attributes),
            tolerant=False,
            expanding=(*context.expanding, call.name),
        )
        statements = Statements(inner).body(parsed.root[3][0][3][-1])
        return tuple(relocate(statement, call.pos) for statement in statements)


def _usable(define: Define, dialect: Dialect) -> bool:
    if len(define.body) > MAX_BODY or "asm" in define.body or dialect.loops.match(define.name):
        return False
    return not _BLOCK_HEAD.fullmatch(define.body)


def _acts(define: Define) -> bool:
    return _JUMP.search(define.body) is not None or bool(set(_CALLED.findall(define.body)) - _NO_CALL)


def _worth(defines: Iterable[Define]) -> dict[str, Define]:
    """The macros that jump or call a function, themselves or through one another.

    Names without small letters are taken for macros that compute a constant (``BIT``, ``FIELD_PREP``).
    """
    table: dict[str, Define] = {}
    for define in defines:
        # Of two in #if branches the one that does something: the other is mostly an empty stand-in.
        if define.name not in table or not _acts(table[define.name]):
            table[define.name] = define
    called = {name: set(_CALLED.findall(define.body)) - _NO_CALL for name, define in table.items()}
    worth = {
        name
        for name, define in table.items()
        if _JUMP.search(define.body) or any(word not in table and not word.isupper() for word in called[name])
    }
    while more := {name for name in table if name not in worth and called[name] & worth}:
        worth |= more
    return {name: table[name] for name in worth}


def substitute(define: Define, args: tuple[str, ...]) -> str | None:
    """The body with the arguments in place; None when their number does not fit."""
    params = list(define.params)
    named = [param.removesuffix("...").strip() or "__VA_ARGS__" for param in params]
    if params and params[-1].endswith("...") and len(args) >= len(params) - 1:
        rest = ", ".join(args[len(params) - 1 :])
        args = (*args[: len(params) - 1], rest)
    if len(args) != len(params):
        return None
    values = dict(zip(named, args, strict=True))
    return _paste(define, values)


def _paste(define: Define, values: Mapping[str, str]) -> str:
    own = _declared(define.body) - set(values)
    out: list[str] = []
    pasted = False
    for token in _TOKEN.findall(define.body):
        if token.strip() == "##":
            pasted = True
            continue
        if token[0] == "#":
            token = '"' + values.get(token[1:].strip(), token).replace('"', "'") + '"'
        elif token in values:
            token = values[token]
            if pasted and not token and out and out[-1] == ",":
                out.pop()
        elif token in own:
            token = f"{token}__in_{define.name}"
        if not (pasted and token.isspace()):
            out.append(token)
            pasted = False
    return "".join(out)


_DECLARED = re.compile(
    r"(?:^|[;{])\s*+(?:(?:(?:__)?typeof(?:__)?(?:_unqual|_member)?\s*+" + ARGS.decode() + r"|\w++)\s++"
    r"(?:\*++\s*+)?|\w++\s*+\*++\s*+)+"
    r"([A-Za-z_]\w*+)\s*+(?==[^=]|;)"
)
_NO_TYPE = frozenset({"return", "goto", "break", "continue", "else", "case", "do"})


def _declared(body: str) -> set[str]:
    """Names that a macro body declares."""
    found = _DECLARED.finditer(body)
    return {match[1] for match in found if match[0].strip("{; \t\n").split()[0] not in _NO_TYPE}


def relocate(node: _T, pos: int) -> _T:
    """A copy of a node in which everything stands at ``pos``."""
    return _moved(node, pos)  # type: ignore[no-any-return]


def _moved(node: Any, pos: int) -> Any:
    if isinstance(node, tuple):
        return tuple(_moved(item, pos) for item in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    values = {item.name: getattr(node, item.name) for item in fields(node)}
    moved = {name: pos if name in ("pos", "end") else _moved(value, pos) for name, value in values.items()}
    return type(node)(**moved)
