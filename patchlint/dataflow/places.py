"""Where effects act: the addresses and the words for what a call does something to."""

from __future__ import annotations

from patchlint.cfg import render
from patchlint.dataflow.values import Value, Values
from patchlint.effects import Place
from patchlint.ir import Call, Unary


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
