"""Lowering of expressions: trees of the parser to values of :mod:`patchlint.ir`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from patchlint import ir
from patchlint.syntax.dialect import Dialect
from patchlint.syntax.rewrite import Attribute
from patchlint.syntax.tree import ERROR, Tree


class MacroTable(Protocol):
    """Macros that are expanded where they are called.  None means: this call is no such macro."""

    def expression(self, call: ir.Call, context: Context) -> ir.Expr | None:
        """The value of a macro call that stands in an expression."""

    def statements(self, call: ir.Call, context: Context) -> tuple[ir.Stmt, ...] | None:
        """The statements of a macro call that is a statement."""


@dataclass(frozen=True, slots=True)
class Context:
    """What the lowering of one text needs to know.  All offsets count in ``source``."""

    source: bytes
    dialect: Dialect
    types: Mapping[int, int]
    heads: frozenset[int]
    ranges: frozenset[int]
    attributes: tuple[Attribute, ...]
    enabled: Mapping[str, bool]
    """Configuration symbols that this variant decides: IS_ENABLED(symbol) is a constant."""
    macros: MacroTable | None
    tolerant: bool
    """The tree has errors: statements that hold one become Broken."""
    expanding: tuple[str, ...] = field(default=())
    """Macros whose expansion this text is."""


_TYPE_LIKE = re.compile(r"(?:[su]\d+|__[usbl]e?\d+|\w+_t|typeof.*|__typeof.*|bool|uint|ulong|ushort)\Z", re.DOTALL)
_LITERAL = re.compile(rb'"(?:[^"\\\n]|\\[\s\S])*+"')
_ESCAPES = dict(zip("abtnvfre\\'\"?", (7, 8, 9, 10, 11, 12, 13, 27, 92, 39, 34, 63), strict=True))
_PUNCTUATION = frozenset("(),{};")


class Expressions:
    """Lowers expression trees of one text."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.source = context.source
        self.types = context.types
        self._expressions: dict[str, Callable[[Tree], ir.Expr]] = {
            "identifier": self._name,
            "true": self._name,
            "false": self._name,
            "null": self._name,
            "NULL": self._name,
            "nullptr": self._name,
            "type_identifier": self._name,
            "number_literal": self._number,
            "char_literal": self._character,
            "string_literal": self._string,
            "concatenated_string": self._joined,
            "call_expression": self._call,
            "parenthesized_expression": self._parenthesized,
            "compound_statement": self._statement_expression,
            "field_expression": self._member,
            "subscript_expression": self._index,
            "pointer_expression": self._pointer,
            "unary_expression": self._unary,
            "update_expression": self._update,
            "binary_expression": self._binary,
            "comma_expression": self._binary,
            "assignment_expression": self._assign,
            "conditional_expression": self._conditional,
            "cast_expression": self._cast,
            "sizeof_expression": self._sizeof,
            "alignof_expression": self._sizeof,
            "offsetof_expression": self._sizeof,
            "compound_literal_expression": self._compound_literal,
            "initializer_list": self._initializer,
            "type_descriptor": self._type,
            "parameter_declaration": self._type,
            "macro_type_specifier": self._macro_type,
        }

    def text(self, start: int, end: int) -> str:
        """Original text between two offsets."""
        return self.source[start:end].decode("utf-8", "replace")

    def expression(self, tree: Tree) -> ir.Expr:
        """Lower one expression."""
        handler = self._expressions.get(tree[0])
        return handler(tree) if handler is not None else self._opaque(tree)

    def body(self, tree: Tree) -> tuple[ir.Stmt, ...]:
        """Lower the statements of a block; the statement room provides it."""
        raise NotImplementedError

    # -------------------------------------------------------------- leaves

    def _name(self, tree: Tree) -> ir.Expr:
        start = tree[1]
        if start in self.types:
            return ir.TypeArg(squeeze(self.text(start, self.types[start])), start)
        text = self.text(start, tree[2])
        return ir.TypeArg(squeeze(text), start) if "(" in text else ir.Name(text, start)

    def _type(self, tree: Tree) -> ir.Expr:
        return ir.TypeArg(squeeze(self.text(tree[1], tree[2])), tree[1])

    def _number(self, tree: Tree) -> ir.Expr:
        text = self.text(tree[1], tree[2])
        return ir.Num(number(text), text, tree[1])

    def _character(self, tree: Tree) -> ir.Expr:
        text = self.text(tree[1], tree[2])
        return ir.Num(character(text), text, tree[1])

    def _string(self, tree: Tree) -> ir.Expr:
        match = _LITERAL.match(self.source, tree[1])
        return ir.Str(match[0][1:-1].decode("utf-8", "replace") if match else "", tree[1])

    def _joined(self, tree: Tree) -> ir.Expr:
        parts = [self._string(child) for child in tree[3] if child[0] == "string_literal"]
        return ir.Str("".join(part.text for part in parts if isinstance(part, ir.Str)), tree[1])

    # -------------------------------------------------------------- calls

    def _call(self, tree: Tree) -> ir.Expr:
        callee, arguments = tree[3][0], tree[3][-1]
        args = tuple(self.expression(child) for child in arguments[3] if child[0] not in _PUNCTUATION)
        func = self.expression(callee)
        start, end = tree[1], tree[2]
        if callee[0] == "parenthesized_expression" and len(args) == 1 and _type_like(func):
            return ir.Cast(_type_text(func), args[0], start)
        if not isinstance(func, ir.Name):
            return ir.Call("", func, args, start, end)
        name = func.id
        if name in self.context.dialect.unevaluated:
            return ir.SizeOf(squeeze(self.text(start, end)), start)
        if name in self.context.dialect.enabled and len(args) == 1 and isinstance(args[0], ir.Name):
            value = self.context.enabled.get(args[0].id)
            if value is not None:
                return ir.Num(int(value), self.text(start, end), start)
        call = ir.Call(name, func, args, start, end)
        if self.context.macros is not None:
            return self.context.macros.expression(call, self.context) or call
        return call

    def _macro_type(self, tree: Tree) -> ir.Expr:
        """``MACRO(x)`` where the grammar expects a type: a call that no ``;`` ends."""
        name = self._name(tree[3][0])
        args = (self._name(arg) if len(arg[3]) == 1 else self._type(arg) for arg in tree[3][1:] if arg[0] not in "()")
        return ir.Call(self.text(tree[3][0][1], tree[3][0][2]), name, tuple(args), tree[1], tree[2])

    # -------------------------------------------------------------- composites

    def _parenthesized(self, tree: Tree) -> ir.Expr:
        inner = [child for child in tree[3] if child[0] not in ("(", ")")]
        return self.expression(inner[0]) if len(inner) == 1 else self._opaque(tree)

    def _statement_expression(self, tree: Tree) -> ir.Expr:
        return ir.StmtExpr(self.body(tree), tree[1])

    def _member(self, tree: Tree) -> ir.Expr:
        base, operator, name = tree[3][0], tree[3][1], tree[3][-1]
        return ir.Member(self.expression(base), self.text(name[1], name[2]), operator[0] == "->", tree[1])

    def _index(self, tree: Tree) -> ir.Expr:
        children = tree[3]
        return ir.Index(self.expression(children[0]), self.expression(children[2]), tree[1])

    def _pointer(self, tree: Tree) -> ir.Expr:
        operator, operand = tree[3][0], tree[3][-1]
        if operator[0] == "&" and operand[0] == "pointer_expression" and self.source[tree[1] : tree[1] + 2] == b"&&":
            return ir.Unary("&&", self.expression(operand[3][-1]), tree[1])
        return ir.Unary(operator[0], self.expression(operand), tree[1])

    def _unary(self, tree: Tree) -> ir.Expr:
        return ir.Unary(tree[3][0][0], self.expression(tree[3][-1]), tree[1])

    def _update(self, tree: Tree) -> ir.Expr:
        first, last = tree[3][0], tree[3][-1]
        if first[0] in ("++", "--"):
            return ir.Unary(first[0], self.expression(last), tree[1])
        return ir.Unary("p" + last[0], self.expression(first), tree[1])

    def _binary(self, tree: Tree) -> ir.Expr:
        left, operator, right = tree[3][0], tree[3][1], tree[3][-1]
        first = self.expression(left)
        if operator[0] in ("&", "*", "-", "+") and left[0] == "parenthesized_expression" and _type_like(first):
            return ir.Cast(_type_text(first), ir.Unary(operator[0], self.expression(right), operator[1]), tree[1])
        return ir.Binary(operator[0], first, self.expression(right), tree[1])

    def _assign(self, tree: Tree) -> ir.Expr:
        target, operator, value = tree[3][0], tree[3][1], tree[3][-1]
        return ir.Assign(operator[0], self.expression(target), self.expression(value), tree[1])

    def _conditional(self, tree: Tree) -> ir.Expr:
        children = tree[3]
        then = self.expression(children[2]) if len(children) == 5 else None
        return ir.Conditional(self.expression(children[0]), then, self.expression(children[-1]), tree[1])

    def _cast(self, tree: Tree) -> ir.Expr:
        kind, operand = tree[3][1], tree[3][-1]
        return ir.Cast(squeeze(self.text(kind[1], kind[2])), self.expression(operand), tree[1])

    def _sizeof(self, tree: Tree) -> ir.Expr:
        return ir.SizeOf(squeeze(self.text(tree[1], tree[2])), tree[1])

    def _compound_literal(self, tree: Tree) -> ir.Expr:
        kind, items = tree[3][1], tree[3][-1]
        return ir.InitList(squeeze(self.text(kind[1], kind[2])), self._items(items), tree[1])

    def _initializer(self, tree: Tree) -> ir.Expr:
        return ir.InitList("", self._items(tree), tree[1])

    def _items(self, tree: Tree) -> tuple[tuple[str, ir.Expr], ...]:
        items: list[tuple[str, ir.Expr]] = []
        for child in tree[3]:
            if child[0] == "initializer_pair":
                value = child[3][-1]
                designator = self.text(child[1], child[3][-2][1]).strip() if len(child[3]) > 1 else ""
                items.append((designator, self.expression(value)))
            elif child[0] not in _PUNCTUATION:
                items.append(("", self.expression(child)))
        return tuple(items)

    def _opaque(self, tree: Tree) -> ir.Expr:
        """Anything else: keep the expressions that stand inside."""
        parts: list[ir.Expr] = []
        stack = list(reversed(tree[3]))
        while stack:
            child = stack.pop()
            if child[0] in self._expressions and child[0] not in ("string_literal", "type_descriptor"):
                parts.append(self.expression(child))
            else:
                stack.extend(reversed(child[3]))
        return ir.Opaque(tuple(parts), tree[1])


