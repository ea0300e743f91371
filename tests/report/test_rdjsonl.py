import json

from report_samples import CLEAN, CONTEXT, REVIEW

from patchlint.report import rdjsonl


def test_one_diagnostic_per_line() -> None:
    shown = [json.loads(line) for line in rdjsonl.render((REVIEW, CLEAN), CONTEXT).splitlines()]
    assert [each["severity"] for each in shown] == ["WARNING", "ERROR", "INFO"]
    assert shown[0]["location"] == {
        "path": "drivers/misc/widget.c",
        "range": {"start": {"line": 19, "column": 3}},
    }
    assert shown[0]["code"] == {"value": "REF001"}
    assert [step["location"]["range"]["start"]["line"] for step in shown[0]["related_locations"]] == [15, 18, 19]
    assert "related_locations" not in shown[1]


def test_nothing_found_is_nothing() -> None:
    assert rdjsonl.render((CLEAN,), CONTEXT) == ""


def test_control_characters_do_not_pass() -> None:
    assert "\\u001b" not in rdjsonl.render((REVIEW,), CONTEXT)
