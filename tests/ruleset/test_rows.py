"""Each acquire row of the models, used wrongly and rightly in a function made for it."""

from collections import defaultdict

import pytest
from expectations import review_c
from row_code import Use, use_of

from patchlint.host.rulefiles import load_ruleset

RULES = load_ruleset()


def uses_by_family() -> dict[str, dict[str, Use]]:
    found: dict[str, dict[str, Use]] = defaultdict(dict)
    for name in RULES.models.names():
        use = use_of(RULES.models, name)
        if use is not None:
            found[use.families[0].name][name] = use
    return found


USES = uses_by_family()


def wanted_of(name: str, use: Use) -> set[tuple[str, str]]:
    rules = [RULES.speaking_of("pairing", "leak", family.kind, family.name) for family in use.families]
    return {(f"bad_{name}", rule.id) for rule in rules if rule is not None}


@pytest.mark.parametrize("family", USES)
def test_acquire_rows_of(family: str) -> None:
    uses = USES[family]
    source = "".join(use.source for use in uses.values())
    found = {(finding.function, finding.rule) for finding in review_c(source, "rows.c", RULES).findings}
    missed = set().union(*(wanted_of(name, use) for name, use in uses.items())) - found
    assert not missed
    assert not {entry for entry in found if entry[0].startswith("ok_")}
