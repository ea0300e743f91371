"""What is bound to a scope: guards that begin and end with it, variables that are cleaned up when it ends."""

from __future__ import annotations

from patchlint.cfg import Cleanup, EnterGuard, LeaveGuard, render
from patchlint.dataflow.calls import Calls
from patchlint.dataflow.report import Site
from patchlint.dataflow.state import Hold, State
from patchlint.effects import Effect, Place
from patchlint.ir import Call, Name


def enter_guard(calls: Calls, st: State, op: EnterGuard) -> None:
    """Take what a guard of this class holds, until :func:`leave_guard`."""
    guard = calls.callees.guard(op.name)
    args = [calls.machine.value(st, arg) for arg in op.args]
    if guard is None or not guard.family:
        return
    obj = args[guard.arg] if 0 <= guard.arg < len(args) else calls.machine.values.make("&g", "")
    subject = render(op.args[guard.arg]) if 0 <= guard.arg < len(args) else op.name
    site = Site(op.pos, guard.family, f"guard({op.name})", subject, "guard")
    summary = calls.callees.summary(guard.acquire) if guard.acquire else None
    if summary is not None:
        call = Call(guard.acquire, Name(guard.acquire, op.pos), op.args, op.pos, op.pos)
        calls.look(st, call, args, summary)
    calls.holds.acquire(st, Hold(guard.family, obj, op.pos, scope=op.ident), site)


def leave_guard(calls: Calls, st: State, op: LeaveGuard) -> None:
    """End what the guard of the scope holds."""
    for hold in st.holds:
        if hold.scope == op.ident:
            effect = Effect("release", hold.family, Place("arg"))
            calls.holds.release(st, effect, hold.obj, -1, op.pos, "}", "")
            return


def cleanup(calls: Calls, st: State, op: Cleanup) -> None:
    """End what is held on a variable whose cleanup function runs here."""
    release = calls.callees.scope_release(op.cleanup)
    value = st.env.get(op.var)
    if value is None or not st.holds:
        return
    families = release.families if release is not None else frozenset()
    roots = calls.machine.values.root
    for hold in st.holds:
        if roots[hold.obj] != roots[value]:
            continue
        if not families or hold.family in families or any(calls.holds.ends(f, hold.family) for f in families):
            st.holds = tuple(h for h in st.holds if h is not hold)
            return
