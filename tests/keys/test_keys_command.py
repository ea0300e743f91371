"""``patchlint keys`` over a small tree."""

from pathlib import Path

import pytest

from patchlint.cli.main import run

LAMP = """
DEFINE_STATIC_KEY_FALSE(lamp_glow_key);
static DEFINE_STATIC_KEY_TRUE(lamp_cold_key);

void lamp_up(struct lamp *l)
{
	if (l->glow)
		static_branch_inc(&lamp_glow_key);
}

void lamp_down(struct lamp *l)
{
	if (l->glow)
		static_branch_dec(&lamp_glow_key);
}

int lamp_warm(void)
{
	static_branch_disable(&lamp_cold_key);
	return 0;
}
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATCHLINT_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "linux"
    for folder in ("drivers/lamp", "kernel", "include/linux", "Documentation", "scripts"):
        (root / folder).mkdir(parents=True)
    for name in ("Kbuild", "Kconfig", "Makefile", "MAINTAINERS", "COPYING", "CREDITS"):
        (root / name).write_text("VERSION = 6\n")
    (root / "drivers/lamp/main.c").write_text(LAMP)
    return root


def test_table(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["keys", "--tree", str(tree)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "lamp_cold_key (switched, true at first): disabled only",
        "    disable drivers/lamp/main.c:19: lamp_warm: always",
        "lamp_glow_key (counted, false at first): paired",
        "    inc     drivers/lamp/main.c:8: lamp_up: .glow",
        "    dec     drivers/lamp/main.c:14: lamp_down: .glow",
        "    pair    lamp_up - lamp_down: paired",
        "2 keys: 1 counted, 1 switched",
    ]


def test_counted_in_brief(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["keys", "--tree", str(tree), "--counted", "--brief"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "lamp_glow_key (counted, false at first): paired",
        "1 keys: 1 counted, 0 switched",
    ]


def test_unknown_key(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["keys", "--tree", str(tree), "lamp_hum_key"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "patchlint: lamp_hum_key: no such key changes in the tree"


def test_no_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["keys", "--no-tree"]) == 2
    assert "needs a kernel tree" in capsys.readouterr().err
