"""Reading rules and models: what is accepted, and the one line that tells what is not."""

import pytest

from patchlint.effects import ANY, NEG, POS, ZERO, Effect, Place
from patchlint.model import PatchlintError
from patchlint.ruleset import RuleFile, Ruleset, keep, load, restore

FAMILY = """
[family.lamp]
kind = "ref"
label = "reference to the lamp"
release = ["lamp_put", "lamp_drop"]
null_ok = true
"""
RULE = """id = "LMP001"
name = "lamp-left-on"
summary = "lamp left on"
why = "It burns."
bad = "on();"
good = "on(); off();"
checker = "pairing"
faults = ["leak"]
kinds = ["ref"]
severity = "warning"
confidence = "high"
since = "0.1"
"""


def model(text: str, name: str = "rules/models/lamps.toml", extra: bool = False) -> RuleFile:
    return RuleFile(name, text.encode(), extra)


def loaded(*texts: str) -> Ruleset:
    return load([model(text) for text in texts])


def complaint(*files: RuleFile) -> str:
    with pytest.raises(PatchlintError) as error:
        load(files)
    assert "\n" not in str(error.value)
    return str(error.value)


def effects_of(text: str, name: str) -> tuple[Effect, ...]:
    summary = loaded(FAMILY, text).models.summary(name)
    assert summary is not None
    return summary.effects


# ---------------------------------------------------------------------- models


def test_family_makes_its_releases() -> None:
    models = loaded(FAMILY).models
    for name in ("lamp_put", "lamp_drop"):
        summary = models.summary(name)
        assert summary is not None
        assert summary.effects == (
            Effect("release", "lamp", Place("arg"), null_ok=True, flags=frozenset({"maybe-last"})),
        )


@pytest.mark.parametrize(
    ("when", "result", "holds"),
    [
        ("always", ANY, ANY),
        ("nonnull", ZERO | POS, POS),
        ("valid", NEG | POS, POS),
        ("valid_or_null", ANY, POS),
        ("zero", NEG | ZERO, ZERO),
        ("clear", ZERO | POS, ZERO),
        ("true", ZERO | POS, POS),
        ("nonneg", ANY, ZERO | POS),
    ],
)
def test_when_words(when: str, result: int, holds: int) -> None:
    models = loaded(FAMILY, f'[[pair]]\nfamily = "lamp"\nacquire = "lamp_get"\nwhen = "{when}"\n').models
    summary = models.summary("lamp_get")
    assert summary is not None
    assert (summary.result, summary.effects[0].when) == (result, holds)


@pytest.mark.parametrize(
    ("held", "place"),
    [
        ("result", Place("result")),
        ("arg2", Place("arg", 1)),
        ("*arg3", Place("arg", 2, True)),
        ("arg5->np", Place("arg", 4, True, "np")),
        ("global", Place("global")),
    ],
)
def test_held_words(held: str, place: Place) -> None:
    [effect] = effects_of(f'[[pair]]\nfamily = "lamp"\nacquire = "lamp_get"\nheld = "{held}"\n', "lamp_get")
    assert effect.place == place


def test_getter_that_eats_releases_first() -> None:
    row = '[[pair]]\nfamily = "lamp"\nacquire = "lamp_next"\nwhen = "nonnull"\neats = "arg1"\n'
    first, second = effects_of(row, "lamp_next")
    assert (first.action, first.place, first.null_ok) == ("release", Place("arg"), True)
    assert (second.action, second.place, second.when) == ("acquire", Place("result"), POS)


def test_what_is_given_up_comes_first() -> None:
    text = """
[family.lamp_shared]
kind = "lock"
release = "lamp_unshare"

[[pair]]
family = "lamp_shared"
acquire = "lamp_downgrade"
held = "arg1"

[[release]]
family = "lamp"
name = "lamp_downgrade"
"""
    assert [effect.action for effect in effects_of(text, "lamp_downgrade")] == ["release", "acquire"]


def test_rows_of_one_name_add_up() -> None:
    text = """
[[pair]]
family = "lamp"
acquire = "lamp_get_quietly"
when = "nonnull"

[[call]]
name = "lamp_get_quietly"
takes = "arg2"
sleeps = "arg3"
"""
    summary = loaded(FAMILY, text).models.summary("lamp_get_quietly")
    assert summary is not None
    assert [effect.action for effect in summary.effects] == ["acquire"]
    assert (summary.args, summary.rest, summary.sleeps) == (("borrow", "take"), "borrow", "arg2")


