"""The reviewing commands from end to end, on the demonstration series and its tree."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import patchlint.report
from patchlint.cli import review
from patchlint.cli.main import run
from patchlint.model import Review

DEMO = Path(__file__).resolve().parents[2] / "fixtures/demo"
SCHEMA = json.loads((Path(patchlint.report.__file__).parent / "schema.json").read_text())
FILE = "drivers/net/lantern/lantern_main.c"


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHLINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def called(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str]:
    status = run([*map(str, words)])
    return status, capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, Any]:
    status, out = called(capsys, *words, "--format", "json")
    shown = json.loads(out)
    jsonschema.Draft202012Validator(SCHEMA).validate(shown)
    return status, shown


def blame(review_of: Any) -> set[tuple[str, str, int | None, int | None]]:
    return {(one["rule"], one["verdict"], one["patch"], one["fixed_by"]) for one in review_of["findings"]}


EXPECTED = {("REF001", "transient", 1, 3), ("RCU001", "introduced", 2, None)}


def clone(tmp_path: Path) -> Path:
    """The demonstration's tree as a clone with the series committed on it."""
    folder = tmp_path / "linux"
    shutil.copytree(DEMO / "tree", folder)
    names = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=folder, env={**os.environ, **names}, check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "base")
    git("am", "-q", str(DEMO / "series.mbox"))
    return folder


def test_the_demonstration(capsys: pytest.CaptureFixture[str]) -> None:
    status, shown = document(capsys, "mbox", "--tree", DEMO / "tree", DEMO / "series.mbox")
    (only,) = shown["reviews"]
    assert status == 1 and blame(only) == EXPECTED
    assert [patch["applied"] for patch in only["patches"]] == ["exact"] * 3
    assert only["stats"]["functions"] > 0 and only["not_analysed"] == []


def test_a_range_is_reviewed_like_its_mails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = clone(tmp_path)
    status, shown = document(capsys, "range", "--tree", folder, "HEAD~3..HEAD")
    (only,) = shown["reviews"]
    assert status == 1 and blame(only) == EXPECTED
    assert only["source"] == "HEAD~3..HEAD" and only["series"]["base"]["kind"] == "commit"


@pytest.mark.parametrize("revisions", ["--output=x..HEAD", "HEAD..nowhere", "HEAD..HEAD"])
def test_a_range_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str], revisions: str) -> None:
    assert run(["range", "--tree", str(clone(tmp_path)), "--", revisions]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and not Path("x..HEAD").exists()


def test_whole_files_with_one_and_two_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = tmp_path / "linux"
    shutil.copytree(DEMO / "tree", tree)
    text = (tree / FILE).read_text().replace("\tof_node_put(ports);\n\tif (err)", "\tif (err)", 1)
    for number in range(9):
        (tree / f"drivers/net/lantern/copy{number}.c").write_text(text)
    found = [
        document(capsys, "file", "--tree", tree, "--jobs", jobs, tree / "drivers")[1]["reviews"][0]
        for jobs in ("1", "2")
    ]
    assert [one["stats"]["files"] for one in found] == [11, 11]
    assert found[0]["findings"] == found[1]["findings"]
    files = [Path(one["file"]).name for one in found[0]["findings"] if one["rule"] == "REF001"]
    assert set(files) == {f"copy{number}.c" for number in range(9)}


def test_a_baseline_hides_what_it_lists(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("mbox", "--tree", DEMO / "tree", DEMO / "series.mbox")
    assert called(capsys, *words, "--write-baseline", "known.json")[0] == 1
    status, shown = document(capsys, *words, "--baseline", "known.json")
    assert status == 0 and shown["reviews"][0]["findings"] == []


@pytest.mark.parametrize(("fail_on", "status"), [("error", 1), ("note", 1), ("never", 0)])
def test_fail_on(capsys: pytest.CaptureFixture[str], fail_on: str, status: int) -> None:
    assert called(capsys, "mbox", "--tree", DEMO / "tree", "--fail-on", fail_on, DEMO / "series.mbox")[0] == status


def test_selected_rules_only(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("mbox", "--tree", DEMO / "tree", DEMO / "series.mbox")
    status, shown = document(capsys, *words, "--ignore", "RCU")
    assert status == 0 and blame(shown["reviews"][0]) == {("REF001", "transient", 1, 3)}
    _, shown = document(capsys, *words, "--select", "RCU001")
    assert blame(shown["reviews"][0]) == {("RCU001", "introduced", 2, None)}


def test_output_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("mbox", "--tree", DEMO / "tree", "--output", tmp_path / "report.txt", DEMO / "series.mbox")
    assert called(capsys, *words) == (1, "")
    assert "[RCU001]" in (tmp_path / "report.txt").read_text()


def test_no_tree_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = called(capsys, "mbox", "--no-tree", DEMO / "series.mbox")
    assert out.count("no kernel tree") == 1 and "3 seen as hunks only" in out


def test_an_interrupt_shows_what_was_found_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = review.review_mail

    def interrupted(*words: Any, **more: Any) -> Iterator[Review]:
        yield from real(*words, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(review, "review_mail", interrupted)
    status = run(["mbox", "--tree", str(DEMO / "tree"), str(DEMO / "series.mbox")])
    shown = capsys.readouterr()
    assert status == 130 and "[RCU001]" in shown.out and "interrupted" in shown.err


def test_rules_and_explain(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = called(capsys, "rules")
    ids = [line.split()[0] for line in out.splitlines()]
    assert status == 0 and ids == sorted(ids) and {"RCU001", "REF001", "SER003"} <= set(ids)
    status, out = called(capsys, "explain", "ref001")
    assert status == 0
    for part in ("Why it is wrong", "Bad", "Good", "patchlint: ignore REF001"):
        assert part in out


def test_callers_and_callees(capsys: pytest.CaptureFixture[str]) -> None:
    tree = DEMO / "tree"
    assert called(capsys, "callers", "--tree", tree, "lantern_find_port") == (0, f"{FILE}:48: lantern_port_speed\n")
    status, out = called(capsys, "callees", "--tree", tree, "lantern_find_port")
    assert status == 0 and "list_for_each_entry_rcu" in out
    assert run(["callers", "--tree", str(tree), "lantern_nowhere"]) == 2
