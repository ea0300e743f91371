"""The index on disk: what is built, kept, brought up to date and mended."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from patchlint.callgraph import TreeIndex
from patchlint.host import index_build, index_db, index_workers
from patchlint.host.index_db import VERSION
from patchlint.host.index_store import IndexStore, Silent, index_path, open_index
from patchlint.host.tree import open_tree
from patchlint.model import PatchlintError

FILES = 12

# Runs in another process: builds with many small segments; argv: tree, and after how many files it kills itself.
BUILDER = """
import os, signal, sys
from pathlib import Path
from patchlint.host import index_build
from patchlint.host.index_store import Silent, open_index
from patchlint.host.tree import open_tree
index_build.CHUNK = 3
class Deadly(Silent):
    def advance(self, done, total):
        if done >= int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
progress = Deadly()
index = open_index(open_tree(Path(sys.argv[1])), progress)
print(len(index.callers("shared")), *progress.notes, sep="\\n")
"""


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def git(root: Path, *words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "cache"
    monkeypatch.setenv("PATCHLINT_CACHE_DIR", str(folder))
    yield folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for number in range(FILES):
        write(root, f"drivers/d{number}.c", f"static int own{number}(void)\n{{\n\treturn shared({number});\n}}\n")
    write(root, "lib/shared.c", "int shared(int n)\n{\n\treturn n;\n}\n")
    write(root, "README", "shared(1) is no C\n")
    return root


@pytest.fixture
def clone(folder: Path) -> Path:
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return folder


def opened(root: Path, progress: Silent | None = None, base: str | None = None) -> TreeIndex:
    return open_index(open_tree(root, base), progress)


def callers(index: TreeIndex) -> list[str]:
    return [site.function for site in index.callers("shared")]


def path_of(root: Path) -> Path:
    return index_path(open_tree(root))


def test_a_folder_and_its_clone_give_the_same_answers(folder: Path, cache: Path) -> None:
    first = opened(folder)
    plain = [first.callers("shared"), first.definitions("shared")]
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    second = opened(folder)
    assert [second.callers("shared"), second.definitions("shared")] == plain
    assert len(plain[0]) == FILES
    assert len(list(cache.glob("*.sqlite"))) == 2


def test_only_new_contents_are_scanned(clone: Path) -> None:
    opened(clone)
    write(clone, "drivers/d1.c", "int other(void)\n{\n}\n")
    write(clone, "drivers/copy.c", (clone / "drivers/d2.c").read_text())
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "two")
    progress = Silent()
    index = opened(clone, progress)
    assert progress.scanned == 1
    assert len(callers(index)) == FILES
    old = Silent()
    assert len(callers(opened(clone, old, "HEAD~1"))) == FILES
    assert old.scanned == 0


def test_a_changed_folder_is_noticed(folder: Path) -> None:
    opened(folder)
    write(folder, "drivers/new.c", "int f(void)\n{\n\treturn shared(1) + shared(2);\n}\n")
    (folder / "drivers/d0.c").unlink()
    progress = Silent()
    assert len(callers(opened(folder, progress))) == FILES + 1
    assert progress.scanned == 1


def test_nothing_is_written_into_the_tree(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    opened(folder)
    assert sorted(folder.rglob("*")) == before


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside/x.c", "int x(void)\n{\n\treturn shared(1);\n}\n")
    (folder / "drivers/link.c").symlink_to(tmp_path / "outside/x.c")
    (folder / "drivers/away").symlink_to(tmp_path / "outside")
    assert len(callers(opened(folder))) == FILES


def test_a_killed_build_is_taken_up(clone: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", BUILDER, str(clone), "4"], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    progress = Silent()
    index = opened(clone, progress)
    assert len(callers(index)) == FILES
    assert 0 < progress.scanned < FILES
    assert any(f"of {FILES + 1} files are new" in note for note in progress.notes)


def test_two_builds_at_once(clone: Path) -> None:
    command = [sys.executable, "-c", BUILDER, str(clone), "1000"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate(timeout=60)[0].splitlines() for process in both]
    assert [answer[0] for answer in answers] == [str(FILES)] * 2
    connection = sqlite3.connect(path_of(clone))
    assert connection.execute("SELECT count(*), count(DISTINCT sha) FROM blob").fetchone() == (FILES + 1, FILES + 1)
    connection.close()


def test_a_build_by_another_process_is_waited_for(clone: Path) -> None:
    path = path_of(clone)
    path.parent.mkdir(parents=True)
    holder = subprocess.Popen(
        [sys.executable, "-c", "import fcntl, os, sys, time\n"
         "f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); f.write(str(os.getpid())); f.flush()\n"
         "print('held', flush=True); time.sleep(1)", f"{path}.lock"], stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdout is not None
    holder.stdout.readline()
    progress = Silent()
    assert len(callers(opened(clone, progress))) == FILES
    assert f"tree index: waiting for process {holder.pid}, which builds it" in progress.notes
    holder.wait()


def damage(root: Path, how: str) -> None:
    path = path_of(root)
    data = path.read_bytes()
    if how == "garbage":
        path.write_bytes(b"\xa5" * len(data))
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "holes":
        path.write_bytes(data[:4096] + b"\x00" * (len(data) - 4096))
    elif how == "older":
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA user_version = {VERSION - 1}")
        connection.close()
    elif how == "other":
        path.unlink()
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE tree (x)")
        connection.close()


@pytest.mark.parametrize("how", ["garbage", "cut", "holes", "older", "other"])
def test_an_unusable_file_is_built_anew(clone: Path, how: str) -> None:
    store = opened(clone).store
    assert isinstance(store, IndexStore)
    store.close()
    damage(clone, how)
    progress = Silent()
    assert len(callers(opened(clone, progress))) == FILES
    assert any("cannot be used" in note and "built anew" in note for note in progress.notes)
    again = Silent()
    assert len(callers(opened(clone, again))) == FILES
    assert again.notes == []


def test_an_empty_file_is_filled(clone: Path) -> None:
    store = opened(clone).store
    assert isinstance(store, IndexStore)
    store.close()
    damage(clone, "empty")
    assert len(callers(opened(clone))) == FILES


def test_damage_that_shows_only_when_asked(clone: Path) -> None:
    progress = Silent()
    index = opened(clone, progress)
    connection = sqlite3.connect(path_of(clone))
    connection.execute("UPDATE posting SET data = x'00112233'")
    connection.commit()
    connection.close()
    assert len(callers(index)) == FILES
    assert any("built anew" in note for note in progress.notes)


def test_a_full_disk_is_told_and_the_next_run_goes_on(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        write(clone, f"drivers/big{number}.c", "".join(f"int word{number}_{at};\n" for at in range(300)))
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "more")
    connect = sqlite3.connect

    def small(path: Path, timeout: float, isolation_level: None) -> sqlite3.Connection:
        connection = connect(path, timeout=timeout, isolation_level=isolation_level)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    monkeypatch.setattr(index_build, "CHUNK", 10)
    with monkeypatch.context() as full:
        full.setattr(sqlite3, "connect", small)
        with pytest.raises(PatchlintError, match=r"cannot be written .*full"):
            opened(clone)
    progress = Silent()
    assert len(callers(opened(clone, progress))) == FILES
    assert 0 < progress.scanned < FILES + 41


def test_a_cache_folder_that_cannot_be_made(clone: Path, cache: Path) -> None:
    cache.write_text("a file stands in the way")
    with pytest.raises(PatchlintError, match="no folder for the tree index"):
        opened(clone)


def test_many_small_updates_are_merged(clone: Path) -> None:
    opened(clone)
    for number in range(18):
        write(clone, "drivers/d1.c", f"int changed{number}(void)\n{{\n}}\n")
        git(clone, "commit", "-qam", f"n{number}")
        index = opened(clone)
    assert [found.file for found in index.definitions("changed17")] == ["drivers/d1.c"]
    assert len(callers(index)) == FILES - 1
    connection = sqlite3.connect(path_of(clone))
    assert connection.execute("SELECT count(*) FROM segment").fetchone()[0] < 17
    connection.close()


def test_what_was_worked_out_is_kept(clone: Path) -> None:
    store = opened(clone).store
    assert isinstance(store, IndexStore)
    store.remember("flow", b"key", "value")
    assert store.remembered("flow", b"key") == "value"
    store.close()
    assert opened(clone).store.remembered("flow", b"key") == "value"


def test_what_was_worked_out_is_forgotten_when_it_grows_too_large(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(clone).store
    assert isinstance(store, IndexStore)
    store.remember("flow", b"old", "value")
    store.flush()
    monkeypatch.setattr(index_db, "MOST_PAGES", 0)
    store.remember("flow", b"new", "value")
    store.flush()
    assert (store.remembered("flow", b"old"), store.remembered("flow", b"new")) == (None, "value")


def test_several_processes_build(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_build, "CHUNK", 3)
    monkeypatch.setattr(index_build, "ALONE", 0)
    index = open_index(open_tree(folder), jobs=3)
    assert len(callers(index)) == FILES


def test_a_worker_that_dies_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_build, "CHUNK", 3)
    monkeypatch.setattr(index_build, "ALONE", 0)

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with monkeypatch.context() as deadly:
        deadly.setattr(index_workers, "open_reader", die)
        with pytest.raises(PatchlintError, match="was killed"):
            open_index(open_tree(folder), jobs=2)
    assert len(callers(opened(folder))) == FILES


def test_odd_names_of_files(folder: Path) -> None:
    odd = os.fsdecode("drivers/gr\xfc\xdfe \xff.c".encode("latin-1"))
    write(folder, odd, "int odd(void)\n{\n\treturn shared(1);\n}\n")
    index = opened(folder)
    assert "odd" in callers(index)
    assert any(site.file == odd for site in index.callers("shared"))
