"""From the structured statements of a function variant to its control-flow graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from patchlint.cfg.emit import Emitter, Loop, Transparent, undone
from patchlint.cfg.flatten import hides_flow
from patchlint.cfg.graph import (
    Block,
    Branch,
    Cfg,
    Choice,
    Cleanup,
    EnterGuard,
    Halt,
    Havoc,
    Jump,
    Leave,
    LeaveGuard,
    Select,
    Terminator,
    Turn,
    successors,
)
from patchlint.ir import (
    Binary,
    Break,
    Broken,
    Case,
    Compound,
    Conditional,
    Continue,
    Decl,
    DoWhile,
    Evaluate,
    Expr,
    For,
    ForEach,
    Goto,
    Guard,
    HiddenGoto,
    If,
    Label,
    Num,
    Return,
    Scope,
    Stmt,
    Switch,
    Variant,
    While,
)


def build(variant: Variant, transparent: Transparent) -> Cfg:
    """The control-flow graph of ``variant``.

    ``transparent`` tells wrappers whose truth is that of one argument, so that
    ``if (likely(a && b))`` branches on ``a`` and ``b``.
    """
    builder = _Builder(transparent)
    builder.statement(variant.body)
    builder.close(Leave(None, variant.body.end, implicit=True))
    return builder.finish(variant.body.end)


class _Builder(Emitter):
    def finish(self, end: int) -> Cfg:
        for block, name, scopes, pos in self.gotos:
            if name not in self.labels:
                self.terms[block] = Halt(pos)
                continue
            target, inner = self.labels[name]
            kept = 0
            while kept < len(scopes) and kept < len(inner) and scopes[kept][0] == inner[kept][0]:
                kept += 1
            for _, ops in reversed(scopes[kept:]):
                self.ops[block].extend(undone(ops))
            self.terms[block] = Jump(target)
        return self._compact(end)

    def _compact(self, end: int) -> Cfg:
        """Keep what is reachable, skip empty jumps, number in reverse post order."""
        hop: dict[int, int] = {}

        def settle(block: int) -> int:
            seen: set[int] = set()
            while block not in seen and not self.ops[block] and isinstance(self.terms[block], Jump):
                seen.add(block)
                block = successors(self._term(block))[0]
            return block

        order: list[int] = []
        first = settle(0)
        seen = {first}
        stack = [(first, iter(successors(self._term(first))))]
        while stack:
            block, nexts = stack[-1]
            following = next(nexts, -1)
            if following < 0:
                order.append(block)
                stack.pop()
                continue
            if following not in hop:
                hop[following] = settle(following)
            target = hop[following]
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(successors(self._term(target)))))
        order.reverse()
        number = {block: i for i, block in enumerate(order)}
        blocks = (
            Block(tuple(self.ops[b]), _retarget(self._term(b), lambda t: number[hop[t]])) for b in order
        )
        return Cfg(tuple(blocks), end)

    def _term(self, block: int) -> Terminator:
        term = self.terms[block]
        return Halt(0) if term is None else term

    # statements -----------------------------------------------------------

    def statement(self, stmt: Stmt) -> None:
        _STATEMENTS[type(stmt)](self, stmt)

    def compound(self, stmt: Compound) -> None:
        self.open_scope()
        for inner in stmt.body:
            self.statement(inner)
        self.close_scope()

    def evaluate(self, stmt: Evaluate) -> None:
        self.effect(stmt.expr, stmt.pos)

    def decl(self, stmt: Decl) -> None:
        init = stmt.init
        if init is not None and hides_flow(init):
            stmt = replace(stmt, init=self.flat(init))
        self.emit(stmt)
        if stmt.cleanup:
            self.scoped(Cleanup(stmt.name, stmt.cleanup, stmt.pos))

    def guard(self, stmt: Guard) -> None:
        self.idents += 1
        self.emit(EnterGuard(self.idents, stmt.name, stmt.args, stmt.pos))
        self.scoped(LeaveGuard(self.idents, stmt.name, stmt.pos))

    def scope(self, stmt: Scope) -> None:
        """``scoped_guard(...) body``: a loop that runs once, so break leaves it."""
        after = self.block()
        self.open_scope()
        self.loops.append(Loop(after, after, len(self.scopes) - 1))
        self.guard(Guard(stmt.name, stmt.args, stmt.pos))
        self.statement(stmt.body)
        self.loops.pop()
        self.close_scope()
        self.enter(after)

    def if_(self, stmt: If) -> None:
        then, after = self.block(), self.block()
        other = after if stmt.orelse is None else self.block()
        self.branch(stmt.test, then, other)
        self.current = then
        self.statement(stmt.then)
        self.enter(after)
        if stmt.orelse is not None:
            self.current = other
            self.statement(stmt.orelse)
            self.enter(after)

    def loop_body(self, body: Stmt, brk: int, cont: int) -> None:
        self.loops.append(Loop(brk, cont, len(self.scopes)))
        self.statement(body)
        self.loops.pop()
        self.enter(cont)

    def while_(self, stmt: While) -> None:
        head, body, after = self.block(), self.block(), self.block()
        self.enter(head)
        self.branch(stmt.test, body, after)
        self.current = body
        self.loop_body(stmt.body, after, head)
        self.current = after

    def do_while(self, stmt: DoWhile) -> None:
        body, test, after = self.block(), self.block(), self.block()
        self.enter(body)
        self.loop_body(stmt.body, after, test)
        self.branch(stmt.test, body, after)
        self.current = after

    def for_(self, stmt: For) -> None:
        self.open_scope()
        for init in stmt.init:
            self.statement(init)
        head, body, step, after = self.block(), self.block(), self.block(), self.block()
        self.enter(head)
        if stmt.test is None:
            self.close(Jump(body))
        else:
            self.branch(stmt.test, body, after)
        self.current = body
        self.loop_body(stmt.body, after, step)
        if stmt.step is not None:
            self.effect(stmt.step, stmt.pos)
        self.close(Jump(head))
        self.current = after
        self.close_scope()

    def for_each(self, stmt: ForEach) -> None:
        head, body, after = self.block(), self.block(), self.block()
        macro = replace(stmt.macro, args=tuple(self.flat(a) for a in stmt.macro.args))
        self.enter(head)
        self.close(Turn(macro, body, after, stmt.pos))
        self.current = body
        self.loop_body(stmt.body, after, head)
        self.current = after

    def switch(self, stmt: Switch) -> None:
        value = self.flat(stmt.value)
        head, after = self.current, self.block()
        self.current = self.block()
        self.terms[self.current] = Halt(stmt.pos)  # statements before the first case are never reached
        self.current = self.block()
        self.selects.append(([], []))
        cont = next((x.cont for x in reversed(self.loops) if x.cont is not None), None)
        outer = next((x.depth for x in reversed(self.loops) if x.cont is not None), 0)
        self.loops.append(_SwitchLoop(after, cont, len(self.scopes), outer))
        self.statement(stmt.body)
        self.loops.pop()
        self.enter(after)
        cases, default = self.selects.pop()
        self.terms[head] = Select(
            value, tuple(cases), default[0] if default else after, stmt.pos, not default
        )

    def case(self, stmt: Case) -> None:
        block = self.block()
        self.enter(block)
        if not self.selects:
            return
        cases, default = self.selects[-1]
        if stmt.low is None:
            default.append(block)
        else:
            cases.append((stmt.low, stmt.high, block))

    def label(self, stmt: Label) -> None:
        block = self.block()
        self.enter(block)
        self.labels[stmt.name] = (block, self.snapshot())

    def goto(self, stmt: Goto) -> None:
        if self.terms[self.current] is None:
            self.gotos.append((self.current, stmt.name, self.snapshot(), stmt.pos))
            self.terms[self.current] = Halt(stmt.pos)
        self.current = self.block()

    def hidden_goto(self, stmt: HiddenGoto) -> None:
        self.effect(stmt.call, stmt.pos)
        after = self.block()
        arms = [self.block() for _ in stmt.labels]
        self.close(Choice((after, *arms), stmt.pos))
        for arm, name in zip(arms, stmt.labels, strict=True):
            self.gotos.append((arm, name, self.snapshot(), stmt.pos))
            self.terms[arm] = Halt(stmt.pos)
        self.current = after

    def return_(self, stmt: Return) -> None:
        value = stmt.value
        if value is not None and self._splits(value):
            yes, no = self.block(), self.block()
            if isinstance(value, Conditional) and value.then is not None:
                self.branch(value.test, yes, no)
                arms: tuple[tuple[int, Expr], ...] = ((yes, value.then), (no, value.other))
            else:
                self.branch(value, yes, no)
                arms = ((yes, Num(1, "1", stmt.pos)), (no, Num(0, "0", stmt.pos)))
            for block, arm in arms:
                self.current = block
                self.return_(Return(arm, stmt.pos))
            return
        if value is not None:
            value = self.flat(value)
            if any(ops for _, ops in self.scopes):
                value = self.keep(value)
        self.unwind(0)
        self.close(Leave(value, stmt.pos))

    def _splits(self, value: Expr) -> bool:
        if isinstance(value, Conditional):
            return value.then is not None
        return isinstance(value, Binary) and value.op in ("&&", "||")

    def break_(self, stmt: Break) -> None:
        if self.loops:
            self.unwind(self.loops[-1].depth)
            self.close(Jump(self.loops[-1].brk))
        else:
            self.close(Halt(stmt.pos))

    def continue_(self, stmt: Continue) -> None:
        loop = self.loops[-1] if self.loops else None
        if loop is None or loop.cont is None:
            self.close(Halt(stmt.pos))
            return
        self.unwind(loop.outer if isinstance(loop, _SwitchLoop) else loop.depth)
        self.close(Jump(loop.cont))

    def broken(self, stmt: Broken) -> None:
        self.emit(Havoc(stmt.pos))


class _SwitchLoop(Loop):
    """A switch: break leaves it, continue belongs to the loop around it (``outer`` scopes deep)."""

    __slots__ = ("outer",)

    def __init__(self, brk: int, cont: int | None, depth: int, outer: int) -> None:
        super().__init__(brk, cont, depth)
        self.outer = outer


def _retarget(term: Terminator, to: Callable[[int], int]) -> Terminator:
    match term:
        case Jump(target):
            return Jump(to(target))
        case Branch(test, true, false, pos):
            return Branch(test, to(true), to(false), pos)
        case Turn(macro, body, exit_, pos):
            return Turn(macro, to(body), to(exit_), pos)
        case Select(value, cases, default, pos, unlisted):
            return Select(value, tuple((a, b, to(t)) for a, b, t in cases), to(default), pos, unlisted)
        case Choice(targets, pos):
            return Choice(tuple(map(to, targets)), pos)
    return term


_STATEMENTS: Final[dict[type, Callable[..., None]]] = {
    Compound: _Builder.compound,
    Evaluate: _Builder.evaluate,
    Decl: _Builder.decl,
    Guard: _Builder.guard,
    Scope: _Builder.scope,
    ForEach: _Builder.for_each,
    If: _Builder.if_,
    While: _Builder.while_,
    DoWhile: _Builder.do_while,
    For: _Builder.for_,
    Switch: _Builder.switch,
    Case: _Builder.case,
    Label: _Builder.label,
    Goto: _Builder.goto,
    HiddenGoto: _Builder.hidden_goto,
    Return: _Builder.return_,
    Break: _Builder.break_,
    Continue: _Builder.continue_,
    Broken: _Builder.broken,
}
