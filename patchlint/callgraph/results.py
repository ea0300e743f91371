"""Which classes a function's result may be in, told from its returns without walking its paths.

A superset: a variable that is assigned something anywhere may be that wherever it is returned.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from patchlint.callgraph.facts import Result
from patchlint.cfg import Cfg, Leave, walk
from patchlint.dataflow import PathReport
from patchlint.effects import ANY, NEG, POS, ZERO, Effect
from patchlint.ir import Assign, Binary, Call, Cast, Conditional, Decl, Evaluate, Expr, Function, Name, Num, Unary

_TRUTHS: Final = frozenset(("==", "!=", "<", ">", "<=", ">=", "&&", "||"))
_CONSTANTS: Final = {"NULL": ZERO, "false": ZERO, "true": POS}
_SIGNED: Final = frozenset(("int", "long", "ssize_t", "s32", "s64"))


class _Body(NamedTuple):
    assigned: dict[str, list[Expr]]
    open: frozenset[str]
    """Variables that may be anything: parameters, those counted with, those whose address is given away."""


def results_of(function: Function, cfg: Cfg) -> Result:
    """The classes that the returns themselves tell, and the calls whose results are returned as well."""
    if function.return_pointer or function.return_type.split()[-1:] not in [[name] for name in _SIGNED]:
        return Result()
    body = _read(function, cfg)
    mask, calls = 0, set[str]()
    for block in cfg.blocks:
        if isinstance(block.term, Leave) and block.term.value is not None:
            mask |= _class_of(block.term.value, body, calls, frozenset())
    return Result(mask, tuple(sorted(calls))) if mask != ANY and "" not in calls else Result()


def _read(function: Function, cfg: Cfg) -> _Body:
    assigned: dict[str, list[Expr]] = {}
    loose = {param.name for param in function.params}
    for block in cfg.blocks:
        for op in block.ops:
            expr = op.expr if isinstance(op, Evaluate) else op.init if isinstance(op, Decl) else None
            if isinstance(op, Decl) and op.init is not None:
                assigned.setdefault(op.name, []).append(op.init)
            _look(expr, assigned, loose)
        _look(getattr(block.term, "test", None) or getattr(block.term, "value", None), assigned, loose)
    return _Body(assigned, frozenset(loose))


def _look(expr: Expr | None, assigned: dict[str, list[Expr]], loose: set[str]) -> None:
    for node in walk(expr) if expr is not None else ():
        if isinstance(node, Assign) and isinstance(node.target, Name):
            if node.op == "=":
                assigned.setdefault(node.target.id, []).append(node.value)
            else:
                loose.add(node.target.id)
        elif isinstance(node, Unary) and node.op in ("&", "++", "--", "p++", "p--") and isinstance(node.operand, Name):
            loose.add(node.operand.id)


def _class_of(expr: Expr, body: _Body, calls: set[str], seen: frozenset[str]) -> int:
    match expr:
        case Num(value=int() as number):
            return ZERO if number == 0 else POS if number > 0 else NEG
        case Name(name, _) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case Name(name, _) if name in seen:
            return 0
        case Name(name, _) if name in body.assigned and name not in body.open:
            return _all(body.assigned[name], body, calls, seen | {name})
        case Unary("-", Num(value=int() as number), _) if number:
            return NEG if number > 0 else POS
        case Unary("-", Name(name, _), _) if name.isupper():
            return NEG
        case Unary("!", _, _):
            return ZERO | POS
        case Binary(op, _, _, _) if op in _TRUTHS:
            return ZERO | POS
        case Binary(",", _, right, _):
            return _class_of(right, body, calls, seen)
        case Conditional(test, then, other, _):
            return _all((then or test, other), body, calls, seen)
        case Assign("=", _, value, _) | Cast(_, value, _):
            return _class_of(value, body, calls, seen)
        case Call(name=name) if name:
            calls.add(name)
            return 0
    return ANY


def _all(exprs: list[Expr] | tuple[Expr, ...], body: _Body, calls: set[str], seen: frozenset[str]) -> int:
    mask = 0
    for expr in exprs:
        mask |= _class_of(expr, body, calls, seen)
    return mask


def answers(mask: int) -> int:
    """Any, of a body that says 0 whatever happens: callers ask because it may come to fail, and must be ready."""
    return ANY if mask == ZERO else mask


def on_success(effect: Effect) -> Effect:
    """What a body that always returns 0 takes, it takes when it succeeds."""
    return effect._replace(when=ZERO) if effect.action == "acquire" and effect.when == ANY else effect


def counted(report: PathReport) -> PathReport:
    """What is worked out and returned, by a function that has error numbers for its failures, is no error number."""
    if all(leaving.mask != NEG for leaving in report.exits):
        return report
    exits = (
        leaving._replace(mask=leaving.mask & ~NEG or NEG) if report.keys[leaving.value][0] == "op" else leaving
        for leaving in report.exits
    )
    return replace(report, exits=tuple(exits))
