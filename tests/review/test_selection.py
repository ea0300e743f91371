from dataclasses import replace

import pytest

from patchlint.model import Finding, Patch, Review, Series, Suppression
from patchlint.review.selection import Selection, at_least, choose_findings

FAULT = Finding(
    "REF001", "leak", "warning", "medium", "leaks", "a.c", 5, 1, "probe", "np", patch=1, fingerprint="f1", key="k"
)


def review(*findings: Finding, suppressions: tuple[Suppression, ...] = ()) -> Review:
    patch = Patch(1, "one", suppressions=suppressions, source="a.mbox")
    series = Series("a.mbox", "one", "Ada", "v1", 1, (patch,))
    return Review("a.mbox", series, "none", "", (), findings, ())


@pytest.mark.parametrize(
    ("selection", "shown"),
    [
        (Selection(), True),
        (Selection(select=("REF",)), True),
        (Selection(select=("RCU",)), False),
        (Selection(ignore=("REF",)), False),
        (Selection(select=("REF001",), ignore=("REF",)), True),
        (Selection(select=("REF",), ignore=("REF001",)), False),
        (Selection(min_confidence="high"), False),
        (Selection(min_confidence="low"), True),
        (Selection(baseline=frozenset({"f1"})), False),
    ],
)
def test_what_is_shown(selection: Selection, shown: bool) -> None:
    assert bool(choose_findings(review(FAULT), selection).findings) is shown


def test_old_faults_only_on_request() -> None:
    old = replace(FAULT, verdict="preexisting")
    assert choose_findings(review(old), Selection()).findings == ()
    assert choose_findings(review(old), Selection(show_all=True)).findings == (old,)


@pytest.mark.parametrize("target", ["", "np", "probe"])
def test_a_suppression_silences_and_is_counted(target: str) -> None:
    done = choose_findings(review(FAULT, suppressions=(Suppression("REF001", target),)), Selection())
    assert (done.findings, done.suppressed, done.notes) == ((), (FAULT,), ())


def test_a_suppression_for_something_else_silences_nothing_and_warns() -> None:
    ignored = Suppression("REF001", "remove", "because", 12)
    done = choose_findings(review(FAULT, suppressions=(ignored,)), Selection())
    assert done.findings == (FAULT,) and done.suppressed == ()
    assert done.notes == ('a.mbox:12: patch 1: "patchlint: ignore REF001 remove" matches no finding',)


def test_exit_severity() -> None:
    assert at_least([FAULT], "warning") and at_least([FAULT], "note")
    assert not at_least([FAULT], "error") and not at_least([FAULT], "never") and not at_least([], "note")
