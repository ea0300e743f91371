import subprocess
import sys
from pathlib import Path

import pytest

from patchlint import __version__
from patchlint.cli.main import COMMANDS, cli, run

HEAVY = {"tree_sitter", "git", "networkx", "rich", "unidiff", "sqlite3", "patchlint.driver"}


def test_version_loads_nothing_heavy() -> None:
    told = "import sys; from patchlint.cli.main import run; run(['--version']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    version, modules = done.stdout.splitlines()
    assert __version__ in version
    assert "click" in modules.split() and HEAVY.isdisjoint(modules.split())


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert f"Usage: patchlint {name}" in capsys.readouterr().out


def test_the_summaries_in_the_overview_match_the_commands() -> None:
    missing = [name for name in COMMANDS if cli.get_command(None, name) is None]  # type: ignore[arg-type]
    assert missing == []


@pytest.mark.parametrize(
    "words",
    [
        ["nope"],
        ["mbox"],
        ["mbox", "--nope", "x"],
        ["mbox", "--format", "pdf", "x"],
        ["mbox", "--tree", "a", "--no-tree", "x"],
        ["mbox", "--no-tree", "--base", "HEAD", "x"],
        ["mbox", "--no-tree", "--select", "NOPE1", "x"],
        ["mbox", "--no-tree", "--rules", "/nonexistent", "x"],
        ["mbox", "--no-tree", "/nonexistent.mbox"],
        ["mbox", "--tree", "/nonexistent", "x"],
        ["explain", "NOPE001"],
    ],
)
def test_trouble_is_one_line_and_exit_2(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("patchlint: ") and shown.err.count("\n") == 1


def test_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    assert run(["rules"]) == 130


def test_a_mistake_of_ours_is_one_line_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(cli, "main", broken)
    assert run(["rules"]) == 2
    assert capsys.readouterr().err.startswith("patchlint: internal error: KeyError: 'lost'")
    monkeypatch.setenv("PATCHLINT_DEBUG", "1")
    with pytest.raises(KeyError):
        run(["rules"])


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert "Commands:" in capsys.readouterr().err