def squeeze(text: str) -> str:
    """The text with every run of white space made one blank."""
    return " ".join(text.split())


def _type_text(expr: ir.Expr) -> str:
    return expr.text if isinstance(expr, ir.TypeArg) else expr.id if isinstance(expr, ir.Name) else ""


def _type_like(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.TypeArg) or (isinstance(expr, ir.Name) and _TYPE_LIKE.match(expr.id) is not None)


def has_error(tree: Tree) -> bool:
    """Whether a tree holds something that could not be read."""
    return tree[0] == ERROR or any(has_error(child) for child in tree[3])


@lru_cache(maxsize=4096)
def number(text: str) -> int | None:
    """Value of a C integer constant; None for floating ones."""
    digits = text.rstrip("uUlL").replace("'", "")
    try:
        if len(digits) > 1 and digits[0] == "0" and digits.isdigit():
            return int(digits, 8)
        return int(digits, 0)
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def character(text: str) -> int | None:
    """Value of a character constant; None where it has several characters or an unknown escape."""
    inner = text[text.find("'") + 1 : text.rfind("'")]
    if len(inner) == 1:
        return ord(inner)
    if inner[:1] != "\\":
        return None
    escape = inner[1:]
    if escape in _ESCAPES:
        return _ESCAPES[escape]
    try:
        return int(escape[1:], 16) if escape[:1] == "x" else int(escape, 8)
    except ValueError:
        return None
