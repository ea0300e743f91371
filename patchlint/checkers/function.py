"""All checkers of single functions: explore the paths once, let each look at the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final, TypeAlias

from patchlint.cfg import Cfg, build
from patchlint.checkers import found_get, lent, lifetime, pairing, rcu, sleeping, walks
from patchlint.checkers.context import CheckResult, FunctionContext
from patchlint.checkers.evaluated import called_in
from patchlint.checkers.function_fault import FunctionFault, lower, to_finding
from patchlint.checkers.handed import by_contract, consumed
from patchlint.checkers.lending import lent_calls
from patchlint.checkers.relevance import acts
from patchlint.checkers.unwinding import UNDOING, shown_pairs
from patchlint.dataflow import Callees, PathReport, Policy, explore
from patchlint.ir import Variant
from patchlint.model import Finding, NotAnalysed

_CHECKERS: Final[tuple[Callable[[FunctionContext, PathReport], Iterator[FunctionFault]], ...]] = (
    pairing.check, lifetime.check, rcu.check, sleeping.check, walks.check, lent.check, found_get.check,
)  # fmt: skip
_CONFIRM_STATES: Final = 3000
_TWO_MOMENTS: Final = frozenset(("double", "again", "mismatch", "plain-store", "plain-load", "plain-list"))
_GRADED: Final = frozenset(("leak", "early-exit"))
_NOTHING_SHOWN: Final = PathReport((), (), {}, (), frozenset(), 0, False)
_Found: TypeAlias = tuple[FunctionFault, list[tuple[str, ...]]]
_Place: TypeAlias = tuple[str, str, str, int, str]


def check_function(ctx: FunctionContext) -> CheckResult:
    """Findings of one function in all its configurations, each with its path."""
    found: dict[_Place, _Found] = {}
    skipped: list[NotAnalysed] = []
    states = 0
    for variant in ctx.function.variants:
        cfg = build(variant, transparent(ctx.callees))
        here = replace(ctx, callees=_with_pairs(ctx, cfg))
        report = _explored(here, cfg)
        states += report.states
        policy = _policy(ctx)
        given = consumed(here, report)
        if given:
            policy = policy._replace(given=given)
            report = explore(cfg, ctx.function, here.callees, policy)
            states += report.states
        if report.bound_hit:
            skipped.append(NotAnalysed(ctx.path, ctx.function.name, "too many paths", ctx.function.line))
        faults = chain(_confirmed(here, cfg, report, policy), _forgotten_loans(here, cfg, report, policy))
        for fault in faults:
            fault = _without_before(fault) if ctx.mode == "tree" else fault
            found.setdefault(_place(fault), (fault, []))[1].append(variant.config)
    findings = [_finding(ctx, fault, configs) for fault, configs in _firsts(found.values())]
    return CheckResult(tuple(f for f in findings if f is not None), tuple(skipped), states)


def _with_pairs(ctx: FunctionContext, cfg: Cfg) -> Callees:
    called = called_in(ctx.function)
    return shown_pairs(cfg, called, ctx.callees, ctx.ruleset.models, ctx.teardowns, ctx.beside)


def _firsts(found: Iterable[_Found]) -> Iterator[_Found]:
    """Of the faults that go back to one thing only the first."""
    told: set[tuple[str, tuple[int, str]]] = set()
    for fault, configs in found:
        if fault.since is None or (fault.fault, fault.since) not in told:
            yield fault, configs
        if fault.since is not None:
            told.add((fault.fault, fault.since))


def _explored(ctx: FunctionContext, cfg: Cfg) -> PathReport:
    """What the paths show; the paths of a function are not walked where nothing can be held, marked or dead on them."""
    if not (acts(ctx.function, cfg, ctx.callees) or ctx.held_by_callers or by_contract(ctx)):
        return _NOTHING_SHOWN
    return explore(cfg, ctx.function, ctx.callees, _policy(ctx))


def transparent(callees: Callees) -> Callable[[str], int]:
    """Which argument a macro's truth is that of, for the flow graph; -1 for all others."""

    def argument(name: str) -> int:
        macro = callees.macro(name)
        return macro.arg if macro is not None and macro.acts == "value" and not macro.tag else -1

    return argument


def _policy(ctx: FunctionContext) -> Policy:
    travels = frozenset(ctx.ruleset.models.table("handed").get("travels", ()))
    return Policy(
        unknown_takes=ctx.mode != "changed", undoing=UNDOING, fresh=ctx.added, travels=travels,
        standing=ctx.mode == "tree",
    )  # fmt: skip


def _forgotten_loans(ctx: FunctionContext, cfg: Cfg, report: PathReport, policy: Policy) -> Iterator[FunctionFault]:
    """What is forgotten after it was given to calls that the function's other paths show to have left it alone."""
    lent = lent_calls(ctx, report)
    if lent:
        policy = policy._replace(lent=lent)
        again = explore(cfg, ctx.function, ctx.callees, policy)
        yield from (fault for fault in _confirmed(ctx, cfg, again, policy) if fault.fault == "leak")


def _confirmed(ctx: FunctionContext, cfg: Cfg, report: PathReport, policy: Policy) -> Iterator[FunctionFault]:
    """Faults whose path was found again when all paths were kept apart, with that path."""
    first = _faults(ctx, report)
    if not first:
        return
    if report is _NOTHING_SHOWN:
        yield from first.values()  # no path has a part in them
        return
    policy = policy._replace(precise=True, max_states=_CONFIRM_STATES)
    exact = explore(cfg, ctx.function, ctx.callees, policy)
    again = _faults(ctx, exact)
    for key, fault in first.items():
        if key in again:
            yield again[key]
        elif exact.bound_hit:
            yield _less_sure(fault, 2 if ctx.mode == "tree" else 1)


def _without_before(fault: FunctionFault) -> FunctionFault:
    """A fault of a function as it stands: with no earlier state to compare only leaks, which are graded, may be sure.

    What rests on two moments of one object or on its list (dropped twice, walked plainly) is told least surely:
    loops read the object anew, another lock may protect the list.
    """
    if fault.fault in _GRADED:
        return fault
    doubtful = fault.fault in _TWO_MOMENTS
    return replace(fault, confidence="low" if doubtful or fault.confidence == "low" else "medium")


def _less_sure(fault: FunctionFault, by: int) -> FunctionFault:
    return replace(fault, confidence=lower(fault.confidence, by))


def _place(fault: FunctionFault) -> _Place:
    """What makes faults of two explorations one: the same text in another configuration, or walked more closely."""
    return fault.checker, fault.fault, fault.kind, fault.pos, fault.subject


def _faults(ctx: FunctionContext, report: PathReport) -> dict[_Place, FunctionFault]:
    found: dict[_Place, FunctionFault] = {}
    for check in _CHECKERS:
        for fault in check(ctx, report):
            found.setdefault(_place(fault), fault)
    return found


def _finding(ctx: FunctionContext, fault: FunctionFault, configs: list[tuple[str, ...]]) -> Finding | None:
    variants: tuple[Variant, ...] = ctx.function.variants
    config = () if len(configs) == len(variants) else _common(configs)
    finding = to_finding(ctx, fault)
    if finding is None or not config:
        return finding
    return replace(finding, config=config)


def _common(configs: list[tuple[str, ...]]) -> tuple[str, ...]:
    """What all arrangements with the finding share; the first one where they share nothing."""
    shared = tuple(c for c in configs[0] if all(c in other for other in configs))
    return shared or configs[0]
