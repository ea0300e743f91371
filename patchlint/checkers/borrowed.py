"""A borrowed pointer stored where the object's release drops it: a reference that nobody took is given back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from patchlint.cfg import render
from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evaluated import assigned, calls_in, nodes_in
from patchlint.checkers.function_fault import FunctionFault, step
from patchlint.dataflow import PathReport
from patchlint.ir import Assign, Call, Expr, Member, Name

CHECKER: Final = "pairing"


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Stores of borrowed nodes into devices made here, whose release puts them."""
    words = ctx.ruleset.models.table("of_node")
    makers = frozenset(words.get("owners", ()))
    made = _assigned_from(ctx, makers) if any(call.name in makers for call in calls_in(ctx.function)) else frozenset()
    if not made:
        return
    held = _held(ctx)
    for store in _stores(ctx):
        if _root(store.target) in made and _is_node(store.target) and not _counted(store.value, held):
            yield _fault(ctx, store)


def _stores(ctx: FunctionContext) -> Iterator[Assign]:
    nodes = nodes_in(ctx.function)
    return (node for node in nodes if isinstance(node, Assign) and isinstance(node.target, Member))


def _is_node(target: Expr) -> bool:
    """``x->dev.of_node``."""
    match target:
        case Member(Member(_, "dev", _, _), "of_node", False, _):
            return True
    return False


def _counted(value: Expr, held: frozenset[str]) -> bool:
    """Whether a reference comes with the value: a call gives it, a call took it before, or there is none to count."""
    return not isinstance(value, Name | Member) or render(value) in (*held, "NULL")


def _held(ctx: FunctionContext) -> frozenset[str]:
    """Texts of nodes on which some call of the function takes a reference, and variables that are given one."""
    taken: set[str] = set()
    getters: set[str] = set()
    for call in calls_in(ctx.function):
        summary = ctx.callees.summary(call.name) if call.name else None
        if summary is None:
            continue
        for effect in summary.effects:
            if effect.action != "acquire" or effect.resource != "of_node":
                continue
            at = effect.place.index if effect.place.root == "arg" else summary.returns_arg
            if 0 <= at < len(call.args):
                taken.add(render(call.args[at]))
            elif effect.place.root == "result":
                getters.add(call.name)
    return frozenset(taken) | _assigned_from(ctx, frozenset(getters))


def _assigned_from(ctx: FunctionContext, names: frozenset[str]) -> frozenset[str]:
    """Variables that are given the result of a call of one of ``names``."""
    return frozenset(
        name for name, value in assigned(ctx.function) if isinstance(value, Call) and value.name in names
    )


def _root(expr: Expr) -> str:
    while isinstance(expr, Member):
        expr = expr.base
    return expr.id if isinstance(expr, Name) else ""


def _fault(ctx: FunctionContext, store: Assign) -> FunctionFault:
    target, value = render(store.target), render(store.value)
    message = f"'{target}' is given '{value}' without of_node_get(): the device's release drops a reference nobody took"
    steps = (step(ctx, store.pos, f"'{value}' is stored with no reference of its own"),)
    return FunctionFault(CHECKER, "double", "ref", store.pos, value, message, steps, "medium", target)
