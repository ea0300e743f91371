"""Each acquire row of the models, used wrongly and rightly in a function made for it."""

import pytest
from expectations import review_c
from row_code import use_of

from patchlint.host.rulefiles import load_ruleset

RULES = load_ruleset()
USES = {name: use for name in RULES.models.names() if (use := use_of(RULES.models, name))}


@pytest.mark.parametrize("name", USES)
def test_acquire_row(name: str) -> None:
    use = USES[name]
    found = {(finding.function, finding.rule) for finding in review_c(use.source, "row.c", RULES).findings}
    rules = [RULES.speaking_of("pairing", "leak", family.kind) for family in use.families]
    assert {("use_bad", rule.id) for rule in rules if rule} <= found, use.source
    assert not {entry for entry in found if entry[0] == "use_ok"}, use.source
