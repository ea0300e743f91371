"""Where a function's pointer parameters go, and what it surely calls: facts of one body, told without its callees.

Read off the control-flow graph, without walking its paths: a variable that is assigned a parameter somewhere counts as
that parameter everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from patchlint.callgraph.facts import Flow, ParamFlow, Passing, Result, SureCall
from patchlint.callgraph.results import results_of
from patchlint.cfg import (
    Block,
    Branch,
    Cfg,
    Cleanup,
    EnterGuard,
    Havoc,
    Jump,
    Leave,
    Op,
    Select,
    Terminator,
    build,
    render,
    walk,
)
from patchlint.dataflow import Callees
from patchlint.effects import ANY
from patchlint.ir import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Decl,
    Evaluate,
    Expr,
    Function,
    Index,
    InitList,
    Member,
    Name,
    Opaque,
    Unary,
)

_ROUNDS = 5
_LOOKS_THROUGH = frozenset(("value", "interior", "steal", "err_ptr", "assert", "exchange"))
"""What macros do whose value is, or is derived from, their argument."""
_STORES = frozenset(("store", "exchange"))


_Borne = set[tuple[int, Passing | None]]
"""Parameters that a value may be; with a call, if that gives its argument back."""


def flow_of(function: Function, callees: Callees) -> Flow:
    """The facts of a function, over all its variants. ``callees`` is asked about macros and modelled calls only."""
    found = [_Reader(function, cfg, callees).read() for cfg in graphs(function)]
    params = tuple(_join(one) for one in zip(*(flow.params for flow in found), strict=True))
    returned = {flow.returns_param for flow in found}
    sure = [call for call in found[0].sure if all(call in flow.sure for flow in found[1:])] if found else []
    called = sorted({name for flow in found for name in flow.called})
    variadic = bool(function.params) and function.params[-1].name == "__VA_ARGS__"
    mask, calls = 0, set[str]()
    for flow in found:
        mask |= flow.result.mask
        calls.update(flow.result.calls)
    return Flow(
        params,
        returned.pop() if len(returned) == 1 else -1,
        variadic,
        tuple(sure),
        tuple(called),
        all(flow.looks for flow in found),
        Result(mask, tuple(sorted(calls))) if mask != ANY else Result(),
    )


@lru_cache(maxsize=64)  # the paths of a body are walked soon after its facts were read
def graphs(function: Function) -> tuple[Cfg, ...]:
    """The control-flow graph of each variant of a function."""
    return tuple(build(variant, transparent) for variant in function.variants)


def transparent(name: str) -> int:
    """For the graph builder: ``likely(x)`` is as true as ``x``."""
    return 0 if name in ("likely", "unlikely") else -1


def _join(flows: Iterable[ParamFlow]) -> ParamFlow:
    every = tuple(flows)
    return ParamFlow(
        next((flow.kept for flow in every if flow.kept), ""),
        any(flow.returned for flow in every),
        all(flow.unused for flow in every),
        tuple(dict.fromkeys(one for flow in every for one in flow.passed)),
        tuple(dict.fromkeys(one for flow in every for one in flow.stored_results)),
        tuple(dict.fromkeys(one for flow in every for one in flow.returned_results)),
    )


class _Reader:
    """Collects the facts of one variant."""

    def __init__(self, function: Function, cfg: Cfg, callees: Callees) -> None:
        self.function = function
        self.cfg = cfg
        self.callees = callees
        self.params = function.params
        self.gives_pointer = function.return_pointer > 0
        self.index = {param.name: at for at, param in enumerate(function.params) if param.name}
        self.bearers: dict[str, _Borne] = {name: {(at, None)} for name, at in self.index.items()}
        self.locals = set(self.index)
        self.pointers = {param.name for param in function.params if param.pointer}
        self.arrays: set[str] = set()
        self.kept: dict[int, str] = {}
        self.returned: set[int] = set()
        self.passed: dict[int, dict[Passing, None]] = {}
        self.stored_results: dict[int, dict[Passing, None]] = {}
        self.returned_results: dict[int, dict[Passing, None]] = {}
        self.called: set[str] = set()
        self.assigned: set[str] = set()
        self.writes = False

    def read(self) -> Flow:
        """The facts."""
        self._declare()
        nodes = [node for block in self.cfg.blocks for expr in evaluated(block) for node in walk(expr)]
        assigns = [node for node in nodes if isinstance(node, Assign)]
        for _ in range(_ROUNDS):
            before = sum(map(len, self.bearers.values()))
            for assign in assigns:
                self._spread(assign)
            if sum(map(len, self.bearers.values())) == before:
                break
        for node in nodes:
            self._look(node)
        returns = self._returns()
        spoken_of = {node.id for node in nodes if isinstance(node, Name)}
        params = tuple(
            ParamFlow(
                self.kept.get(at, ""),
                at in self.returned,
                param.name not in spoken_of and not self.kept.get(at),
                tuple(self.passed.get(at, ())),
                tuple(self.stored_results.get(at, ())),
                tuple(self.returned_results.get(at, ())),
            )
            for at, param in enumerate(self.params)
        )
        result = results_of(self.function, self.cfg)
        called = tuple(sorted(self.called))
        return Flow(params, returns, False, tuple(self._sure()), called, not self.writes, result)

    # ------------------------------------------------------------ expressions

    def _declare(self) -> None:
        for block in self.cfg.blocks:
            for op in block.ops:
                if isinstance(op, Decl):
                    if op.static:
                        continue
                    self.locals.add(op.name)
                    if op.pointer:
                        self.pointers.add(op.name)
                    if op.array:
                        self.arrays.add(op.name)
                elif isinstance(op, Havoc):
                    self.called.add("")
                    self.writes = True
                    self.kept.update(dict.fromkeys(range(len(self.params)), "unreadable"))

    def _spread(self, assign: Assign) -> None:
        """Let a variable bear the parameters that are assigned to it."""
        target = assign.target
        if isinstance(target, Name) and target.id in self.locals:
            self.assigned.add(target.id)
            found = self.borne(assign.value, target.id in self.pointers)
            if found:
                self.bearers.setdefault(target.id, set()).update(found)

    def borne(self, expr: Expr, pointer: bool = True) -> _Borne:
        """Parameters that the value of ``expr`` may be, or may point into. ``pointer``: the value is used as one."""
        match expr:
            case Name(name, _):
                return self.bearers.get(name, set())
            case Cast(_, operand, _):
                return self.borne(operand, pointer)
            case Unary("&", operand, _):
                return self._inside(operand)
            case Binary("+" | "-" | "&" | "|", left, right, _):
                return self.borne(left, pointer) | self.borne(right, pointer)
            case Binary(",", _, right, _):
                return self.borne(right, pointer)
            case Conditional(test, then, other, _):
                return self.borne(then if then is not None else test, pointer) | self.borne(other, pointer)
            case Assign(_, _, value, _):
                return self.borne(value, pointer)
            case Call():
                return self._result(expr) if pointer else set()
        return set()

    def _inside(self, place: Expr) -> _Borne:
        """Parameters that the address of ``place`` points into."""
        while True:
            match place:
                case Member(base, _, True, _) | Unary("*", base, _):
                    return self.borne(base)
                case Member(base, _, False, _):
                    place = base
                case Index(base, _, _):
                    return self.borne(base) or self._inside(base)
                case _:
                    return set()

    def _result(self, call: Call) -> _Borne:
        """Parameters that a call may give back."""
        macro = self.callees.macro(call.name) if call.name else None
        if macro is not None:
            looks = macro.acts in _LOOKS_THROUGH and 0 <= macro.arg < len(call.args)
            return self.borne(call.args[macro.arg]) if looks else set()
        summary = self.callees.summary(call.name) if call.name else None
        if summary is not None and summary.origin != "pattern":
            at = summary.returns_arg
            return self.borne(call.args[at]) if 0 <= at < len(call.args) else set()
        if not call.name or call.name in self.locals:
            return set()  # a call through a pointer keeps them already
        return {(param, (call.name, at)) for at, arg in enumerate(call.args) for param, _ in self.borne(arg)}

    # ------------------------------------------------------------------- uses

    def _look(self, node: Expr) -> None:
        if isinstance(node, Assign):
            if not (isinstance(node.target, Name) and node.target.id in self.locals):
                local = self._is_local(node.target)
                self.writes |= not local
                self._keep(self.borne(node.value), "in a local" if local else "stored")
        elif isinstance(node, InitList):
            for _, item in node.items:
                self._keep(self.borne(item), "in a local")
        elif isinstance(node, Opaque):
            self.writes = True
            for part in node.parts:
                self._keep(self.borne(part), "unreadable")
        elif isinstance(node, Call):
            self._call(node)

    def _is_local(self, place: Expr) -> bool:
        """Whether a place is part of a structure or array of the function's own: gone when it returns."""
        while True:
            match place:
                case Member(base, _, False, _):
                    place = base
                case Index(base, _, _):
                    if isinstance(base, Name) and base.id in self.pointers and base.id not in self.arrays:
                        return False
                    place = base
                case Name(name, _):
                    return name in self.locals
                case _:
                    return False

    def _call(self, call: Call) -> None:
        indirect = not call.name or call.name in self.locals
        self.called.add("" if indirect else call.name)
        macro = self.callees.macro(call.name) if not indirect else None
        for at, arg in enumerate(call.args):
            if isinstance(arg, Unary) and arg.op == "&" and isinstance(arg.operand, Name):
                self._keep(self.bearers.get(arg.operand.id, set()), "address taken")
            found = self.borne(arg)
            if macro is not None:
                if macro.acts in _STORES and at == macro.value:
                    self.writes = True
                    self._keep(found, "stored")
            elif indirect:
                self._keep(found, "indirect call")
            else:
                for param, _ in found:
                    self.passed.setdefault(param, {})[call.name, at] = None

    def _keep(self, borne: _Borne, why: str) -> None:
        for param, call in borne:
            if call is None:
                if why == "stored":
                    self.kept[param] = why
                self.kept.setdefault(param, why)
            else:
                self.stored_results.setdefault(param, {})[call] = None

    def _give_back(self, borne: _Borne) -> None:
        for param, call in borne:
            if call is None:
                self.returned.add(param)
            else:
                self.returned_results.setdefault(param, {})[call] = None

    # ---------------------------------------------------------------- results

    def _returns(self) -> int:
        """Note what is returned; the parameter that every return gives back, or -1."""
        found: set[int] = set()
        for block in self.cfg.blocks:
            for op in block.ops:
                if isinstance(op, Cleanup):
                    self._keep(self.bearers.get(op.var, set()), "scope end")
            if isinstance(block.term, Leave):
                value = block.term.value
                borne = self.borne(value) if value is not None and self.gives_pointer else set()
                self._give_back(borne)
                found.add(self._derived(value) if value is not None and borne else -1)
        return found.pop() if len(found) == 1 else -1

    def _derived(self, value: Expr) -> int:
        """The parameter that ``value`` is, or points into, on every path; -1 for none."""
        match value:
            case Name(name, _):
                return self.index[name] if name in self.index and name not in self.assigned else -1
            case Cast(_, operand, _):
                return self._derived(operand)
            case Unary("&", Member(base, _, True, _), _):
                return self._derived(base)
            case Unary("&", Member(base, _, False, _), _):
                return self._derived(Unary("&", base, value.pos))
            case Call(name, _, args, _, _):
                macro = self.callees.macro(name) if name else None
                if macro is not None and macro.acts in _LOOKS_THROUGH and 0 <= macro.arg < len(args):
                    return self._derived(args[macro.arg])
        return -1

    def _sure(self) -> Iterator[SureCall]:
        """Calls in the straight line from the entry to the first branch, its test included."""
        at, seen = 0, set()
        while at not in seen:
            seen.add(at)
            block = self.cfg.blocks[at]
            for expr in evaluated(block):
                for node in walk(expr):
                    if isinstance(node, Call) and node.name:
                        yield SureCall(node.name, tuple(self._text(arg) for arg in node.args))
            if not isinstance(block.term, Jump):
                return
            at = block.term.target

    def _text(self, arg: Expr) -> str:
        if isinstance(arg, Name) and arg.id in self.index and arg.id not in self.assigned:
            return f"arg{self.index[arg.id]}"
        return render(arg, 80)


def evaluated(block: Block) -> Iterator[Expr]:
    """The expressions of a block, those of its end included; a declaration counts as an assignment."""
    for op in block.ops:
        yield from expressions_of(op)
    yield from expressions_of(block.term)


def expressions_of(part: Op | Terminator) -> Iterator[Expr]:
    """What an operation or terminator evaluates."""
    match part:
        case Evaluate(expr, _):
            yield expr
        case Decl(name, _, _, _, init, _, _, pos) if init is not None:
            yield Assign("=", Name(name, pos), init, pos)
        case EnterGuard(_, _, args, _):
            yield from args
        case Branch(test, _, _, _):
            yield test
        case Select(value, _, _, _):
            yield value
        case Leave(value, _, _) if value is not None:
            yield value
