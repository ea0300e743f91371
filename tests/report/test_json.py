import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from report_samples import CLEAN, CONTEXT, REVIEW

import patchlint.report
from patchlint.model import Review
from patchlint.report.json import render

SCHEMA = json.loads((Path(patchlint.report.__file__).parent / "schema.json").read_text())


def document(*reviews: Review) -> Any:
    shown = json.loads(render(reviews, CONTEXT))
    jsonschema.Draft202012Validator(SCHEMA).validate(shown)
    return shown


def sample() -> Review:
    return replace(REVIEW, findings=tuple(replace(found, fingerprint="0123456789abcdef") for found in REVIEW.findings))


def test_document_is_valid_and_complete() -> None:
    shown = document(sample(), CLEAN)
    assert shown["tool"] == {"name": "patchlint", "version": "1.2.3", "rules_digest": "abcd"}
    first, second = shown["reviews"]
    assert first["series"]["present"] == [1, 2]
    assert first["series"]["base"] == {"kind": "commit", "rev": "0123456789abcdef"}
    assert [(found["verdict"], found["patch"], found["fixed_by"]) for found in first["findings"]] == [
        ("introduced", 1, None),
        ("transient", 1, 2),
        ("exposed", 2, None),
    ]
    assert first["findings"][0]["trace"][0] == {
        "file": "drivers/misc/widget.c",
        "line": 12,
        "what": "reference taken here by of_find_node_by_name()",
    }
    assert second["findings"] == [] and second["series"]["total"] == 0


def test_the_schema_refuses_what_the_contract_does_not_know() -> None:
    shown = document(sample())
    shown["reviews"][0]["findings"][0]["verdict"] = "maybe"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(shown)


def test_hostile_text_stays_ascii_without_controls() -> None:
    text = render((sample(),), CONTEXT)
    assert text.isascii() and "\\u001b" not in text and "\\u202e" not in text
