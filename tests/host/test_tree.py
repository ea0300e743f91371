import os
import subprocess
from pathlib import Path

import pytest

from patchlint.host.tree import FolderTree, GitTree, default_tree, format_range, open_tree, safe_path
from patchlint.model import PatchlintError

OLD, NEW = b"int one;\n", b"int two;\n"


def git(folder: Path, *words: str) -> str:
    names = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", *words], cwd=folder, env={**os.environ, **names}, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    (folder / "net").mkdir(parents=True)
    git(folder, "init", "-q")
    for content in (OLD, NEW):
        (folder / "net/a.c").write_bytes(content)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", content.decode())
    return folder


def opened(folder: Path, base: str | None = None) -> GitTree:
    tree = open_tree(folder, base)
    assert isinstance(tree, GitTree)
    return tree


def test_reads_the_head_and_exact_blobs(clone: Path) -> None:
    tree = opened(clone)
    (clone / "net/a.c").write_bytes(b"not committed")
    old = git(clone, "rev-parse", "HEAD~1:net/a.c")
    assert tree.read("net/a.c") == NEW
    assert tree.blob(old) == tree.blob(old[:9]) == OLD
    assert tree.kind == "head" and tree.rev == git(clone, "rev-parse", "HEAD")


def test_reads_another_commit(clone: Path) -> None:
    assert opened(clone, "HEAD~1").read("net/a.c") == OLD
    assert opened(clone, "HEAD~1").kind == "commit"


@pytest.mark.parametrize("blob", ["0000000", "1111111", "dead", "deadbeef", "HEAD", "--help", "", "HEAD:net/a.c"])
def test_no_blob_for_placeholders_and_odd_words(clone: Path, blob: str) -> None:
    assert opened(clone).blob(blob) is None


@pytest.mark.parametrize(
    "path", ["../a.c", "/etc/passwd", "net/../net/a.c", ".git/config", "net", "a\nHEAD", "", "x\0"]
)
def test_no_path_leads_out_of_the_tree(clone: Path, path: str) -> None:
    (clone.parent / "a.c").write_bytes(b"outside")
    assert opened(clone).read(path) is None
    assert FolderTree(clone).read(path) is None


def test_a_newline_in_a_name_does_not_desynchronise_git(clone: Path) -> None:
    tree = opened(clone)
    assert tree.resolve("HEAD\nHEAD:net/a.c") is None
    assert tree.read("net/a.c") == NEW


def test_a_folder_follows_no_link_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "secret.h").write_bytes(b"secret")
    (tmp_path / "tree/in.h").write_bytes(b"inside")
    (tmp_path / "tree/out.h").symlink_to(tmp_path / "secret.h")
    (tmp_path / "tree/alias.h").symlink_to("in.h")
    os.mkfifo(tmp_path / "tree/pipe.h")
    tree = FolderTree(tmp_path / "tree")
    assert (tree.read("in.h"), tree.read("alias.h"), tree.read("out.h"), tree.read("pipe.h")) == (
        b"inside",
        b"inside",
        None,
        None,
    )


@pytest.mark.parametrize("revision", ["--output=/tmp/patchlint-injected", "-h", "nowhere", "HEAD HEAD", ""])
def test_a_revision_is_never_an_option(clone: Path, revision: str) -> None:
    assert opened(clone).resolve(revision) is None
    with pytest.raises(PatchlintError, match="no such commit"):
        open_tree(clone, revision)
    assert not Path("/tmp/patchlint-injected").exists()


def test_range_is_an_mbox_on_its_base(clone: Path) -> None:
    base, mbox = format_range(opened(clone), "HEAD~1..HEAD")
    assert base.rev == git(clone, "rev-parse", "HEAD~1") and base.read("net/a.c") == OLD
    assert mbox.count(b"\nSubject: [PATCH 1/1]") == 1 and b"+int two;" in mbox
    with pytest.raises(PatchlintError, match="no commits"):
        format_range(opened(clone), "HEAD..HEAD")


def test_what_is_no_tree_is_refused_in_one_line(tmp_path: Path) -> None:
    for folder in (tmp_path / "missing", tmp_path):
        with pytest.raises(PatchlintError) as caught:
            open_tree(folder)
        assert "\n" not in str(caught.value) and str(folder) in str(caught.value)


def test_an_empty_clone_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(PatchlintError, match="no commit"):
        open_tree(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_clone_of_another_user_gets_the_remedy(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chown(clone, 12345, 12345)
    monkeypatch.setenv("HOME", str(clone.parent))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    with pytest.raises(PatchlintError, match=r"git config --global --add safe.directory .*clone$"):
        open_tree(clone)


def test_variables_of_a_hook_do_not_lead_astray(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert opened(clone).read("net/a.c") == NEW


def test_only_a_kernel_tree_is_taken_by_itself(clone: Path) -> None:
    assert default_tree(clone) is None
    for name in ("include/linux", "drivers", "kernel"):
        (clone / name).mkdir(parents=True)
    (clone / "Makefile").touch()
    found = default_tree(clone / "net")
    assert found is not None and found.root == clone.resolve()


def test_names_of_paths() -> None:
    assert safe_path("net/ipv4/udp.c") and not safe_path("net//udp.c") and not safe_path("a/.GIT/x")
