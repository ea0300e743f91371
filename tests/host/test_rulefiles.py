"""Rule files from the disk, and the rule set kept in a cache folder."""

import json
from pathlib import Path

import pytest

from patchlint.host.rulefiles import load_ruleset, read_rule_files
from patchlint.model import PatchlintError

ROW = '[family.lamp]\nkind = "ref"\nlabel = "reference to the lamp"\nrelease = "lamp_put"\n'


def test_built_in_files_are_found() -> None:
    names = {file.name for file in read_rule_files()}
    assert "rules/models/of.toml" in names
    assert not any(file.extra for file in read_rule_files())


def test_users_folder_is_read_after_them(tmp_path: Path) -> None:
    (tmp_path / "lamps.toml").write_text(ROW)
    last = read_rule_files([tmp_path])[-1]
    assert (last.name, last.extra) == (str(tmp_path / "lamps.toml"), True)
    assert load_ruleset([tmp_path]).models.family("lamp") is not None


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PatchlintError, match="no such folder of rules"):
        read_rule_files([tmp_path / "missing"])


def test_folder_without_rules(tmp_path: Path) -> None:
    with pytest.raises(PatchlintError, match=r"no rule files \(\*.toml\)"):
        read_rule_files([tmp_path])


def test_users_fault_is_told_by_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "lamps.toml"
    path.write_text(ROW + "\n[[pair]]\nfamily = 'lamp'\nacquire = 'lamp_get'\nwhen = 'sometimes'\n")
    with pytest.raises(PatchlintError) as error:
        load_ruleset([tmp_path])
    assert str(error.value).startswith(f"{path}:9: [pair]: when must be one of")


def test_kept_rule_set_is_used_and_says_the_same(tmp_path: Path) -> None:
    fresh = load_ruleset(cache=tmp_path)
    [kept] = tmp_path.glob("rules-*.json")
    plain = json.loads(kept.read_bytes())
    plain["rules"][0]["summary"] = "as kept"
    kept.write_text(json.dumps(plain))
    again = load_ruleset(cache=tmp_path)
    assert next(iter(again.rules.values())).summary == "as kept"
    assert again.digest == fresh.digest
    assert again.models.names() == fresh.models.names()


def test_damaged_cache_is_written_anew(tmp_path: Path) -> None:
    load_ruleset(cache=tmp_path)
    [kept] = tmp_path.glob("rules-*.json")
    kept.write_bytes(kept.read_bytes()[:100])
    assert load_ruleset(cache=tmp_path).rules
    assert json.loads(kept.read_bytes())


def test_cache_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert load_ruleset(cache=blocked).rules
