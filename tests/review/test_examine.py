"""The examiner: one answer for one question, and no silence about what went wrong."""

from collections.abc import Iterable

import pytest

from patchlint.checkers import CheckResult, FileFacts, FunctionContext
from patchlint.checkers.file_facts import NO_FACTS
from patchlint.dataflow import Callees
from patchlint.effects import Effect, Place, Summary
from patchlint.model import Finding
from patchlint.review import examine
from patchlint.review.examine import Examiner
from patchlint.review.functions import Site
from patchlint.review.timeline import State, View
from patchlint.ruleset import Models, Ruleset

SOURCE = b"int f(int x)\n{\n\treturn g(x);\n}\n"
RULES = Ruleset({}, Models({section: {} for section in (
    "family", "call", "shape", "macro", "loop", "guard", "cleanup", "pattern", "table")}), "")  # fmt: skip


class OneCallee(Models):
    """Knows that ``g`` does something, and where it stands."""

    def __init__(self, sleeps: str, where: str) -> None:
        super().__init__(RULES.models.book)
        taken = Effect("acquire", "thing", Place("result"))
        self._g = Summary("g", (taken,), sleeps=sleeps, origin="body", where=where)

    def summary(self, name: str) -> Summary | None:
        return self._g if name == "g" else None


class Known:
    """Knowledge that differs from state to state in one callee only."""

    def __init__(self) -> None:
        self.models: dict[int, Models] = {}

    def callees(self, path: str, state: State) -> Callees:
        return self.models[id(state)]

    def callers(self, name: str) -> Iterable[tuple[str, str]]:
        return ()

    def held_by_callers(self, site: Site, state: State) -> frozenset[str]:
        return frozenset()

    def facts(self, site: Site) -> FileFacts:
        return NO_FACTS

    def callback(self, site: Site, state: State) -> str:
        return ""


def finding(ctx: FunctionContext) -> CheckResult:
    """A finding on the line of the function's head, with the callee's effect in its message."""
    summary = ctx.callees.summary("g")
    message = summary.sleeps if summary else ""
    line = ctx.file_line(ctx.function.start)
    return CheckResult((Finding("X001", "x", "note", "high", message, ctx.path, line, 1, "f", "", key="k"),), (), 1)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Known:
    monkeypatch.setattr(examine, "check_function", finding)
    return Known()


def site(source: bytes) -> Site:
    view = View("a.c", source)
    return Site(view, next(head for head in view.unit.heads if head.name == "f"))


def ask(examiner: Examiner, known: Known, source: bytes, callee: Models) -> Finding:
    here = site(source)
    state: State = {"a.c": (here.view,)}
    known.models[id(state)] = callee
    (found,) = examiner.examine(here, state, "changed")
    return found


def test_the_same_text_further_down_is_answered_from_memory(known: Known) -> None:
    examiner = Examiner(RULES, known)
    assert ask(examiner, known, SOURCE, OneCallee("no", "b.c:1")).line == 1
    assert ask(examiner, known, b"\n\n\n" + SOURCE, OneCallee("no", "b.c:9")).line == 4
    assert examiner.functions == 1


def test_another_effect_of_a_callee_asks_anew(known: Known) -> None:
    examiner = Examiner(RULES, known)
    assert ask(examiner, known, SOURCE, OneCallee("no", "")).message == "no"
    assert ask(examiner, known, SOURCE, OneCallee("yes", "")).message == "yes"
    assert examiner.functions == 2


@pytest.mark.parametrize("error", [RecursionError(), KeyError("lost"), AssertionError()])
def test_a_function_that_breaks_a_checker_is_listed(
    known: Known, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(_: FunctionContext) -> CheckResult:
        raise error

    monkeypatch.setattr(examine, "check_function", broken)
    examiner = Examiner(RULES, known)
    here = site(b"\n" + SOURCE)
    state: State = {"a.c": (here.view,)}
    known.models[id(state)] = OneCallee("no", "")
    assert examiner.examine(here, state, "changed") == ()
    (skipped,) = examiner.skipped
    assert (skipped.file, skipped.function, skipped.line) == ("a.c", "f", 2)
