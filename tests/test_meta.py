"""Rules, fixtures and documentation belong together."""

from pathlib import Path

import pytest
from expectations import TREE_CHECKERS, expected_in, mail_lines, review_added, review_c, source_lines

from patchlint.host.rulefiles import load_ruleset
from patchlint.ruleset import Rule
from patchlint.ruleset.document import pages

ROOT = Path(__file__).parents[1]
RULESET = load_ruleset()
RULES = list(RULESET.rules.values())
IN_SOURCE = [rule for rule in RULES if rule.checker != "series"]


def family(rule: Rule) -> str:
    return rule.id.rstrip("0123456789").lower()


def folder(rule: Rule) -> Path:
    return ROOT / "fixtures" / family(rule) / rule.id


def name_of(rule: Rule) -> str:
    return rule.id


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_rule_lies_in_its_family_under_its_id(rule: Rule) -> None:
    assert rule.file.startswith(f"rules/{family(rule)}/{rule.id}-")


@pytest.mark.parametrize("rule", IN_SOURCE, ids=name_of)
def test_rule_has_fixtures(rule: Rule) -> None:
    bad, ok = folder(rule) / "bad.c", folder(rule) / "ok.c"
    sorts = {want.sort for want in expected_in(source_lines(bad.read_text())).wants if want.rule == rule.id}
    assert sorts & {"want", "want-fn"}
    assert "_ok" in ok.read_text()


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.checker == "series"], ids=name_of)
def test_series_rule_has_fixtures(rule: Rule) -> None:
    wants = expected_in(mail_lines((folder(rule) / "bad.mbox").read_text())).wants
    assert rule.id in {want.rule for want in wants}
    assert not expected_in(mail_lines((folder(rule) / "ok.mbox").read_text())).wants


def test_fixtures_belong_to_rules() -> None:
    known = {folder(rule) for rule in RULES}
    families = {family(rule) for rule in RULES}
    there = {path for name in families for path in (ROOT / "fixtures" / name).glob("*") if path.is_dir()}
    assert there <= known


def reviewed(rule: Rule, text: str) -> set[str]:
    review_text = review_added if rule.checker in TREE_CHECKERS else review_c
    return {finding.rule for finding in review_text(text + "\n", "drivers/lantern/main.c", RULESET).findings}


@pytest.mark.parametrize("rule", IN_SOURCE, ids=name_of)
def test_good_example_is_silent(rule: Rule) -> None:
    assert not reviewed(rule, rule.good)


def is_known_gap(rule: Rule) -> bool:
    """Whether the fixtures say that nothing finds the rule's faults yet."""
    wants = expected_in(source_lines((folder(rule) / "bad.c").read_text())).wants
    return all(want.sort == "want-fn" for want in wants if want.rule == rule.id)


@pytest.mark.parametrize("rule", IN_SOURCE, ids=name_of)
def test_bad_example_is_found(rule: Rule) -> None:
    assert (rule.id in reviewed(rule, rule.bad)) is not is_known_gap(rule)


def test_documentation_is_that_of_the_rules() -> None:
    home = ROOT / "docs" / "rules"
    written = {path.name: path.read_text() for path in home.glob("*.md")}
    assert written == dict(pages(RULES)), "run make docs"
