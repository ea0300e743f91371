"""Plain gets of objects that were looked up with nothing held, where the same count is elsewhere taken with care."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from patchlint.checkers.context import FunctionContext
from patchlint.checkers.evaluated import assigned, calls_in
from patchlint.checkers.function_fault import FunctionFault, step
from patchlint.checkers.protection import lock_promised, protects
from patchlint.dataflow import PathReport
from patchlint.effects import Summary
from patchlint.ir import Call, Expr, Member, Name, Unary

CHECKER: Final = "rcu"

_PLAIN: Final = frozenset(("kref_get", "refcount_inc", "atomic_inc"))
_CAREFUL: Final = re.compile(
    rb"\b(?:kref_get_unless_zero|(?:refcount|atomic|atomic_long)_inc_not_zero)\s*\(\s*&\w+(?:->|\.)(?:\w+(?:->|\.))*(\w+)\s*\)"
)
_LOOKS_UP: Final = re.compile(r"(?:^|_)(?:find|lookup|search|get_by|by|byid|load)(?:_|$)")
_PART_OF: Final = re.compile(r"^container_of$|_entry$|^to_")


def check(ctx: FunctionContext, report: PathReport) -> Iterator[FunctionFault]:
    """Gets that may bring back what has been given up: nothing keeps the count of what was found above zero."""
    gets = [call for call in calls_in(ctx.function) if call.name in _PLAIN and _counted(call) is not None]
    careful = _careful(ctx.source) if gets else frozenset()
    if not careful or _protected(ctx, report):
        return
    sources = _sources(ctx)
    for call in gets:
        base, field = _counted(call) or ("", "")
        lookup = _lookup(ctx, sources, base) if field in careful else None
        if lookup is not None:
            yield _fault(ctx, call, base, field, lookup)


@lru_cache(maxsize=16)
def _careful(source: bytes) -> frozenset[str]:
    """Members that some function of the file counts up only if they are not zero."""
    return frozenset(match[1].decode("ascii", "replace") for match in _CAREFUL.finditer(source))


def _protected(ctx: FunctionContext, report: PathReport) -> bool:
    """Whether a lock or section of the function or of its callers may keep the object findable, and so alive."""
    own = any(protects(ctx, site.family) for site in report.sites.values())
    return own or lock_promised(ctx, report) or any(protects(ctx, name) for name in ctx.held_by_callers)


def _counted(call: Call) -> tuple[str, str] | None:
    """(object, member) of ``get(&object->member)``."""
    match call.args:
        case (Unary("&", Member(Name(base, _), field, True, _), _),):
            return base, field
    return None


def _sources(ctx: FunctionContext) -> dict[str, Expr]:
    """What each variable that is assigned once is given."""
    found: dict[str, list[Expr]] = {}
    for name, value in assigned(ctx.function):
        found.setdefault(name, []).append(value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _lookup(ctx: FunctionContext, sources: dict[str, Expr], name: str) -> Call | None:
    """The call that found the object, if it holds no reference on it: one on a part of it is another count."""
    source, part = sources.get(name), False
    if isinstance(source, Call) and _PART_OF.search(source.name) and source.args and isinstance(source.args[0], Name):
        source, part = sources.get(source.args[0].id), True
    if not isinstance(source, Call) or not _LOOKS_UP.search(source.name):
        return None
    summary = ctx.callees.summary(source.name)
    return source if summary is not None and (part or not _holds(summary)) else None


def _holds(summary: Summary) -> bool:
    return any(effect.action == "acquire" and effect.place.root == "result" for effect in summary.effects)


def _fault(ctx: FunctionContext, call: Call, base: str, field: str, lookup: Call) -> FunctionFault:
    message = f"{call.name}() on '{base}', which was looked up with nothing held: '{field}' may already be zero"
    steps = (
        step(ctx, lookup.pos, f"found here by {lookup.name}()"),
        step(ctx, call.pos, f"{call.name}() counts up whatever the count is; elsewhere this file looks for zero"),
    )
    return FunctionFault(
        CHECKER, "unconditional-get", "", call.pos, f"{base}.{field}", message, steps, "medium", call.name
    )
