"""Lowering of statements: trees of the parser to values of :mod:`patchlint.ir`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from patchlint import ir
from patchlint.syntax.declarators import declarators, declared
from patchlint.syntax.expressions import Context, Expressions, has_error, squeeze
from patchlint.syntax.tree import ERROR, Tree

_WORD = re.compile(rb"[A-Za-z_]\w*")
_CONTAINERS = frozenset(
    {"compound_statement", "if_statement", "while_statement", "for_statement", "do_statement", "switch_statement",
     "case_statement", "labeled_statement"}
)  # fmt: skip
_STORAGE = re.compile(r"\b(?:static|extern|register|auto|inline|__inline__|__inline|typedef)\b")


class Statements(Expressions):
    """Lowers statement trees of one text.  A statement may become several (labels, declarations)."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._statements: dict[str, Callable[[Tree], Sequence[ir.Stmt]]] = {
            "expression_statement": self._evaluate,
            "declaration": self._declaration,
            "compound_statement": self._compound,
            "if_statement": self._if,
            "while_statement": self._while,
            "do_statement": self._do,
            "for_statement": self._for,
            "switch_statement": self._switch,
            "case_statement": self._case,
            "labeled_statement": self._label,
            "goto_statement": self._goto,
            "return_statement": self._return,
            "break_statement": self._break,
            "continue_statement": self._continue,
            "attributed_statement": self._attributed,
            "struct_specifier": self._nothing,
            "union_specifier": self._nothing,
            "enum_specifier": self._nothing,
            "type_definition": self._nothing,
            ";": self._nothing,
        }

    def statements(self, trees: Sequence[Tree]) -> tuple[ir.Stmt, ...]:
        """Lower the statements of a sequence, brackets left out."""
        out: list[ir.Stmt] = []
        for tree in trees:
            if tree[0] not in ("{", "}"):
                out.extend(self.statement(tree))
        return tuple(out)

    def body(self, tree: Tree) -> tuple[ir.Stmt, ...]:
        """The statements inside a ``compound_statement``."""
        return self.statements(tree[3])

    def compound(self, tree: Tree) -> ir.Compound:
        """Lower a ``compound_statement``."""
        return ir.Compound(self.body(tree), tree[1], tree[2] - 1)

    def statement(self, tree: Tree) -> Sequence[ir.Stmt]:
        """Lower one statement; what cannot be read becomes Broken."""
        handler = self._statements.get(tree[0])
        if handler is None:
            return self._unknown(tree)
        if self.context.tolerant and _is_broken(tree):
            return (ir.Broken(tree[1], tree[2]),)
        return handler(tree)

    def single(self, tree: Tree) -> ir.Stmt:
        """Lower the body of a control statement to exactly one statement."""
        found = self.statement(tree)
        if len(found) == 1:
            return found[0]
        return ir.Compound(tuple(found), tree[1], tree[2])

    def _unknown(self, tree: Tree) -> Sequence[ir.Stmt]:
        if tree[0] in self._expressions and not (self.context.tolerant and has_error(tree)):
            return (ir.Evaluate(self.expression(tree), tree[1]),)
        return (ir.Broken(tree[1], tree[2]),)

    def _nothing(self, tree: Tree) -> Sequence[ir.Stmt]:
        return ()

    # -------------------------------------------------------------- simple statements

    def _evaluate(self, tree: Tree) -> Sequence[ir.Stmt]:
        first = tree[3][0]
        if first[0] == ";":
            return ()
        if first[0] == "gnu_asm_expression":
            return self._asm(first)
        expr = self.expression(first)
        if type(expr) is ir.Call:
            return self._call_statement(expr)
        return (ir.Evaluate(expr, tree[1]),)

    def _call_statement(self, call: ir.Call) -> Sequence[ir.Stmt]:
        """Calls that are more than calls: guards, classes, hidden jumps, macros that stand for statements."""
        dialect = self.context.dialect
        inner = call.func
        if type(inner) is ir.Call:
            if inner.name in dialect.guards and inner.args:
                return (ir.Guard(self._argument(inner.args[0]), call.args, call.pos),)
            if inner.name in dialect.classes and len(inner.args) >= 2:
                return (self._class(inner, call),)
        if call.args and dialect.jumps.match(call.name) and type(call.args[-1]) is ir.Name:
            return (ir.HiddenGoto(call, (call.args[-1].id,), call.pos),)
        if self.context.macros is not None:
            expanded = self.context.macros.statements(call, self.context)
            if expanded is not None:
                return expanded
        return (ir.Evaluate(call, call.pos),)

    def _argument(self, expr: ir.Expr) -> str:
        return expr.id if isinstance(expr, ir.Name) else expr.text if isinstance(expr, ir.TypeArg) else ""

    def _class(self, inner: ir.Call, call: ir.Call) -> ir.Decl:
        """``CLASS(name, var)(args)`` declares ``var``, made by the class's constructor."""
        name = self._argument(inner.args[0])
        constructor = f"class_{name}_constructor"
        init = ir.Call(constructor, ir.Name(constructor, call.pos), call.args, call.pos, call.end)
        return ir.Decl(self._argument(inner.args[1]), f"CLASS:{name}", 0, False, init, False, f"CLASS:{name}", call.pos)

    def _asm(self, tree: Tree) -> Sequence[ir.Stmt]:
        labels = [
            self.text(label[1], label[2])
            for part in tree[3]
            if part[0] == "gnu_asm_goto_list"
            for label in part[3]
            if label[0] == "identifier"
        ]
        operands = ("gnu_asm_goto_list", "gnu_asm_clobber_list")
        expr = self._opaque(("asm", tree[1], tree[2], [part for part in tree[3] if part[0] not in operands]))
        return (ir.HiddenGoto(expr, tuple(labels), tree[1]) if labels else ir.Evaluate(expr, tree[1]),)

    def _goto(self, tree: Tree) -> Sequence[ir.Stmt]:
        label = tree[3][1]
        computed = b"*" in self.source[tree[1] : label[1]] or label[0] != "statement_identifier"
        return (ir.Goto("" if computed else self.text(label[1], label[2]), tree[1]),)

    def _return(self, tree: Tree) -> Sequence[ir.Stmt]:
        value = tree[3][1] if len(tree[3]) > 1 and tree[3][1][0] != ";" else None
        return (ir.Return(self.expression(value) if value is not None else None, tree[1]),)

    def _break(self, tree: Tree) -> Sequence[ir.Stmt]:
        return (ir.Break(tree[1]),)

    def _continue(self, tree: Tree) -> Sequence[ir.Stmt]:
        return (ir.Continue(tree[1]),)

    # -------------------------------------------------------------- blocks and branches

    def _compound(self, tree: Tree) -> Sequence[ir.Stmt]:
        return (self.compound(tree),)

    def _attributed(self, tree: Tree) -> Sequence[ir.Stmt]:
        return self.statement(tree[3][-1])

    def _if(self, tree: Tree) -> Sequence[ir.Stmt]:
        children = tree[3]
        if tree[1] in self.context.heads:
            return (self._macro_block(children[1], children[2], tree),)
        orelse = self.single(children[3][3][-1]) if len(children) > 3 else None
        return (ir.If(self.expression(children[1]), self.single(children[2]), orelse, tree[1]),)

    def _while(self, tree: Tree) -> Sequence[ir.Stmt]:
        _, test, body = tree[3][:3]
        if tree[1] in self.context.heads:
            return (self._macro_block(test, body, tree),)
        return (ir.While(self.expression(test), self.single(body), tree[1]),)

    def _macro_block(self, test: Tree, body: Tree, tree: Tree) -> ir.Stmt:
        """A loop or scope written as a macro: its name is the word in the original text."""
        start, dialect = tree[1], self.context.dialect
        call = self._macro_call(tree, test)
        name, args = call.name, call.args
        if not dialect.scopes.match(name):
            return ir.ForEach(call, self.single(body), start)
        classed = name in dialect.classed and args
        what = self._argument(args[0]) if classed else name
        return ir.Scope(name, what, args[1:] if classed else args, self.single(body), start, tree[2])

    def _macro_call(self, tree: Tree, test: Tree) -> ir.Call:
        """The macro call whose name became a keyword and whose arguments became a condition."""
        match = _WORD.match(self.source, tree[1])
        name = match[0].decode() if match else ""
        return ir.Call(name, ir.Name(name, tree[1]), tuple(self._arguments(test)), tree[1], test[2])

    def _arguments(self, tree: Tree) -> Iterator[ir.Expr]:
        """The arguments of a macro head, which the grammar took for one condition."""
        if tree[0] in ("parenthesized_expression", "comma_expression"):
            for child in tree[3]:
                if child[0] == "comma_expression":
                    yield from self._arguments(child)
                elif child[0] not in ("(", ")", ",") and not self._is_filler(child):
                    yield self.expression(child)

    def _is_filler(self, tree: Tree) -> bool:
        """Whether a number is the pre-pass's own: the condition of a loop macro without arguments."""
        return tree[0] == "number_literal" and self.source[tree[1] : tree[1] + 1] in (b"(", b")")

    def _do(self, tree: Tree) -> Sequence[ir.Stmt]:
        _, body, keyword, test = tree[3][:4]
        condition = self._macro_call(keyword, test) if keyword[1] in self.context.heads else self.expression(test)
        return (ir.DoWhile(self.single(body), condition, tree[1]),)

    def _for(self, tree: Tree) -> Sequence[ir.Stmt]:
        """``for (init; test; step) body``; a declaration brings its own ``;``."""
        parts: list[Tree | None] = [None, None, None]
        at = 0
        for child in tree[3][2:-2]:
            if child[0] == ";":
                at += 1
            elif child[0] == "declaration":
                parts[at] = child
                at += 1
            else:
                parts[min(at, 2)] = child
        init, test, step = parts
        start = self._for_init(init) if init is not None else ()
        return (
            ir.For(
                tuple(start),
                self.expression(test) if test is not None else None,
                self.expression(step) if step is not None else None,
                self.single(tree[3][-1]),
                tree[1],
            ),
        )

    def _for_init(self, tree: Tree) -> Sequence[ir.Stmt]:
        if tree[0] == "declaration":
            return self._declaration(tree)
        return (ir.Evaluate(self.expression(tree), tree[1]),)

    def _switch(self, tree: Tree) -> Sequence[ir.Stmt]:
        _, value, body = tree[3][:3]
        return (ir.Switch(self.expression(value), self.single(body), tree[1], tree[2]),)

    def _case(self, tree: Tree) -> Sequence[ir.Stmt]:
        children = tree[3]
        colon = next((index for index, child in enumerate(children) if child[0] == ":"), len(children) - 1)
        low, high = self._case_value(children[1]) if children[0][0] == "case" else (None, None)
        return (ir.Case(low, high, tree[1]), *self.statements(children[colon + 1 :]))

    def _case_value(self, tree: Tree) -> tuple[ir.Expr, ir.Expr | None]:
        if tree[0] == "conditional_expression" and tree[3][1][1] in self.context.ranges:
            return self.expression(tree[3][0]), self.expression(tree[3][-1])
        return self.expression(tree), None

    def _label(self, tree: Tree) -> Sequence[ir.Stmt]:
        name = tree[3][0]
        return (ir.Label(self.text(name[1], name[2]), tree[1]), *self.statements(tree[3][2:]))

    # -------------------------------------------------------------- declarations

    def _declaration(self, tree: Tree) -> Sequence[ir.Stmt]:
        found = declarators(tree)
        if not found:
            return ()
        kind = self._type_text(tree[1], found[0][1])
        if kind == "__label__":
            return ()
        static = any(
            child[0] == "storage_class_specifier" and self.source[child[1] : child[2]] == b"static" for child in tree[3]
        )
        ends = [*(child[1] for child in found[1:]), tree[2]]
        out: list[ir.Stmt] = []
        for declarator, end in zip(found, ends, strict=True):
            name = declared(declarator)
            # A function without a value is a local prototype.
            if name is None or (name.function and name.value is None):
                continue
            init = self.expression(name.value) if name.value is not None else None
            cleanup = self._cleanup(tree[1], found[0][1], declarator[1], end)
            text = self.text(name.start, name.end)
            out.append(ir.Decl(text, kind, name.pointer, name.array, init, static, cleanup, name.start))
        return out

    def _type_text(self, start: int, end: int) -> str:
        text = self.source[start:end]
        for word, args, pos in self.context.attributes:
            if start <= pos < end:
                stop = text.index(b")", pos - start) + 1 if args else pos - start + len(word)
                text = text[: pos - start].ljust(stop) + text[stop:]
        if b"/*" in text:
            text = re.sub(rb"/\*[\s\S]*?\*/", b" ", text)
        return squeeze(_STORAGE.sub("", text.decode("utf-8", "replace"))).rstrip(" (")

    def _cleanup(self, first: int, name: int, start: int, end: int) -> str:
        """The cleanup attribute between a declarator and the next one, or before the first one."""
        for word, args, pos in self.context.attributes:
            if word in ("__free", "__cleanup") and (start <= pos < end or first <= pos < name):
                return args
        return ""


def _is_broken(tree: Tree) -> bool:
    """Whether a statement is lost to an error: one inside a simple statement, or in a container's own parts."""
    kind, _, _, children = tree
    if kind not in _CONTAINERS:
        return has_error(tree)
    if kind == "compound_statement":
        return False
    if kind in ("case_statement", "labeled_statement"):
        colon = next((index for index, child in enumerate(children) if child[0] == ":"), 0)
        return any(has_error(child) for child in children[: colon + 1])
    return any(child[0] == ERROR or (child[0] not in _CONTAINERS and _holds_error(child)) for child in children)


def _holds_error(tree: Tree) -> bool:
    return not tree[0].endswith("_statement") and tree[0] not in ("declaration", "else_clause") and has_error(tree)
