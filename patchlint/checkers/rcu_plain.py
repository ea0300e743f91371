"""Plain accesses to what RCU readers may look at: pointers without RCU's macros, lists without its primitives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from patchlint.cfg import parts, render, walk
from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evaluated import all_expressions, calls_in, nodes_in, statements, struct_pointers
from patchlint.checkers.file_facts import List, place_of, pointers_in
from patchlint.checkers.function_fault import FunctionFault, step
from patchlint.checkers.protection import is_lock, lock_promised
from patchlint.dataflow import PathReport
from patchlint.ir import Assign, Binary, Call, Cast, Decl, Expr, ForEach, Index, Member, Name, SizeOf, Unary
from patchlint.model import Confidence

CHECKER: Final = "rcu"

_LOOKS_THROUGH: Final = re.compile(
    r"rcu|RCU|dereference|xchg|READ_ONCE|WRITE_ONCE|smp_|typeof|free|IS_ERR|WARN|BUG|likely|ARRAY_SIZE"
)
"""Calls and macros whose argument may be the bare pointer."""
_MAKES: Final = re.compile(r"alloc|_new|_create|dup|_clone")
_ALONE: Final = re.compile(
    r"(?:^|_)(?:init|setup|new|create|alloc|clone|free|destroy|release|exit|fini|dtor|cleanup|uninit|deinit|teardown)(?:_|$)"
)
"""Names of functions that mostly work on what no reader can find yet, or any more."""
_LINKS: Final = frozenset(("next", "prev", "pprev", "link"))
"""Members that link objects: written too while an object is not yet, or no longer, in the list."""
_ENOUGH: Final = 2
"""Uses of RCU's macros on a place elsewhere in the file, with no ``__rcu`` in sight, that make it RCU's."""


class _Access(NamedTuple):
    expr: Expr
    stored: Expr | None
    """What is stored; None for a load."""


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Plain accesses in one function."""
    facts = ctx.file
    if not any(facts) or _ALONE.search(ctx.function.name) or _at_start(ctx):
        return
    if facts.pointers or facts.fields or facts.globals:
        yield from _pointers(ctx, report)
    if facts.lists:
        yield from _lists(ctx, report)


def _at_start(ctx: FunctionContext) -> bool:
    head, _, _ = ctx.source[ctx.function.start : ctx.function.end].partition(b"{")
    return b"__init" in head or b"__exit" in head


def _locked(ctx: FunctionContext, report: PathReport) -> bool:
    """Whether the function works under some lock, its own or its callers': it may be the writer."""
    return lock_promised(ctx, report) or any(is_lock(ctx, site.family) for site in report.sites.values())


def _locked_at(ctx: FunctionContext, report: PathReport, pos: int) -> bool:
    """Whether some lock may be held at the place: promised, left held, or let go of further down."""
    taken = {site.pos for site in report.sites.values() if is_lock(ctx, site.family) and site.pos < pos}
    ended = {r.site for r in report.releases}
    later = {r.site for r in report.releases if r.pos > pos}
    return lock_promised(ctx, report) or any(site in later or site not in ended for site in taken)


# ------------------------------------------------------------------- pointers


