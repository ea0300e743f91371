"""Blocks under construction: operations, scopes and expressions; ``build`` adds the statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from patchlint.cfg.flatten import hides_flow, parts, rebuild
from patchlint.cfg.graph import Branch, Jump, Op, Terminator
from patchlint.ir import Assign, Binary, Call, Conditional, Evaluate, Expr, Name, Num, Stmt, StmtExpr, Unary

Transparent: TypeAlias = Callable[[str], int]
"""Index of the argument that a one-valued macro (``likely``) stands for, -1 for other names."""

Scopes: TypeAlias = tuple[tuple[int, tuple[Op, ...]], ...]
"""Open scopes, outermost first: an identity and what leaving it does."""


class Loop:
    """Where break and continue of the innermost loop or switch go, and how deep its scopes are."""

    __slots__ = ("brk", "cont", "depth")

    def __init__(self, brk: int, cont: int | None, depth: int) -> None:
        self.brk = brk
        self.cont = cont
        self.depth = depth


class Emitter:
    """Blocks under construction; subclasses add what statements do."""

    def __init__(self, transparent: Transparent) -> None:
        self.transparent = transparent
        self.ops: list[list[Op]] = [[]]
        self.terms: list[Terminator | None] = [None]
        self.current = 0
        self.loops: list[Loop] = []
        self.scopes: list[tuple[int, list[Op]]] = []
        self.labels: dict[str, tuple[int, Scopes]] = {}
        self.gotos: list[tuple[int, str, Scopes, int]] = []
        self.selects: list[tuple[list[tuple[Expr, Expr | None, int]], list[int]]] = []
        self.temps = 0
        self.idents = 0

    # blocks ---------------------------------------------------------------

    def block(self) -> int:
        self.ops.append([])
        self.terms.append(None)
        return len(self.ops) - 1

    def emit(self, op: Op) -> None:
        self.ops[self.current].append(op)

    def close(self, term: Terminator) -> None:
        """End the current block; what follows is unreachable until a block is entered."""
        if self.terms[self.current] is None:
            self.terms[self.current] = term
        self.current = self.block()

    def enter(self, block: int) -> None:
        """Go on in ``block``, falling into it from the current one."""
        if self.terms[self.current] is None:
            self.terms[self.current] = Jump(block)
        self.current = block

    # scopes ---------------------------------------------------------------

    def snapshot(self) -> Scopes:
        return tuple((ident, tuple(ops)) for ident, ops in self.scopes)

    def unwind(self, depth: int) -> None:
        """Emit what leaving all scopes beyond ``depth`` does."""
        for _, ops in reversed(self.scopes[depth:]):
            self.ops[self.current].extend(undone(ops))

    def scoped(self, op: Op) -> None:
        if self.scopes:
            self.scopes[-1][1].append(op)

    def open_scope(self) -> None:
        self.idents += 1
        self.scopes.append((self.idents, []))

    def close_scope(self) -> None:
        self.ops[self.current].extend(undone(self.scopes.pop()[1]))

    # statements -----------------------------------------------------------

    def statement(self, stmt: Stmt) -> None:
        """Add what ``stmt`` does to the current block."""
        raise NotImplementedError

    # expressions ----------------------------------------------------------

    def keep(self, value: Expr) -> Name:
        """Put ``value`` into a temporary and name it."""
        self.temps += 1
        temp = Name(f"${self.temps}", value.pos)
        self.emit(Evaluate(Assign("=", temp, value, value.pos), value.pos))
        return temp

    def effect(self, expr: Expr, pos: int) -> None:
        """Evaluate ``expr`` for its effects alone."""
        if not hides_flow(expr):
            self.emit(Evaluate(expr, pos))
        elif isinstance(expr, Binary) and expr.op == ",":
            self.effect(expr.left, pos)
            self.effect(expr.right, pos)
        elif isinstance(expr, Binary) and expr.op in ("&&", "||"):
            after, more = self.block(), self.block()
            yes, no = (more, after) if expr.op == "&&" else (after, more)
            self.branch(expr.left, yes, no)
            self.current = more
            self.effect(expr.right, pos)
            self.enter(after)
        elif isinstance(expr, Conditional) and expr.then is not None:
            self.arms(expr, lambda arm: self.effect(arm, pos))
        elif isinstance(expr, Assign) and expr.op == "=" and isinstance(expr.value, Conditional) and expr.value.then:
            target = expr.target
            self.arms(expr.value, lambda arm: self.effect(Assign("=", target, arm, expr.pos), pos))
        elif isinstance(expr, StmtExpr):
            self.open_scope()
            for stmt in expr.body:
                self.statement(stmt)
            self.close_scope()
        else:
            self.emit(Evaluate(self.flat(expr), pos))

    def arms(self, expr: Conditional, act: Callable[[Expr], None]) -> None:
        """Branch on the test of ``?:`` and do ``act`` with the value of each arm."""
        yes, no, after = self.block(), self.block(), self.block()
        self.branch(expr.test, yes, no)
        for block, arm in ((yes, expr.then or expr.test), (no, expr.other)):
            self.current = block
            act(arm)
            self.enter(after)

    def flat(self, expr: Expr) -> Expr:
        """``expr`` without hidden control flow: what branches is evaluated before, into a temporary."""
        if not hides_flow(expr):
            return expr
        self.temps += 1
        temp = Name(f"${self.temps}", expr.pos)
        if isinstance(expr, StmtExpr):
            return self._flat_block(expr, temp)
        if isinstance(expr, Conditional):
            if expr.then is None:
                self.effect(Assign("=", temp, expr.test, expr.pos), expr.pos)
                expr = Conditional(temp, temp, expr.other, expr.pos)
            self.arms(expr, lambda arm: self.effect(Assign("=", temp, arm, expr.pos), expr.pos))
            return temp
        if isinstance(expr, Binary) and expr.op in ("&&", "||"):
            pos = expr.pos
            self.arms(
                Conditional(expr, Num(1, "1", pos), Num(0, "0", pos), pos),
                lambda arm: self.emit(Evaluate(Assign("=", temp, arm, pos), pos)),
            )
            return temp
        return rebuild(expr, tuple(self.flat(p) for p in parts(expr)))

    def _flat_block(self, expr: StmtExpr, temp: Name) -> Expr:
        body = expr.body
        if body and isinstance(body[-1], Evaluate):
            last = Evaluate(Assign("=", temp, body[-1].expr, expr.pos), expr.pos)
            body = (*body[:-1], last)
        self.effect(StmtExpr(body, expr.pos), expr.pos)
        return temp

    def branch(self, test: Expr, true: int, false: int) -> None:
        """End the current block with a branch on ``test``, splitting ``&&``, ``||``, ``!``, ``?:`` and ``,``."""
        if isinstance(test, Call):
            at = self.transparent(test.name) if test.name else -1
            if 0 <= at < len(test.args):
                self.branch(test.args[at], true, false)
                return
        elif isinstance(test, Unary) and test.op == "!":
            self.branch(test.operand, false, true)
            return
        elif isinstance(test, Binary) and test.op in ("&&", "||", ","):
            self._branch_binary(test, true, false)
            return
        elif isinstance(test, Conditional) and test.then is not None:
            yes, no = self.block(), self.block()
            self.branch(test.test, yes, no)
            self.current = yes
            self.branch(test.then, true, false)
            self.current = no
            self.branch(test.other, true, false)
            return
        elif isinstance(test, Num) and test.value is not None:
            self.close(Jump(true if test.value else false))
            return
        flat = self.flat(test)
        self.close(Branch(flat, true, false, test.pos))

    def _branch_binary(self, test: Binary, true: int, false: int) -> None:
        if test.op == ",":
            self.effect(test.left, test.pos)
        else:
            more = self.block()
            self.branch(test.left, *((more, false) if test.op == "&&" else (true, more)))
            self.current = more
        self.branch(test.right, true, false)


def undone(ops: tuple[Op, ...] | list[Op]) -> list[Op]:
    """What leaving a scope does, last opened first."""
    return list(reversed(ops))
