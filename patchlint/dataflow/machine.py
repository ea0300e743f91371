"""The machine: evaluates expressions in a state. Calls are applied in ``calls``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from patchlint.cfg import render
from patchlint.dataflow.counting import apart, compared, moved
from patchlint.dataflow.state import Facts, State
from patchlint.dataflow.values import Value, Values
from patchlint.dataflow.watcher import Watcher
from patchlint.effects import POS, ZERO
from patchlint.ir import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    InitList,
    Member,
    Name,
    Num,
    Opaque,
    SizeOf,
    StmtExpr,
    Str,
    TypeArg,
    Unary,
)

_GENERATIONS: Final = 4
_DEEPEST: Final = 16  # so far memory that was there on entry is told by the way that leads to it


class Machine:
    """Values of expressions, loads and stores."""

    def __init__(self, locals_: dict[str, bool], calls: Watcher) -> None:
        self.values = Values()
        self.facts = Facts(self.values)
        self.locals = locals_
        """Locals and parameters; true for arrays and structures, whose name stands for their address."""
        self.calls = calls
        self.target = ""
        """The variable about to be assigned: its old value does not count as in use."""
        self.target_text = ""
        self.scoped: frozenset[str] = frozenset()
        """Variables that are cleaned up when their scope ends."""
        self.born: set[Value] = set()
        self._texts: dict[int, tuple[Expr, str]] = {}

    # evaluation -----------------------------------------------------------

    def value(self, st: State, expr: Expr) -> Value:
        """The value of ``expr``, with all its effects on ``st``."""
        return _EVAL[type(expr)](self, st, expr)

    def text(self, expr: Expr) -> str:
        """``expr`` for messages, rendered once."""
        known = self._texts.get(id(expr))
        if known is None:
            known = self._texts[id(expr)] = (expr, render(expr))  # with the node, whose number no other gets then
        return known[1]

    def fresh(self, st: State, site: int, tag: str = "", given: Sequence[Value] = ()) -> Value:
        """An unknown born at ``site``, different from all that are still in use, ``given`` ones among them."""
        value = 0
        for generation in range(_GENERATIONS):
            value = self.values.make("s", site, tag, generation)
            if value not in self.born:
                self.born.add(value)
                return value
            if value not in given and not self._in_use(st, value):
                break
        self._forget(st, value)
        return value

    def _in_use(self, st: State, value: Value) -> bool:
        root, users, target = self.values.root, self.values.users[value], self.target
        for hold in st.holds:
            if root[hold.obj] == value or hold.cond == value:
                return True
        if not users.isdisjoint(st.mem.values()):
            return True
        if users.isdisjoint(st.env.values()):
            return False
        return any(known in users and name != target for name, known in st.env.items())

    def _forget(self, st: State, value: Value) -> None:
        """Drop what was known of the former bearer of ``value``."""
        facts, mem, tags = st.facts, st.mem, st.tags
        for user in self.values.users[value]:
            facts.pop(user, None)
            facts.pop(~user, None)
            mem.pop(user, None)
            tags.pop(user, None)

    def name(self, st: State, expr: Name) -> Value:
        """A variable's content, or a constant."""
        name = expr.id
        known = st.env.get(name)
        if known is not None:
            return known
        array = self.locals.get(name)
        if array is None:
            if name in ("NULL", "false", "true"):
                return int(name == "true")
            if name.isupper():
                return self.values.make("n", name)
            return self.load(st, self.values.make("&g", name))
        return self.values.make("&l", name) if array else self.values.make("l", name)

    def num(self, st: State, expr: Num) -> Value:
        return self.values.constant(expr.value) if expr.value is not None else self.values.make("n", expr.text)

    def string(self, st: State, expr: Str) -> Value:
        return self.values.make("str", expr.text)

    def opaque(self, st: State, expr: Opaque) -> Value:
        for part in expr.parts:
            self.value(st, part)
        return self.fresh(st, expr.pos, "opaque")

    def unknown(self, st: State, expr: Any) -> Value:
        return self.fresh(st, expr.pos, "unknown")

    def size(self, st: State, expr: SizeOf | TypeArg) -> Value:
        return self.values.make("n", expr.text)

    def call(self, st: State, expr: Call) -> Value:
        return self.calls.call(st, expr)

    def member(self, st: State, expr: Member) -> Value:
        place = self.address(st, expr)
        self._followed(st, place)
        return self.load(st, place)

    def _followed(self, st: State, place: Value) -> None:
        """What is read or written through a pointer tells that it is a valid one."""
        base = self.values.root[place]
        if base != place and self.values.static[base] & ZERO:
            self.facts.narrow(st, base, POS)

    def index(self, st: State, expr: Index) -> Value:
        return self.load(st, self.address(st, expr))

    def cast(self, st: State, expr: Cast) -> Value:
        return self.value(st, expr.operand)

    def fill(self, st: State, place: Value, expr: InitList, text: str) -> None:
        """Put what the initializer of a variable of this function's own says into its named members."""
        for designator, item in expr.items:
            field = designator.removeprefix(".")
            if not field.isidentifier() or field == designator:
                self.calls.stored(st, self.value(st, item), expr.pos, local=True)
                continue
            member = self.values.make("f", place, field)
            if isinstance(item, InitList):
                self.fill(st, member, item, f"{text}.{field}")
                continue
            self.target_text = f"{text}.{field}"
            self.put(st, member, self.value(st, item), expr.pos)
            self.target_text = ""

    def init_list(self, st: State, expr: InitList) -> Value:
        for _, item in expr.items:
            self.calls.stored(st, self.value(st, item), expr.pos, local=True)
        return self.fresh(st, expr.pos, "init")

    def unary(self, st: State, expr: Unary) -> Value:
        op = expr.op
        if op == "&":
            return self.address(st, expr.operand)
        if op == "*":
            return self.load(st, self.address(st, expr))
        if op in ("++", "--", "p++", "p--"):
            return self._step(st, expr)
        inner = self.value(st, expr.operand)
        if op == "!":
            truth = self.facts.truth(st, inner)
            return self.values.negation(inner) if truth is None else int(not truth)
        key = self.values.nodes[inner]
        if op == "-":
            return self.values.constant(-key[1]) if key[0] == "c" else self.values.make("neg", inner)
        if op == "~" and self.values.depth[inner] < 6:
            return self.values.make("~", inner)
        return inner if op == "+" else self.fresh(st, expr.pos, op)

    def _step(self, st: State, expr: Unary) -> Value:
        """``++`` and ``--``: the new value is an unknown, so that loops end."""
        address, old = self._place_of(st, expr.operand)
        known = moved(expr.op, self.facts.mask(st, old), POS)
        self.target = expr.operand.id if isinstance(expr.operand, Name) else ""
        new = self._moved(st, old, known, expr.pos, "step")
        self.target = ""
        self._replace(st, expr.operand, address, new, expr.pos)
        return old if expr.op[0] == "p" else new

    def _place_of(self, st: State, target: Expr) -> tuple[Value, Value]:
        """Address (-1 for a variable) and content of what is about to be changed: it is evaluated once."""
        if isinstance(target, Name):
            return -1, self.value(st, target)
        address = self.address(st, target)
        self._followed(st, address)
        return address, self.load(st, address)

    def _replace(self, st: State, target: Expr, address: Value, value: Value, pos: int) -> None:
        if address < 0:
            self.store(st, target, value, pos)
        else:
            self.put(st, address, value, pos, render(target))

    def _moved(self, st: State, old: Value, known: int, pos: int, tag: str) -> Value:
        """What ``++`` or ``+=`` makes of ``old``: an unknown, so that loops end, but a pointer stays in its object."""
        root = self.values.root
        if any(root[h.obj] == root[old] for h in st.holds):
            return self.values.make("in", root[old], f"{tag} {pos}")
        value = self.fresh(st, pos, tag)
        self.facts.narrow(st, value, known)
        return value

    def binary(self, st: State, expr: Binary) -> Value:
        value_of = self._compared if expr.op in ("==", "!=") else self.value
        left = value_of(st, expr.left)
        right = value_of(st, expr.right)
        if expr.op == ",":
            return right
        if expr.op in ("==", "!=") and left != right and self._apart(st, left, right, expr):
            return int(expr.op == "!=")
        known = compared(expr.op, self.facts.mask(st, left), self.facts.mask(st, right))
        if known is not None:
            return int(known)
        value = self.values.binary(expr.op, left, right)
        return self.fresh(st, expr.pos, expr.op) if value is None else value

    def _compared(self, st: State, expr: Expr) -> Value:
        """One side of a comparison: the address of a member tells where it would be, and follows no pointer."""
        if isinstance(expr, Unary) and expr.op == "&" and isinstance(expr.operand, Member) and expr.operand.arrow:
            return self.values.make("f", self.value(st, expr.operand.base), expr.operand.field)
        return self.value(st, expr)

    def _apart(self, st: State, left: Value, right: Value, expr: Binary) -> bool:
        made = {hold.obj for hold in st.holds if hold.obj in (left, right) and self.calls.is_new(hold)}
        return apart(self.values, expr, left, right, made)

    def conditional(self, st: State, expr: Conditional) -> Value:
        """Only inside what the flow graph could not flatten: both arms may be evaluated."""
        self.value(st, expr.test)
        if expr.then is not None:
            self.value(st, expr.then)
        self.value(st, expr.other)
        return self.fresh(st, expr.pos, "?:")

    def assign(self, st: State, expr: Assign) -> Value:
        target = expr.target
        self.target = target.id if isinstance(target, Name) else ""
        self.target_text = self.text(target)
        if expr.op != "=":
            return self._compound(st, expr)
        value = self.calls.by_value(st, expr.value)
        self.target = self.target_text = ""
        self.store(st, target, value, expr.pos)
        return value

    def _compound(self, st: State, expr: Assign) -> Value:
        address, old = self._place_of(st, expr.target)
        right = self.value(st, expr.value)
        if expr.op == "|=" and right == 0:
            value = old
        elif expr.op in ("+=", "-="):
            known = moved(expr.op, self.facts.mask(st, old), self.facts.mask(st, right))
            value = self._moved(st, old, known, expr.pos, expr.op)
        else:
            value = self.fresh(st, expr.pos, expr.op)
        self.target = self.target_text = ""
        self._replace(st, expr.target, address, value, expr.pos)
        return value

    # memory ---------------------------------------------------------------

    def address(self, st: State, expr: Expr) -> Value:
        """The address of an lvalue."""
        values = self.values
        if isinstance(expr, Name):
            return values.make("&l" if expr.id in self.locals else "&g", expr.id)
        if isinstance(expr, Member):
            if expr.arrow:
                base = self.value(st, expr.base)
                self.calls.used(st, base, expr.base, expr.pos, expr.field)
            else:
                base = self.address(st, expr.base)
            return values.make("f", base, expr.field)
        if isinstance(expr, Index):
            base = self.value(st, expr.base)
            index = self.value(st, expr.index)
            self.calls.used(st, base, expr.base, expr.pos, "[]")
            if values.depth[base] > 12:
                return self.fresh(st, expr.pos, "&[]")
            return values.make("e", base, index)
        if isinstance(expr, Unary) and expr.op == "*":
            base = self.value(st, expr.operand)
            self.calls.used(st, base, expr.operand, expr.pos, "*")
            return base
        if isinstance(expr, Cast):
            return self.address(st, expr.operand)
        if isinstance(expr, Call):
            return self.calls.place(st, expr)
        self.value(st, expr)
        return self.fresh(st, getattr(expr, "pos", 0), "&")

    def load(self, st: State, address: Value) -> Value:
        """What memory at ``address`` holds."""
        values = self.values
        key = values.nodes[address]
        if key[0] == "&l" and not self.locals.get(key[1], False):
            return st.env.get(key[1], values.make("l", key[1]))
        known = st.mem.get(address)
        if known is None and values.depth[address] > _DEEPEST:
            # A loop that follows pointers finds a new thing at each turn: unknown ones are few, so that it ends.
            known = st.mem[address] = self.fresh(st, -1, "deep")
        return values.make("ld", address) if known is None else known

    def store(self, st: State, target: Expr, value: Value, pos: int) -> None:
        """Put ``value`` where ``target`` says."""
        if isinstance(target, Name) and (target.id in self.locals or target.id[0] == "$"):
            if value == 0 and target.id in self.scoped and target.id in st.env:
                # ``p = NULL`` before the scope ends: what it pointed to is to stay.
                self.calls.stored(st, st.env[target.id], pos, local=False, text="what outlives the scope")
            st.env[target.id] = value
            return
        if isinstance(target, Cast):
            self.store(st, target.operand, value, pos)
            return
        place = self.address(st, target)
        self._followed(st, place)
        self.put(st, place, value, pos, self.text(target))

    def put(self, st: State, address: Value, value: Value, pos: int, text: str = "") -> None:
        """Put ``value`` into memory at ``address``."""
        key = self.values.nodes[address]
        if key[0] == "&l" and not self.locals.get(key[1], False):
            st.env[key[1]] = value
            return
        old = st.mem.get(address, value)
        st.mem[address] = value
        if value == 0 and old != 0:
            self.calls.cleared(st, old)
        own = self.values.nodes[self.values.root[address]][0] == "&l"
        self.calls.stored(st, value, pos, local=own, text=text)

    def _rewrite(self, st: State, name: str, pos: int, index: int) -> None:
        """The callee moves a variable on: what it holds goes with it (``skb = ...(&skb)``, a cursor of references)."""
        old = st.env.get(name)
        self.target = name
        new = st.env[name] = self.fresh(st, pos, f"out{index}")
        self.target = ""
        if old not in st.env.values() and any(h.obj == old and h.owned for h in st.holds):
            st.holds = tuple(h._replace(obj=new) if h.obj == old and h.owned else h for h in st.holds)

    def clobber(self, st: State, address: Value, pos: int, index: int) -> None:
        """The callee may write what ``address`` points to: it holds something new."""
        key = self.values.nodes[address]
        if key[0] == "&l" and not self.locals.get(key[1], False):
            if key[1] in self.locals:
                self._rewrite(st, key[1], pos, index)
            return
        root = self.values.root[address]
        if self.values.nodes[root][0] != "&l":
            return
        held = {h.obj for h in st.holds}
        for place in [a for a in st.mem if self.values.root[a] == root and st.mem[a] not in held]:
            st.mem[place] = self.fresh(st, pos, f"out{index}.{place}")


_EVAL: Final[dict[type, Callable[[Machine, State, Any], Value]]] = {
    Name: Machine.name,
    Num: Machine.num,
    Str: Machine.string,
    Call: Machine.call,
    TypeArg: Machine.size,
    Member: Machine.member,
    Index: Machine.index,
    Unary: Machine.unary,
    Binary: Machine.binary,
    Assign: Machine.assign,
    Conditional: Machine.conditional,
    Cast: Machine.cast,
    SizeOf: Machine.size,
    StmtExpr: Machine.unknown,
    InitList: Machine.init_list,
    Opaque: Machine.opaque,
}
