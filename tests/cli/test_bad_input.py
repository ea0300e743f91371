"""Whatever is handed in: a result or one clear line, never a traceback."""

import io
import sys
from pathlib import Path

import pytest

from patchlint.cli.main import run

PATCH = """From: Ada Example <ada@example.org>
Subject: [PATCH] widget: add b

---
diff --git a/widget.c b/widget.c
--- a/widget.c
+++ b/widget.c
@@ -1,2 +1,3 @@
 int a;
+int b;
 int c;
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHLINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def review(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of ``patchlint mbox``."""
    status = run(["mbox", "--no-tree", *words])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def refused(capsys: pytest.CaptureFixture[str], word: str, *words: str) -> None:
    status, out, err = review(capsys, *words)
    assert (status, out) == (2, "")
    assert err.startswith("patchlint: ") and word in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("empty.mbox", b"", "empty"),
        ("binary.mbox", bytes(range(256)) * 40, "binary"),
        ("talk.eml", b"From: a@example.org\nSubject: hello\n\nNo patch in here.\n", "no patch"),
        ("damaged.mbox.gz", b"\x1f\x8b\x08\x00damaged", "gzip"),
        ("damaged.xz", b"\xfd7zXZ\x00damaged", "xz"),
    ],
)
def test_useless_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, word: str
) -> None:
    (tmp_path / name).write_bytes(content)
    refused(capsys, word, name)


def test_what_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "missing.mbox", "missing.mbox")


def test_a_folder_without_patches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/readme.rst").write_text("nothing")
    refused(capsys, "notes", "notes")


def test_empty_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n")))
    refused(capsys, "empty", "-")


def test_a_patch_on_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PATCH.encode())))
    status, out, _ = review(capsys, "-")
    assert status == 0 and "widget: add b: no findings, 1 patch" in out


def test_a_truncated_hunk_is_a_finding_at_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cut.patch").write_text(PATCH.removesuffix(" int c;\n"))
    status, out, _ = review(capsys, "cut.patch")
    assert status == 1
    assert "[SER004]" in out and out.split("\n")[0].startswith("cut.patch:")


@pytest.mark.parametrize("tree", ["missing", "cut.patch", "empty"])
def test_no_tree_behind_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str], tree: str) -> None:
    (tmp_path / "cut.patch").write_text(PATCH)
    (tmp_path / "empty").mkdir()
    assert run(["mbox", "--tree", tree, "cut.patch"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and f"--tree {tree}" in shown.err and shown.err.count("\n") == 1


def test_a_patch_that_does_not_apply_is_reported_and_the_rest_reviewed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/widget.c").write_text("int other;\n")
    (tmp_path / "one.patch").write_text(PATCH)
    assert run(["mbox", "--tree", "tree", "one.patch"]) == 1
    out = capsys.readouterr().out
    assert "[SER002]" in out and "1 not applied" in out


ODD = [b"", b"\0\0\0", b"}}}}((((", b"int f(void) {" * 3000, b"\xff\xfe/*" + b"a" * 99999]


@pytest.mark.parametrize("content", ODD)
def test_files_that_are_no_proper_c(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    (tmp_path / "odd.c").write_bytes(content)
    assert run(["file", "--no-tree", "odd.c"]) in (0, 1)
    assert "odd.c: " in capsys.readouterr().out


@pytest.mark.parametrize("baseline", ["{}", "[", '{"fingerprints": 3}'])
def test_a_baseline_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str], baseline: str) -> None:
    (tmp_path / "known.json").write_text(baseline)
    (tmp_path / "one.patch").write_text(PATCH)
    refused(capsys, "known.json", "--baseline", "known.json", "one.patch")


def test_an_output_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.patch").write_text(PATCH)
    refused(capsys, "nowhere/out", "--output", "nowhere/out", "one.patch")


def test_a_bad_rule_file_names_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/mine.toml").write_text('id = "XYZ001"\nname = \n')
    (tmp_path / "one.patch").write_text(PATCH)
    refused(capsys, "mine.toml:2", "--rules", "rules", "one.patch")
