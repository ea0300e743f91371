import json
from dataclasses import replace

from report_samples import BRIEF, CLEAN, CONTEXT, LEAK, REVIEW

from patchlint.model import Finding
from patchlint.report.b4 import check_lines, review_results


def fails(finding: Finding) -> bool:
    return finding.severity != "note"


def passes(finding: Finding) -> bool:
    return False


QUIET = replace(REVIEW, not_analysed=())


def test_clean_prints_nothing() -> None:
    assert list(check_lines((CLEAN,), fails)) == []


def test_error_lines_are_what_fails() -> None:
    lines = list(check_lines((QUIET,), fails))
    assert lines[0] == f"drivers/misc/widget.c:16: ERROR: {LEAK.message} in widget_probe() [REF001]"
    assert ["ERROR:" in line for line in lines] == [True, True, False]
    assert "NOTE:" in lines[2] and "\x1b" not in lines[2]
    assert not any("ERROR:" in line for line in check_lines((replace(QUIET, findings=(LEAK, BRIEF)),), passes))


def test_what_was_not_reviewed_is_a_warning() -> None:
    failed = replace(QUIET, findings=(), patches=(replace(REVIEW.patches[0], applied="failed"),))
    assert list(check_lines((failed,), fails)) == ["WARNING: does not apply: misc: widget: find the node"]
    assert list(check_lines((replace(REVIEW, findings=()),), fails)) == ["WARNING: 1 function not analysed"]


def test_the_array_that_review_checks_print() -> None:
    (result,) = json.loads(review_results((QUIET,), CONTEXT, fails))
    assert {key: result[key] for key in ("tool", "status", "summary", "url")} == {
        "tool": "patchlint",
        "status": "fail",
        "summary": "1 error, 1 warning, 1 note",
        "url": "",
    }
    details = json.loads(result["details"])
    assert details[0]["srcline"] == "return -EIO;"
    assert "drivers/misc/widget.c:15 widget_setup(dev) is not 0: this branch" in details[0]["description"]


def test_status_of_a_clean_and_of_a_doubtful_review() -> None:
    (clean,) = json.loads(review_results((CLEAN,), CONTEXT, fails))
    assert (clean["status"], clean["summary"], clean["details"]) == ("pass", "no findings", "")
    (doubtful,) = json.loads(review_results((replace(REVIEW, findings=()),), CONTEXT, fails))
    assert (doubtful["status"], doubtful["summary"]) == ("warn", "no findings, 1 not reviewed")