def test_own_rows_before_shapes_and_longer_shapes_before_shorter() -> None:
    text = """
[[call]]
name = "lamp_*"
sleeps = "no"

[[call]]
name = "lamp_read_*"
sleeps = "yes"

[[call]]
name = "lamp_read_now"
sleeps = "unknown"
"""
    models = loaded(text).models
    found = {name: models.summary(name) for name in ("lamp_x", "lamp_read_level", "lamp_read_now", "lump_x")}
    assert {name: (one.sleeps, one.origin) if one else None for name, one in found.items()} == {
        "lamp_x": ("no", "pattern"),
        "lamp_read_level": ("yes", "pattern"),
        "lamp_read_now": ("unknown", "model"),
        "lump_x": None,
    }


def test_counterparts_of_regular_names() -> None:
    text = """
[[pattern]]
acquire = "*_enable"
release = ["*_disable"]

[[pattern]]
acquire = "*_alloc_*"
release = ["*_free_*", "*_put"]
"""
    models = loaded(text).models
    assert models.counterpart("lamp_enable") == ("lamp_disable",)
    assert models.counterpart("lamp_alloc_bulb") == ("lamp_free_bulb", "lamp_put")
    assert models.counterpart("lamp_look") == ()


def test_guard_takes_its_meaning_from_the_call_it_stands_for() -> None:
    text = """
[family.lamp_lock]
kind = "lock"
release = "lamp_unlock"
context = "atomic"

[[pair]]
family = "lamp_lock"
acquire = "lamp_lock"
held = "arg1"

[[guard]]
name = "lamp"
acquire = "lamp_lock"
release = "lamp_unlock"
"""
    guard = loaded(text).models.guard("lamp")
    assert guard is not None
    assert (guard.family, guard.arg, guard.context, guard.release) == ("lamp_lock", 0, "atomic", "lamp_unlock")


def test_scope_release_by_its_own_name() -> None:
    models = loaded(FAMILY).models
    assert models.cleanup("lamp_put") == ("lamp",)
    assert models.cleanup("nothing_known") == ()


def test_users_rows_replace_the_built_in_ones() -> None:
    built_in = model(FAMILY + '\n[[pair]]\nfamily = "lamp"\nacquire = "lamp_get"\nwhen = "nonnull"\n')
    theirs = '[[pair]]\nfamily = "lamp"\nacquire = "lamp_get"\nheld = "arg1"\nwhen = "zero"\n'
    models = load([model(theirs, "mine/models/x.toml", extra=True), built_in]).models
    summary = models.summary("lamp_get")
    assert summary is not None
    assert [effect.place for effect in summary.effects] == [Place("arg")]


# ----------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[pair]]\nfamily = lamp\n", "rules/models/lamps.toml:2: not TOML"),
        ("[[pear]]\nx = 1\n", "rules/models/lamps.toml:1: [pear]: unknown table"),
        ('[[call]]\nname = "a"\nconsumes = "arg0"\n', "rules/models/lamps.toml:3: [call]: consumes must be argN"),
        ('[[call]]\nname = "a"\n\n[[call]]\nnome = "b"\n', "rules/models/lamps.toml:5: [call]: unknown key 'nome'"),
        ('[[call]]\nsleeps = "no"\n', "rules/models/lamps.toml:1: [call]: no 'name'"),
        ('[[pair]]\nacquire = "a"\nfamily = "lump"\n', "rules/models/lamps.toml:3: [pair]: no family called lump"),
        ('[[loop]]\nname = "each"\nfamily = "x"\n', "rules/models/lamps.toml:3: [loop]: no family called x"),
        ("family = 3\n", "rules/models/lamps.toml:1: unknown key 'family'"),
        ("[call]\nname = 3\n", "rules/models/lamps.toml:1: [call]: name is not a table"),
        ("pair = [1]\n", "rules/models/lamps.toml:1: [pair]: not a table"),
        ('[[macro]]\nname = "A"\nacts = "dance"\n', "rules/models/lamps.toml:3: [macro]: acts must be one of"),
        ('[[call]]\nname = "a"\nsleeps = "often"\n', "rules/models/lamps.toml:3: [call]: sleeps must be no, yes"),
        ('[[pattern]]\nacquire = "get"\nrelease = "put"\n', "rules/models/lamps.toml:2: [pattern]: get must have one"),
    ],
)
def test_wrong_model_is_told_by_file_and_line(text: str, told: str) -> None:
    assert complaint(model(text)).startswith(told)


def test_family_twice_in_one_set() -> None:
    assert complaint(model(FAMILY), model(FAMILY, "rules/models/more.toml")) == (
        "rules/models/more.toml:2: [family.lamp]: family lamp is defined twice"
    )


