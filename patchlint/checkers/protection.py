"""What may keep an object alive, or readers and writers apart: locks and sections, held or promised."""

from __future__ import annotations

from patchlint.checkers.context import FunctionContext
from patchlint.dataflow import PathReport


def is_lock(ctx: FunctionContext, name: str) -> bool:
    """Whether a hold of the family ``name`` is one of a lock."""
    family = ctx.callees.family(name)
    return family is not None and family.kind == "lock"


def protects(ctx: FunctionContext, name: str) -> bool:
    """Whether a hold of the family can keep objects from going away: a lock, or a read-side section."""
    family = ctx.callees.family(name)
    return family is not None and family.kind in ("lock", "rcu")


def lock_promised(ctx: FunctionContext, report: PathReport) -> bool:
    """Whether the function says that its caller holds a lock, or all its callers do."""
    families = [(name, ctx.callees.family(name)) for name in report.asserted]
    said = any(family is None or family.kind == "lock" for _, family in families)
    return said or any(is_lock(ctx, name) for name in ctx.held_by_callers)
