"""Settings, baselines and completion through the real program."""

import json
import shutil
from pathlib import Path

import pytest
from scratch import PATCHLINT, PROBE, SPEED, WIDGET, Repository, environment, kernel, run


@pytest.fixture
def tree(tmp_path: Path) -> Repository:
    found = kernel(tmp_path / "linux", environment(tmp_path))
    found.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + PROBE)
    return found


def review(tree: Repository, *words: str | Path, status: int = 1) -> list[tuple[str, str]]:
    done = run(
        PATCHLINT, "range", "--format", "json", *words, "HEAD~1..HEAD", cwd=tree.folder, env=tree.env, status=status
    )
    (one,) = json.loads(done.stdout)["reviews"]
    return [(finding["rule"], finding["severity"]) for finding in one["findings"]]


def settings(tree: Repository, text: str) -> None:
    (tree.folder / ".patchlint.toml").write_text(text)


def test_severity_and_fail_on_of_the_file_and_flags_over_them(tree: Repository) -> None:
    assert review(tree) == [("REF001", "warning")]
    settings(tree, "fail-on = 'error'\n")
    assert review(tree, status=0) == [("REF001", "warning")]
    assert review(tree, "--fail-on", "warning") == [("REF001", "warning")]
    assert review(tree, "--no-config") == [("REF001", "warning")]
    settings(tree, "fail-on = 'error'\n[severity]\nREF = 'error'\n")
    assert review(tree) == [("REF001", "error")]


def test_rules_off_and_on_again(tree: Repository) -> None:
    settings(tree, "ignore = ['REF']\n")
    assert review(tree, status=0) == []
    assert review(tree, "--ignore", "RCU") == [("REF001", "warning")]


def test_paths(tree: Repository) -> None:
    settings(tree, "paths = ['net']\n")
    assert review(tree, status=0) == []
    settings(tree, "paths = ['drivers/misc']\n")
    assert review(tree) == [("REF001", "warning")]


def test_the_users_file_is_below_the_trees(tree: Repository) -> None:
    user = Path(tree.env["XDG_CONFIG_HOME"]) / "patchlint"
    user.mkdir(parents=True)
    (user / "config.toml").write_text("fail-on = 'never'\nmin-confidence = 'high'\n")
    settings(tree, "fail-on = 'error'\n")
    done = run(PATCHLINT, "config", cwd=tree.folder, env=tree.env)
    assert done.stdout.splitlines() == [
        f'min-confidence = "high"  # {user / "config.toml"}',
        f'fail-on = "error"  # {tree.folder / ".patchlint.toml"}',
    ]


def test_a_wrong_key_is_one_line_with_a_suggestion(tree: Repository) -> None:
    settings(tree, "\nfail_on = 'error'\n")
    done = run(PATCHLINT, "range", "HEAD~1..HEAD", cwd=tree.folder, env=tree.env, status=2)
    place = tree.folder / ".patchlint.toml"
    assert done.stderr == f"patchlint: {place}:2: unknown key 'fail_on', did you mean 'fail-on'?\n"


def test_a_baseline_hides_what_is_known_and_nothing_else(tree: Repository) -> None:
    known = tree.folder.parent / "known.json"
    review(tree, "--write-baseline", known)
    assert review(tree, "--baseline", known, status=0) == []
    settings(tree, "baseline = '../known.json'\n")
    assert review(tree, status=0) == []
    # The fingerprint survives a shift of lines.
    tree.git("reset", "-q", "--hard", "HEAD~1")
    moved = WIDGET.replace("struct widget {", "/* moved */\n\nstruct widget {")
    tree.commit("misc: widget: find the node", drivers__misc__widget_c=moved + SPEED + PROBE)
    settings(tree, "")
    assert review(tree) == [("REF001", "warning")]
    assert review(tree, "--baseline", known, status=0) == []
    other = PROBE.replace("widget_probe", "widget_attach")
    tree.git("reset", "-q", "--hard", "HEAD~1")
    tree.commit("misc: widget: attach", drivers__misc__widget_c=WIDGET + other)
    assert review(tree, "--baseline", known) == [("REF001", "warning")]


def test_a_wrong_baseline_is_one_line(tree: Repository) -> None:
    (tree.folder / "known.json").write_text("[]")
    done = run(PATCHLINT, "range", "--baseline", "known.json", "HEAD~1..HEAD", cwd=tree.folder, env=tree.env, status=2)
    assert done.stderr == "patchlint: known.json: not a baseline that patchlint wrote\n"


def test_several_reports_of_one_review(tree: Repository) -> None:
    out = tree.folder.parent
    words = ("--also", f"sarif={out / 'a.sarif'}", "--also", f"html={out / 'a.html'}", "HEAD~1..HEAD")
    run(PATCHLINT, "range", "--format", "github", *words, cwd=tree.folder, env=tree.env, status=1)
    assert json.loads((out / "a.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "REF001"
    assert "REF001" in (out / "a.html").read_text()
    done = run(PATCHLINT, "range", "--also", "pdf=x", "HEAD~1..HEAD", cwd=tree.folder, env=tree.env, status=2)
    assert done.stderr.count("\n") == 1 and "say FORMAT=FILE with one of text, json, sarif" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_read_by_their_shells(tree: Repository, shell: str) -> None:
    script = run(PATCHLINT, "completion", shell, cwd=tree.folder, env=tree.env).stdout
    assert "_PATCHLINT_COMPLETE" in script
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine to read the script with")
    file = tree.folder.parent / f"completion.{shell}"
    file.write_text(script)
    run(shell, "-n", file, cwd=tree.folder, env=tree.env)


def test_bash_completes_commands_and_options(tree: Repository) -> None:
    script = f'eval "$({PATCHLINT} completion bash)"\n'
    for words, wanted in (("patchlint ho", "hook"), ("patchlint mbox --min-c", "--min-confidence")):
        script += f"COMP_WORDS=({words}); COMP_CWORD={words.count(' ')}; _patchlint_completion patchlint\n"
        done = run("bash", "-c", script + 'echo "${COMPREPLY[@]}"', cwd=tree.folder, env=tree.env)
        assert wanted in done.stdout.split(), done.stderr
