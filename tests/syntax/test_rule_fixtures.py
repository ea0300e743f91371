"""What the front end reads reaches the rules: twins for each construct, good and bad."""

from pathlib import Path

import pytest
from expectations import differences, expected_in, misnamed, review_c, source_lines

from patchlint.host.rulefiles import load_ruleset
from patchlint.ruleset import Ruleset

FIXTURES = Path(__file__).parents[2] / "fixtures" / "syntax"
SOURCES = sorted(FIXTURES.rglob("*.c"))


@pytest.fixture(scope="module")
def ruleset() -> Ruleset:
    return load_ruleset()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(FIXTURES).as_posix())
def test_construct(path: Path, ruleset: Ruleset) -> None:
    text = path.read_text()
    expected = expected_in(source_lines(text))
    review = review_c(text, path.name, ruleset)
    assert not review.not_analysed
    wrong = [*differences(expected, review.findings), *misnamed(text, expected)]
    assert not wrong, "\n".join(wrong)


def test_every_construct_has_its_twin() -> None:
    assert all({"bad.c", "ok.c"} <= {path.name for path in folder.iterdir()} for folder in FIXTURES.iterdir())