def _pointers(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    own = pointers_in(ctx.source[ctx.function.start : ctx.function.end])
    known = {place for place, count in ctx.file.pointers if count - own[place] >= _ENOUGH and place[1]}
    mixed = {place[1] for place in own}
    fresh = _fresh(ctx)
    told: set[str] = set()
    for access in _accesses(ctx):
        text = render(access.expr)
        if text in told or not _is_rcu(ctx, access.expr, known) or _root(access.expr) in fresh:
            continue
        sure = _sure(ctx, report, access, mixed)
        if sure is not None:
            told.add(text)
            yield _plain(ctx, access, text, sure)


def _is_rcu(ctx: FunctionContext, expr: Expr, known: set[tuple[str, str]]) -> bool:
    if isinstance(expr, Index):
        return _is_rcu(ctx, expr.base, known)
    if isinstance(expr, Name):
        return expr.id in ctx.file.globals and expr.id not in _locals(ctx)
    if isinstance(expr, Member):
        return expr.field not in _LINKS and (expr.field in ctx.file.fields or place_of(render(expr)) in known)
    return False


def _locals(ctx: FunctionContext) -> frozenset[str]:
    declared = (stmt.name for stmt in statements(ctx.function) if isinstance(stmt, Decl))
    return frozenset((*declared, *(param.name for param in ctx.function.params)))


def _sure(ctx: FunctionContext, report: PathReport, access: _Access, mixed: set[str]) -> Confidence | None:
    """How sure it is that the access is wrong; ``mixed`` are members that the function also treats as RCU's."""
    if access.stored is None:
        anywhere = ctx.mode == "tree" or (isinstance(access.expr, Member | Index) and _member(access.expr) in mixed)
        locked = _locked(ctx, report) if anywhere else _locked_at(ctx, report, getattr(access.expr, "pos", 0))
        return None if locked else "medium"
    empty = render(access.stored) in ("NULL", "0")
    if empty and not isinstance(access.expr, Name | Index):
        return None
    return "medium"


def _member(expr: Expr) -> str:
    while isinstance(expr, Index):
        expr = expr.base
    return expr.field if isinstance(expr, Member) else ""


def _fresh(ctx: FunctionContext) -> set[str]:
    """Variables that hold what this function has just made, or publishes only now: nobody can look at it yet."""
    found: set[str] = set()
    for node in nodes_in(ctx.function):
        if isinstance(node, Assign) and isinstance(node.target, Name) and _made(node.value):
            found.add(node.target.id)
        elif isinstance(node, Call) and node.name == "rcu_assign_pointer" and len(node.args) > 1:
            found.add(_root(node.args[1]))
    return found - {""}


def _made(value: Expr) -> bool:
    return any(isinstance(node, Call) and bool(_MAKES.search(node.name)) for node in walk(value))


def _root(expr: Expr) -> str:
    while isinstance(expr, Member | Index | Cast):
        expr = expr.operand if isinstance(expr, Cast) else expr.base
    return expr.id if isinstance(expr, Name) else ""


def _accesses(ctx: FunctionContext) -> Iterator[_Access]:
    """Stores to places, and loads whose value is kept, followed or handed on."""
    for expr in all_expressions(ctx.function):
        yield from _inside(expr, False)


def _inside(expr: Expr, kept: bool) -> Iterator[_Access]:
    """Accesses in ``expr``; ``kept``: its value is used for more than a test."""
    if isinstance(expr, Assign):
        if expr.op == "=" and isinstance(expr.target, Name | Member | Index):
            yield _Access(expr.target, expr.value)
            yield from _below(expr.target)
            yield from _inside(expr.value, True)
            return
    elif isinstance(expr, Call):
        through = bool(_LOOKS_THROUGH.search(expr.name))
        for arg in expr.args:
            yield from _inside(arg, not through)
        return
    elif isinstance(expr, Unary):
        if expr.op == "&":
            yield from _below(expr.operand)
            return
        yield from _inside(expr.operand, expr.op == "*")
        return
    elif isinstance(expr, Name | Member | Index):
        if kept:
            yield _Access(expr, None)
        yield from _below(expr)
        return
    elif isinstance(expr, SizeOf):
        return
    kept = (kept and isinstance(expr, Cast)) or (isinstance(expr, Binary) and expr.op == ",")
    for part in parts(expr):
        yield from _inside(part, kept)


def _below(expr: Expr) -> Iterator[_Access]:
    """What is followed to get at ``expr``."""
    if isinstance(expr, Member):
        yield from _inside(expr.base, expr.arrow)
    elif isinstance(expr, Index):
        # ``table[i]`` of an array declared __rcu is the access itself, not a load of ``table``.
        yield from _below(expr.base)
        yield from _inside(expr.index, True)


def _plain(ctx: FunctionContext, access: _Access, text: str, sure: Confidence) -> FunctionFault:
    stores = access.stored is not None
    fault, how = ("plain-store", "stored plainly") if stores else ("plain-load", "loaded plainly")
    use = "rcu_assign_pointer() or RCU_INIT_POINTER()" if stores else "rcu_dereference()"
    pos = getattr(access.expr, "pos", ctx.function.start)
    steps = (step(ctx, pos, f"'{text}' is {how}"),)
    message = f"'{text}' is RCU-protected and is {how}, without {use}"
    return FunctionFault(CHECKER, fault, "", pos, text, message, steps, sure, fault)


# ----------------------------------------------------------------------- lists


def _lists(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Plain primitives on lists that this file walks or fills with RCU's."""
    writers = frozenset(ctx.ruleset.models.table("rcu").get("plain_list_writers", ()))
    walked: dict[str, List] = {}
    loops = [stmt.macro for stmt in statements(ctx.function) if isinstance(stmt, ForEach)]
    for macro in loops:
        args = [arg for arg in macro.args if not _is_cursor(macro, arg)]
        if len(args) > 2 and isinstance(args[0], Name) and "list_for_each_entry" in macro.name:
            one = walked[args[0].id] = place_of(render(args[1])), render(args[2])
            if one in ctx.file.lists and _reads_plainly(ctx, report, macro):
                yield _list_fault(ctx, macro, one[0][1])
    mine = _locals(ctx)
    for call in calls_in(ctx.function):
        if call.name in writers and call.args:
            one = _changed(call, walked)
            if one in ctx.file.lists and not (one[0][0] == "" and one[0][1] in mine):
                yield _list_fault(ctx, call, one[0][1])
            elif ctx.file.links and place_of(render(call.args[0]))[0] not in walked and _unlinks(ctx, call):
                yield _list_fault(ctx, call, render(call.args[0]))


def _unlinks(ctx: FunctionContext, call: Call) -> bool:
    """Whether the call takes out of its list what the file links into lists with RCU's primitives only."""
    entry = call.args[0]
    if len(call.args) > 1 or not isinstance(entry, Unary) or not isinstance(entry.operand, Member):
        return False
    base = entry.operand.base
    if not isinstance(base, Name) or base.id in _fresh(ctx):
        return False
    return (dict(struct_pointers(ctx.function)).get(base.id, ""), entry.operand.field) in ctx.file.links


def _is_cursor(macro: Call, arg: Expr) -> bool:
    """The second variable of the ``_safe`` forms."""
    return "_safe" in macro.name and len(macro.args) > 1 and arg is macro.args[1]


def _changed(call: Call, walked: dict[str, List]) -> List:
    """The list that the call changes; one without names where it cannot be told."""
    entry, *rest = call.args
    owner, member = place_of(render(entry))
    if rest:
        return place_of(render(rest[0])), member
    return walked[owner] if owner in walked and walked[owner][1] == member else (("", ""), "")


def _reads_plainly(ctx: FunctionContext, report: PathReport, macro: Call) -> bool:
    """A reader's walk without RCU's form: other things are read under RCU here, and no lock is held."""
    locked = _locked(ctx, report) if ctx.mode == "tree" else _locked_at(ctx, report, macro.pos)
    if "rcu" in macro.name or "lockless" in macro.name or locked:
        return False
    return any(event.kind == "load" for event in report.events) or _in_section(ctx, report, macro.pos)


def _in_section(ctx: FunctionContext, report: PathReport, pos: int) -> bool:
    """Whether the place lies between the opening and the end of an RCU section of this function's own."""
    sites = (site for site in report.sites.values() if site.pos < pos and not site.where)
    opened = {site.pos for site in sites if _is_rcu_section(ctx, site.family)}
    return any(ended.site in opened and ended.pos > pos for ended in report.releases)


def _is_rcu_section(ctx: FunctionContext, name: str) -> bool:
    family = ctx.callees.family(name)
    return family is not None and family.kind == "rcu" and family.group == "rcu"


def _list_fault(ctx: FunctionContext, call: Call, head: str) -> FunctionFault:
    message = f"{call.name}() on the list '{head}', which RCU readers walk: use the _rcu form"
    steps = (step(ctx, call.pos, f"{call.name}() is not safe against readers of '{head}'"),)
    return FunctionFault(CHECKER, "plain-list", "", call.pos, head, message, steps, "medium", call.name)
