from dataclasses import replace

from patchlint.model import Finding
from patchlint.review.verdicts import Change, by_key, fingerprint, judge

FAULT = Finding("REF001", "leak", "error", "high", "leaks", "a.c", 5, 1, "f", "np", key="leak np")


def change(patch: int, before: bool, after: bool, elsewhere: bool = False, line: int = 5) -> Change:
    old = by_key([FAULT] if before else [])
    new = by_key([replace(FAULT, line=line)] if after else [])
    return Change(patch - 1, patch, old, new, elsewhere)


def verdicts(*changes: Change) -> list[tuple[str, int | None, int | None]]:
    return [(found.verdict, found.patch, found.fixed_by) for found in judge(changes)]


def test_introduced_and_still_there() -> None:
    assert verdicts(change(2, False, True), change(3, True, True, line=9)) == [("introduced", 2, None)]


def test_the_line_is_that_of_the_patch_to_blame() -> None:
    assert [found.line for found in judge([change(2, False, True, line=7), change(3, True, True, line=9)])] == [7]


def test_repaired_later_is_transient_and_a_note() -> None:
    found = judge([change(1, False, True), change(3, True, False)])
    assert [(one.verdict, one.patch, one.fixed_by, one.severity) for one in found] == [("transient", 1, 3, "note")]


def test_brought_back_after_the_repair_is_a_second_fault() -> None:
    changes = (change(1, False, True), change(2, True, False), change(3, False, True))
    assert verdicts(*changes) == [("transient", 1, 2), ("introduced", 3, None)]


def test_there_before() -> None:
    assert verdicts(change(1, True, True)) == [("preexisting", 1, None)]
    assert verdicts(change(1, True, False)) == [("preexisting", 1, 1)]


def test_made_wrong_from_afar() -> None:
    assert verdicts(change(2, False, True, elsewhere=True)) == [("exposed", 2, None)]
    repaired = (change(2, False, True, elsewhere=True), change(4, True, False))
    assert verdicts(*repaired) == [("transient", 2, 4)]


def test_fingerprint_survives_line_shifts_only() -> None:
    assert fingerprint(replace(FAULT, line=99, message="other words")) == fingerprint(FAULT)
    others = {fingerprint(replace(FAULT, **{name: "x"})) for name in ("rule", "file", "function", "key")}
    assert len(others) == 4 and fingerprint(FAULT) not in others


def test_the_surer_of_two_with_one_key_is_kept() -> None:
    doubtful, sure = replace(FAULT, confidence="low", line=3), FAULT
    assert [list(by_key(order).values()) for order in ((doubtful, sure), (sure, doubtful))] == [[sure], [sure]]
