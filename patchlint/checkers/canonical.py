"""Canonical form of tests: the same question about the same kind of object gets the same text.

A member chain is named by its fields from the last pointer on (``udp_sk(sk)->a.b``, ``up->a.b`` and, through a local
with one definition, ``x->a.b`` are all ``.a.b``), so that a set-up and a tear-down that reach their object on
different ways compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from patchlint.cfg import walk
from patchlint.checkers.conditions import Kind, Lit
from patchlint.ir import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    Member,
    Name,
    Num,
    SizeOf,
    Str,
    TypeArg,
    Unary,
)

DEPTH: Final = 5
"""How many definitions of locals are followed."""

_TRANSPARENT: Final = frozenset(
    ("READ_ONCE", "ACCESS_ONCE", "likely", "unlikely", "smp_load_acquire", "rcu_access_pointer", "WARN_ON",
     "WARN_ON_ONCE", "data_race", "rtnl_dereference", "unrcu_pointer", "lockless_dereference")
)
_KEY_TESTS: Final = (
    "static_branch_likely", "static_branch_unlikely", "static_branch_maybe", "static_key_enabled", "static_key_false",
    "static_key_true", "static_key_count",
)
_CONFIG: Final = frozenset(("IS_ENABLED", "IS_BUILTIN", "IS_MODULE", "IS_REACHABLE"))
_FAILURES: Final = frozenset(("IS_ERR", "IS_ERR_OR_NULL"))
_FLIP: Final[Mapping[str, tuple[str, bool, bool]]] = {
    # op: (canonical op, swap sides, negate)
    "!=": ("==", False, True),
    ">": ("<", True, False),
    ">=": ("<", False, True),
    "<=": ("<", True, True),
}
_RANK: Final[tuple[Kind, ...]] = (
    "key", "loop", "progress", "call", "field", "bit", "param", "local", "global", "config",
)


class Text(NamedTuple):
    """Canonical text with the kinds it is made of and what it depends on."""

    text: str
    kinds: frozenset[Kind] = frozenset()
    roots: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Names:
    """What the names of one function stand for."""

    params: frozenset[str]
    locals: frozenset[str]
    single: Mapping[str, tuple[Expr, int]]
    """Locals with one definition: the expression and where."""
    stored: Mapping[str, tuple[int, ...]]
    """Fields that the function stores to, and where."""
    flags: frozenset[str] = frozenset()
    """Locals declared bool: a call result kept in one is a predicate, in any other the success of a step."""
    made: Mapping[str, int] = field(default_factory=dict)
    """Fields and file-level variables that the function sets to the result of a call, and where."""


def literal(test: Expr, holds: bool, names: Names) -> Lit:
    """The literal that says ``test`` is true (or false)."""
    text, truth = _truth(test, names, DEPTH)
    kind = _kind(text.kinds)
    if kind in ("field", "global") and names.made.get(text.text, test.pos) < test.pos:
        kind = "progress"
    return Lit(text.text, holds == truth, kind, text.roots, _outdated(test, text, names))


def _kind(kinds: frozenset[Kind]) -> Kind:
    """The kind of a test made of parts: what is least certain decides."""
    if "field" in kinds and "progress" in kinds:
        return "call"
    for kind in _RANK:
        if kind in kinds:
            return kind
    return "global"


def atom(expr: Expr, names: Names) -> str:
    """Canonical text of the truth of ``expr``."""
    return _truth(expr, names, DEPTH)[0].text


def tail(expr: Expr) -> str:
    """Fields of a member chain from its last pointer on, ".a.b"; "" for anything else."""
    expr = strip(expr)
    if isinstance(expr, Index):
        return tail(expr.base)
    if not isinstance(expr, Member):
        return ""
    if expr.arrow:
        return f".{expr.field}"
    base = strip(expr.base)
    inner = tail(base) if isinstance(base, Member | Index) else ""
    return f"{inner}.{expr.field}"


def strip(expr: Expr) -> Expr:
    """``expr`` without casts and wrappers that give the value of their first argument."""
    while True:
        if isinstance(expr, Cast):
            expr = expr.operand
        elif isinstance(expr, Call) and expr.args and (
            expr.name in _TRANSPARENT or expr.name.startswith(("rcu_dereference", "srcu_dereference"))
        ):
            inner = expr.args[0]
            expr = inner.operand if isinstance(inner, Unary) and inner.op == "&" else inner
        else:
            return expr


def _outdated(test: Expr, text: Text, names: Names) -> bool:
    """Whether a local in ``test`` remembers a field that was stored to between its definition and the test."""
    for node in walk(test):
        if isinstance(node, Name) and node.id in names.single:
            begin = names.single[node.id][1]
            for root in text.roots:  # temporaries ("$1") are set just before the definition that uses them
                if not root.startswith("$") and any(begin < at < node.pos for at in names.stored.get(root, ())):
                    return True
    return False


def _truth(test: Expr, names: Names, depth: int) -> tuple[Text, bool]:
    """Canonical text and whether the truth of ``test`` is that of the text (False: its opposite)."""
    test = strip(test)
    if isinstance(test, Unary) and test.op == "!":
        text, truth = _truth(test.operand, names, depth)
        return text, not truth
    if isinstance(test, Name) and depth and test.id in names.single:
        return _remembered(test, names, depth)
    if isinstance(test, Binary) and test.op in ("==", "!="):
        return _equality(test, names, depth)
    if isinstance(test, Binary) and test.op in _FLIP:
        op, swap, negate = _FLIP[test.op]
        left, right = (test.right, test.left) if swap else (test.left, test.right)
        return _compared(op, left, right, names, depth), not negate
    if isinstance(test, Binary) and test.op == "<":
        return _compared("<", test.left, test.right, names, depth), True
    if isinstance(test, Assign):
        return _truth(test.value, names, depth)
    return _text(test, names, depth), True


def _remembered(test: Name, names: Names, depth: int) -> tuple[Text, bool]:
    """The truth of a local with one definition is that of the definition."""
    text, truth = _truth(names.single[test.id][0], names, depth - 1)
    kinds = text.kinds
    if "call" in kinds and test.id not in names.flags:
        kinds = kinds | {"progress"}
    return Text(text.text, kinds, text.roots | {test.id}), truth


def _equality(test: Binary, names: Names, depth: int) -> tuple[Text, bool]:
    negate = test.op == "!="
    for one, other in ((test.left, test.right), (test.right, test.left)):
        if _is(other, ("0", "NULL", "false")):
            text, truth = _truth(one, names, depth)
            return text, truth == negate
        if _is(other, ("true",)):
            text, truth = _truth(one, names, depth)
            return text, truth != negate
    left, right = _text(test.left, names, depth), _text(test.right, names, depth)
    if right.text < left.text and not isinstance(strip(test.right), Name | Num):
        left, right = right, left
    return Text(f"{left.text}=={right.text}", left.kinds | right.kinds, left.roots | right.roots), not negate


def _compared(op: str, left: Expr, right: Expr, names: Names, depth: int) -> Text:
    a, b = _text(left, names, depth), _text(right, names, depth)
    kinds = a.kinds | b.kinds
    if "call" in kinds and (_is(left, ("0",)) or _is(right, ("0",))):
        kinds = kinds | {"progress"}
    return Text(f"{a.text}{op}{b.text}", kinds, a.roots | b.roots)


def _is(expr: Expr, words: tuple[str, ...]) -> bool:
    expr = strip(expr)
    return (isinstance(expr, Num) and expr.text in words) or (isinstance(expr, Name) and expr.id in words)


def _text(expr: Expr, names: Names, depth: int) -> Text:
    expr = strip(expr)
    match expr:
        case Name():
            return _name(expr, names, depth)
        case Num(_, text, _) | Str(text, _) | TypeArg(text, _) | SizeOf(text, _):
            return Text(text)
        case Member() | Index():
            return _chain(expr, names, depth)
        case Call():
            return _call(expr, names, depth)
        case Unary(op, operand, _):
            inner = _text(operand, names, depth)
            return inner._replace(text=f"{op}{inner.text}")
        case Binary(op, left, right, _):
            a, b = _text(left, names, depth), _text(right, names, depth)
            return Text(f"({a.text}{op}{b.text})", a.kinds | b.kinds, a.roots | b.roots)
        case Conditional(_, _, other, _):
            return _text(other, names, depth)._replace(text="?:", kinds=frozenset(("local",)))
    return Text("?", frozenset(("local",)))


def _name(name: Name, names: Names, depth: int) -> Text:
    if name.id in names.single and depth:
        inner = _text(names.single[name.id][0], names, depth - 1)
        kinds = inner.kinds
        if "call" in kinds and name.id not in names.flags:
            kinds = kinds | {"progress"}
        return Text(inner.text, kinds, inner.roots | {name.id})
    if name.id in names.params:
        return Text(name.id, frozenset(("param",)), frozenset((name.id,)))
    if name.id in names.locals or name.id.startswith("$"):
        return Text(name.id, frozenset(("local",)), frozenset((name.id,)))
    if name.id.isupper():
        return Text(name.id)
    return Text(name.id, frozenset(("global",)), frozenset((name.id,)))


def _chain(expr: Member | Index, names: Names, depth: int) -> Text:
    """``x->a.b`` as ".a.b"; the index of an array stays when it is a constant."""
    path = tail(expr)
    if isinstance(expr, Index) and not path:
        base, index = _text(expr.base, names, depth), _text(expr.index, names, depth)
        return Text(f"{base.text}[{index.text}]", base.kinds | index.kinds, base.roots | index.roots)
    roots = frozenset(f".{part}" for part in path.split(".") if part)
    return Text(path, frozenset(("field",)), roots)


def _call(call: Call, names: Names, depth: int) -> Text:
    if call.name.startswith(_KEY_TESTS):
        return Text(f"key {_arguments(call, names, depth).removesuffix('.key')}", frozenset(("key",)))
    if call.name in _CONFIG:
        return Text(f"{call.name}({_arguments(call, names, depth)})", frozenset(("config",)))
    if "test_bit" in call.name or "test_and_" in call.name or call.name.endswith("_flag"):
        constants = [a.id for a in call.args if isinstance(a, Name) and a.id.isupper()]
        if constants:
            return Text(f"bit {constants[0]}", frozenset(("bit",)), frozenset((constants[0],)))
    if not call.name:
        return Text(f"{tail(call.func) or '*'}()", frozenset(("call",)))
    kind: Kind = "progress" if call.name in _FAILURES else "call"
    roots = frozenset(arg.id for arg in map(strip, call.args) if isinstance(arg, Name)) | {f"{call.name}()"}
    return Text(f"{call.name}({_arguments(call, names, depth)})", frozenset((kind,)), roots)


def _arguments(call: Call, names: Names, depth: int) -> str:
    """Constants and file-level names stay, objects become "_": they are the object, whatever its local name."""
    shown = []
    for arg in call.args:
        arg = strip(arg)
        inner = arg.operand if isinstance(arg, Unary) and arg.op == "&" else arg
        if isinstance(inner, Name):
            local = inner.id in names.params or inner.id in names.locals
            shown.append("_" if local else inner.id)
        elif isinstance(inner, Num | Str | SizeOf | TypeArg):
            shown.append(inner.text)
        elif isinstance(inner, Member) and not inner.arrow and inner.field == "key" and isinstance(inner.base, Name):
            shown.append(inner.base.id)
        else:
            shown.append("_")
    return ",".join(shown)