def test_results_that_cannot_both_be() -> None:
    rows = '[[call]]\nname = "a"\nresult = ["negative"]\n\n[[call]]\nname = "a"\nresult = ["positive"]\n'
    assert complaint(model(rows)).startswith("rules/models/lamps.toml:5: [call]: the result cannot be")


def test_not_utf8() -> None:
    assert complaint(RuleFile("rules/models/x.toml", b"# a\n# \xff\n")) == "rules/models/x.toml:2: not UTF-8"


# ------------------------------------------------------------------------ rules


def rule_file(text: str, name: str = "rules/lmp/LMP001.toml", extra: bool = False) -> RuleFile:
    return RuleFile(name, text.encode(), extra)


def test_rule_is_found_by_what_it_speaks_of() -> None:
    ruleset = load([rule_file(RULE)])
    rule = ruleset.speaking_of("pairing", "leak", "ref")
    assert rule is not None
    assert (rule.id, rule.severity, rule.kinds) == ("LMP001", "warning", ("ref",))
    assert ruleset.speaking_of("pairing", "leak", "mem") is None
    assert ruleset.speaking_of("rcu", "leak", "ref") is None


def test_rule_for_a_family_goes_before_the_one_for_its_kind() -> None:
    narrow = RULE.replace('"LMP001"', '"LMP002"').replace('kinds = ["ref"]', 'kinds = ["ref"]\nfamilies = ["lamp"]')
    lamps = RuleFile("rules/models/lamp.toml", FAMILY.encode())
    ruleset = load([lamps, rule_file(RULE), rule_file(narrow, "rules/lmp/LMP002.toml")])
    told = {name: ruleset.speaking_of("pairing", "leak", "ref", name) for name in ("lamp", "door", "")}
    assert {name: rule and rule.id for name, rule in told.items()} == {"lamp": "LMP002", "door": "LMP001", "": "LMP001"}
    kept = restore(keep(ruleset), ruleset.digest)
    assert kept is not None
    assert kept.rules["LMP002"].families == ("lamp",)


def test_rule_for_a_family_that_nobody_models() -> None:
    narrow = RULE.replace('kinds = ["ref"]', 'families = ["lamp"]')
    assert complaint(rule_file(narrow)) == "rules/lmp/LMP001.toml:1: families: no model file has a family 'lamp'"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('severity = "warning"', 'severity = "loud"', "rules/lmp/LMP001.toml:10: severity must be one of"),
        ('id = "LMP001"', 'id = "lamp"', "rules/lmp/LMP001.toml:1: id must be"),
        ('since = "0.1"\n', "", "rules/lmp/LMP001.toml:1: no 'since'"),
        ('faults = ["leak"]', 'faults = "leak"', "rules/lmp/LMP001.toml:8: faults must be a list"),
        ('checker = "pairing"', 'checker = "magic"', "rules/lmp/LMP001.toml:7: checker must be one of"),
        ('since = "0.1"', 'since = "0.1"\nsinse = 2', "rules/lmp/LMP001.toml:13: unknown key 'sinse'"),
        ('since = "0.1"', 'since = "0.1"\n[parameters]\nx = 1.5', "rules/lmp/LMP001.toml:1: parameter x must be"),
    ],
)
def test_wrong_rule_is_told_by_file_and_line(before: str, after: str, told: str) -> None:
    assert complaint(rule_file(RULE.replace(before, after))).startswith(told)


def test_rule_twice() -> None:
    told = complaint(rule_file(RULE), rule_file(RULE, "rules/lmp/again.toml"))
    assert told == "rules/lmp/again.toml:1: rule LMP001 is already in rules/lmp/LMP001.toml"


def test_users_rule_replaces_the_built_in_one() -> None:
    theirs = RULE.replace('severity = "warning"', 'severity = "note"')
    ruleset = load([rule_file(theirs, "mine/x.toml", extra=True), rule_file(RULE)])
    assert ruleset.rules["LMP001"].severity == "note"


# ------------------------------------------------------------------- kept forms


def test_kept_rule_set_says_the_same() -> None:
    ruleset = load([model(FAMILY), rule_file(RULE + "[parameters]\ncontexts = ['rcu']\n")])
    again = restore(keep(ruleset), ruleset.digest)
    assert again is not None
    assert dict(again.rules) == dict(ruleset.rules)
    assert again.models.summary("lamp_put") == ruleset.models.summary("lamp_put")
    assert again.models.family("lamp") == ruleset.models.family("lamp")


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 0}'])
def test_damaged_kept_form_is_not_used(damage: bytes) -> None:
    assert restore(damage, "x") is None


def test_digest_follows_the_bytes() -> None:
    assert load([rule_file(RULE)]).digest != load([rule_file(RULE + "\n")]).digest
