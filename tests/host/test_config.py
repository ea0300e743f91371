from pathlib import Path

import pytest

from patchlint.host.config import KEYS, parse_config, read_config
from patchlint.model import PatchlintError


def read(text: str) -> dict:
    return dict(parse_config(text, "c.toml", Path("/tree")).values)


def test_every_key() -> None:
    text = """
        select = ["RCU", "REF001"]
        ignore = ["RCU005"]
        rules = ["more", "/abs"]
        paths = ["drivers/net", "!drivers/net/wireless/*"]
        min-confidence = "high"
        fail-on = "never"
        baseline = "known.json"
        [severity]
        REF001 = "error"
    """
    values = read(text)
    assert values == {
        "select": ("RCU", "REF001"),
        "ignore": ("RCU005",),
        "rules": (Path("/tree/more"), Path("/abs")),
        "only_paths": ("drivers/net", "!drivers/net/wireless/*"),
        "min_confidence": "high",
        "fail_on": "never",
        "baseline": Path("/tree/known.json"),
        "severities": (("REF001", "error"),),
    }
    assert set(values) == {key.option for key in KEYS.values()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nfail_on = 'error'", "c.toml:2: unknown key 'fail_on', did you mean 'fail-on'?"),
        ("[severities]", "c.toml:1: unknown key 'severities', did you mean 'severity'?"),
        ("x = 1", "c.toml:1: unknown key 'x' (known: select, ignore, severity, rules, paths, min-confidence,"),
        ("fail-on = 'fatal'", "c.toml:1: 'fail-on' must be one of note, warning, error, never, not 'fatal'"),
        ("fail-on = 3", "c.toml:1: 'fail-on' must be one of"),
        ("select = 'RCU'", "c.toml:1: 'select' must be a list of strings"),
        ("paths = ['']", "c.toml:1: 'paths' must be a list of strings"),
        (
            "#\n[severity]\nREF001 = 'bad'",
            "c.toml:2: 'severity' REF001: must be one of note, warning, error, not 'bad'",
        ),
        ("severity = 1", "c.toml:1: 'severity' must be a table"),
        ("baseline = []", "c.toml:1: 'baseline' must be the name of a file"),
        ("select = [", "c.toml: "),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(PatchlintError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


def test_the_tree_wins_over_the_user(tmp_path: Path) -> None:
    user, tree = tmp_path / "user", tmp_path / "tree"
    user.mkdir()
    tree.mkdir()
    (user / "config.toml").write_text("fail-on = 'error'\nignore = ['MEM']\n")
    (tree / ".patchlint.toml").write_text("fail-on = 'note'\n")
    config = read_config(tree, user)
    assert config.values == {"fail_on": "note", "ignore": ("MEM",)}
    assert config.origin == {"fail_on": str(tree / ".patchlint.toml"), "ignore": str(user / "config.toml")}


def test_no_file_no_values(tmp_path: Path) -> None:
    assert read_config(tmp_path, tmp_path).values == {}
    assert read_config(None, tmp_path).values == {}


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / ".patchlint.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PatchlintError, match="not UTF-8"):
        read_config(tmp_path, tmp_path / "none")
