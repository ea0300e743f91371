"""PATHs to bytes: files, compressed files, folders, standard input, and refusals in one line."""

from __future__ import annotations

import gzip
import io
import lzma
import os
from pathlib import Path

import pytest

from patchlint.host import inputs
from patchlint.host.inputs import natural, read_inputs
from patchlint.model import PatchlintError

MAIL = b"Subject: [PATCH] x\n\nText.\n"


def read(*paths: Path | str, stdin: bytes = b"") -> list[tuple[bytes, str]]:
    return list(read_inputs([str(p) for p in paths], io.BytesIO(stdin)))


def names(folder: Path) -> list[str]:
    return [Path(name).name for _, name in read(folder)]


def refusal(*paths: Path | str, stdin: bytes = b"") -> str:
    with pytest.raises(PatchlintError) as caught:
        read(*paths, stdin=stdin)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_file_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "x.eml").write_bytes(MAIL)
    assert read(tmp_path / "x.eml", "-", stdin=b"y") == [(MAIL, str(tmp_path / "x.eml")), (b"y", "<stdin>")]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_compressed_data_is_told_by_its_first_bytes(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    (tmp_path / "x").write_bytes(pack(MAIL))
    assert read(tmp_path / "x", "-", stdin=pack(MAIL)) == [(MAIL, str(tmp_path / "x")), (MAIL, "<stdin>")]


def test_gzip_members_are_joined(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"a", mtime=0) + gzip.compress(b"b"))
    assert read(tmp_path / "x.gz")[0][0] == b"ab"


def test_a_folder_is_sorted_as_humans_number(tmp_path: Path) -> None:
    for name in (
        "10-j.patch",
        "9-i.patch",
        "v2-0002-b.patch",
        "v2-0010-c.patch",
        "0001-a.patch",
        "0000-cover-letter.patch",
    ):
        (tmp_path / name).write_bytes(MAIL)
    assert names(tmp_path) == [
        "0000-cover-letter.patch", "0001-a.patch", "9-i.patch", "10-j.patch", "v2-0002-b.patch", "v2-0010-c.patch",
    ]  # fmt: skip


def test_what_is_no_patch_is_left_out(tmp_path: Path) -> None:
    for name in ("a.patch", "a.patch~", "a.patch.orig", ".hidden.patch", "README", "b.mbox.gz"):
        (tmp_path / name).write_bytes(MAIL)
    (tmp_path / "sub.patch").mkdir()
    os.mkfifo(tmp_path / "pipe.patch")
    (tmp_path / "dangling.patch").symlink_to("nowhere")
    assert names(tmp_path) == ["a.patch", "b.mbox.gz"]


def test_a_maildir(tmp_path: Path) -> None:
    for name in ("cur/2.host:2,S", "new/10.host", "tmp/3.host", "cur/1.host"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(MAIL)
    assert names(tmp_path) == ["1.host", "2.host:2,S", "10.host"]


def test_an_mh_folder(tmp_path: Path) -> None:
    for name in ("10", "9", "notes"):
        (tmp_path / name).write_bytes(MAIL)
    assert names(tmp_path) == ["9", "10"]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "gone.mbox") == f"{tmp_path}/gone.mbox: No such file or directory"
    assert refusal(tmp_path) == f"{tmp_path}: no patches in this folder"
    assert refusal("a\0b") == "'a\\x00b': not a file name"
    assert "File name too long" in refusal("x" * 5000)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (gzip.compress(MAIL, mtime=0)[:-4], "the gzip data ends too early"),
        (b"\x1f\x8b nonsense", "damaged gzip data"),
        (lzma.compress(MAIL)[:-20], "the xz data ends too early"),
        (b"\xfd7zXZ\0nonsense", "damaged xz data"),
    ],
)
def test_damaged_archives_are_named(data: bytes, text: str) -> None:
    assert refusal("-", stdin=data).startswith(f"<stdin>: {text}")


def test_sizes_are_bounded_before_and_after_decompression(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(inputs, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(inputs, "MAX_TOTAL", 3 << 19)
    bomb = bytes(50 << 20)
    for data in (bytes((1 << 20) + 1), gzip.compress(bomb, mtime=0), lzma.compress(bomb)):
        assert refusal("-", stdin=data) == "<stdin>: larger than 1 MiB; split the mailbox"
    assert refusal("/dev/zero") == "/dev/zero: larger than 1 MiB; split the mailbox"
    for name in ("a.mbox", "b.mbox"):
        (tmp_path / name).write_bytes(bytes(1 << 20))
    assert "MiB of mail in all" in refusal(tmp_path)


def test_natural_order_has_no_surprises() -> None:
    assert sorted(["a10", "a9", "b1", "a", "10a", "9", "²"], key=natural) == ["9", "10a", "a", "a9", "a10", "b1", "²"]
