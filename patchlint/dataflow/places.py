"""Where effects act: the addresses and the words for what a call does something to."""

from __future__ import annotations

from patchlint.cfg import render
from patchlint.dataflow.state import State
from patchlint.dataflow.values import Value, Values
from patchlint.effects import Place
from patchlint.ir import Call, Cast, Expr, Name, Unary


def below(values: Values, address: Value, place: Place) -> Value:
    """The address of the field that ``place`` names, in the structure at ``address``."""
    for field in filter(None, place.path.lstrip("&").split(".")):
        address = values.make("f", address, field)
    return address


def subject_of(expr: Call, place: Place, target: str) -> str:
    """Source text of what ``expr`` acts on; ``target``: the variable that gets its result."""
    if place.root == "result":
        return target or render(expr, 40)
    if place.root == "global" or place.index >= len(expr.args):
        return expr.name
    arg = expr.args[place.index]
    if place.deref and isinstance(arg, Unary) and arg.op == "&":
        arg = arg.operand
    return ".".join(filter(None, (render(arg), place.path.lstrip("&"))))


def is_out(arg: Expr) -> bool:
    """Given the address of a variable a function writes it, whatever else a model tells of it."""
    return isinstance(arg, Unary) and arg.op == "&" and isinstance(arg.operand, Name)


def already_stored(values: Values, st: State, obj: Value) -> bool:
    """``x->p = p; hold(p)``: the pointer was stored before it was held."""
    return any(value == obj and values.nodes[values.root[at]][0] != "&l" for at, value in st.mem.items())


def function_named(expr: Expr) -> str:
    """The function that an argument names, also by its address or cast to another type; "" for anything else."""
    while isinstance(expr, Cast) or (isinstance(expr, Unary) and expr.op == "&"):
        expr = expr.operand
    return expr.id if isinstance(expr, Name) else ""
