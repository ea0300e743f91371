"""Lowered C as short text, so that a test can say in one line what it expects."""

from __future__ import annotations

from patchlint import ir
from patchlint.syntax import Unit, parse


def unit_of(code: str, **options: object) -> Unit:
    return parse(code.encode(), "t.c", **options)  # type: ignore[arg-type]


def function_of(code: str, **options: object) -> ir.Function:
    """The first function of a file."""
    unit = unit_of(code, **options)
    return unit.function(unit.heads[0])


def body_of(statements: str, before: str = "") -> list[str]:
    """The shapes of the statements of a function with one variant."""
    unit = unit_of(f"{before}\nvoid f(void)\n{{\n{statements}\n}}\n")
    function = unit.function(unit.heads[0])
    assert unit.not_analysed == ()
    (variant,) = function.variants
    return shapes(variant.body.body)


def expression_of(text: str) -> str:
    (only,) = body_of(f"x = {text};")
    return only.removeprefix("x = ")


def shapes(statements: tuple[ir.Stmt, ...]) -> list[str]:
    return [shape(statement) for statement in statements]


def shape(node: ir.Stmt | ir.Expr | None) -> str:
    """One node: expressions as C with all brackets, statements as C-like words."""
    match node:
        case None:
            return "-"
        case ir.Compound(body):
            return "{" + " ".join(f"{shape(item)};" for item in body) + "}"
        case ir.Evaluate(expr):
            return shape(expr)
        case ir.Decl():
            return _decl(node)
        case ir.Guard(name, args):
            return f"guard {name}({_list(args)})"
        case ir.Scope(macro, name, args, body):
            return f"scope {macro} {name}({_list(args)}) {shape(body)}"
        case ir.ForEach(macro, body):
            return f"foreach {shape(macro)} {shape(body)}"
        case ir.If(test, then, orelse):
            return f"if {shape(test)} {shape(then)} else {shape(orelse)}"
        case ir.While(test, body):
            return f"while {shape(test)} {shape(body)}"
        case ir.DoWhile(body, test):
            return f"do {shape(body)} while {shape(test)}"
        case ir.For(init, test, step, body):
            return f"for ({' '.join(shapes(init))}; {shape(test)}; {shape(step)}) {shape(body)}"
        case ir.Switch(value, body):
            return f"switch {shape(value)} {shape(body)}"
        case ir.Case(None, None):
            return "default:"
        case ir.Case(low, high):
            return f"case {shape(low)}:" if high is None else f"case {shape(low)} ... {shape(high)}:"
        case ir.Label(name):
            return f"{name}:"
        case ir.Goto(name):
            return f"goto {name}"
        case ir.HiddenGoto(call, labels):
            return f"{shape(call)} or goto {','.join(labels)}"
        case ir.Return(value):
            return f"return {shape(value)}"
        case ir.Break():
            return "break"
        case ir.Continue():
            return "continue"
        case ir.Broken():
            return "BROKEN"
        case _:
            return _expression(node)


def _decl(node: ir.Decl) -> str:
    words = ["static"] * node.static + [node.type, "*" * node.pointer + node.name + "[]" * node.array]
    cleanup = f" cleanup({node.cleanup})" if node.cleanup else ""
    return " ".join(words) + cleanup + (f" = {shape(node.init)}" if node.init is not None else "")


def _list(args: tuple[ir.Expr, ...]) -> str:
    return ", ".join(shape(arg) for arg in args)


def _expression(node: ir.Expr) -> str:
    match node:
        case ir.Name(text) | ir.Num(_, text):
            return text
        case ir.Str(text):
            return f'"{text}"'
        case ir.TypeArg(text):
            return f"<{text}>"
        case ir.SizeOf(text):
            return f"[{text}]"
        case ir.Call(name, func, args):
            return f"{name or '(' + shape(func) + ')'}({_list(args)})"
        case ir.Member(base, name, arrow):
            return f"{shape(base)}{'->' if arrow else '.'}{name}"
        case ir.Index(base, index):
            return f"{shape(base)}[{shape(index)}]"
        case ir.Unary(op, operand):
            return f"({op}{shape(operand)})"
        case ir.Binary(op, left, right):
            return f"({shape(left)} {op} {shape(right)})"
        case ir.Assign(op, target, value):
            return f"{shape(target)} {op} {shape(value)}"
        case ir.Conditional(test, then, other):
            return f"({shape(test)} ? {shape(then)} : {shape(other)})"
        case ir.Cast(kind, operand):
            return f"({kind}){shape(operand)}"
        case ir.StmtExpr(body):
            return "({" + " ".join(f"{shape(item)};" for item in body) + "})"
        case ir.InitList(kind, items):
            inside = ", ".join(f"{name}={shape(value)}" if name else shape(value) for name, value in items)
            return f"{kind}{{{inside}}}"
        case ir.Opaque(parts):
            return f"?({_list(parts)})"
        case _:
            raise AssertionError(node)
