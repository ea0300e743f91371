"""Every fixture finds exactly what its comments want."""

from pathlib import Path

import pytest
from expectations import (
    TREE_CHECKERS,
    differences,
    expected_in,
    mail_lines,
    misnamed,
    review_added,
    review_c,
    review_mails,
    source_lines,
    spoken_of,
)

from patchlint.host.rulefiles import load_ruleset
from patchlint.ruleset import Ruleset

FIXTURES = Path(__file__).parents[1] / "fixtures"
FAMILIES = ("atm", "dst", "key", "lck", "mem", "pair", "rcu", "ref", "ser")
SOURCES = sorted(path for family in FAMILIES for path in (FIXTURES / family).rglob("*.c"))
MAILS = sorted(path for family in FAMILIES for path in (FIXTURES / family).rglob("*.mbox"))


@pytest.fixture(scope="module")
def ruleset() -> Ruleset:
    return load_ruleset()


def name_of(path: Path) -> str:
    return path.relative_to(FIXTURES).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_source(path: Path, ruleset: Ruleset) -> None:
    text = path.read_text()
    expected = expected_in(source_lines(text))
    rule = ruleset.rules.get(path.parent.name)
    review_text = review_added if rule is not None and rule.checker in TREE_CHECKERS else review_c
    review = review_text(text, f"drivers/lantern/{path.name}", ruleset)
    assert not review.not_analysed
    findings = spoken_of(expected, review.findings)
    wrong = [*differences(expected, findings), *misnamed(text, expected)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", MAILS, ids=name_of)
def test_mailbox(path: Path, ruleset: Ruleset) -> None:
    data = path.read_bytes()
    findings = [finding for review in review_mails(data, name_of(path), ruleset) for finding in review.findings]
    wrong = differences(expected_in(mail_lines(data.decode())), findings)
    assert not wrong, "\n".join(wrong)
