"""Application in memory against ``git apply --cached``: same verdict, same blobs."""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_samples import MemoryTree

from patchlint.mail import read_mail
from patchlint.series import assemble
from patchlint.source import apply_patch, blob_id

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the oracle is git")

HERMETIC = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ.get("PATH", ""), "LC_ALL": "C",
}  # fmt: skip


class Git:
    """A bare-bones repository whose index is set up anew for each patch."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.run("init", "-q")

    def run(self, *args: str, data: bytes = b"", check: bool = True) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", *args], cwd=self.top, input=data, env=HERMETIC, capture_output=True, check=check, timeout=60
        )

    def apply(self, files: Mapping[str, bytes], patch: bytes) -> dict[str, str] | None:
        """Blob ids by path after the patch; None where git rejects it."""
        index = self.top / ".git" / "index"
        index.unlink(missing_ok=True)
        stream = b"".join(
            b"blob\nmark :%d\ndata %d\n%s\n" % (i, len(data), data) for i, data in enumerate(files.values(), 1)
        )
        marks = self.top / "marks"
        self.run("fast-import", "--quiet", f"--export-marks={marks}", data=stream)
        ids = dict(line.split() for line in marks.read_text().splitlines())
        info = "".join(f"100644 {ids[f':{i}']}\t{path}\n" for i, path in enumerate(files, 1))
        self.run("update-index", "--add", "--index-info", data=info.encode())
        if self.run("apply", "--cached", "-", data=patch, check=False).returncode:
            return None
        listed = self.run("ls-files", "-s", "-z").stdout.decode().split("\0")
        return {entry.split("\t")[1]: entry.split()[1] for entry in listed if entry}


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Git]:
    yield Git(tmp_path_factory.mktemp("oracle"))


def ours(files: Mapping[str, bytes], patch: bytes) -> dict[str, str] | None:
    """The same as :meth:`Git.apply`, in memory."""
    series = assemble(read_mail(patch, "oracle.patch"))
    (one,) = series[0].patches
    if one.problems:
        return None
    applied = apply_patch(one, {}, MemoryTree(files))
    if applied.applied == "failed":
        return None
    result = {**files, **applied.after}
    return {path: blob_id(data) for path, data in result.items() if data is not None}


# --- files and patches ---

LINE = st.sampled_from([b"", b"a", b"b", b"\tx = 1;", b"}", b"{", b"-", b"+", b"--", b"a ", b"\x0c", b"q\rq", b"\xff"])
LINES = st.lists(LINE, max_size=14)


@st.composite
def edited(draw: st.DrawFn, lines: list[bytes]) -> list[bytes]:
    """The lines after a few edits."""
    result = list(lines)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(result)))
        gone = draw(st.integers(0, 2))
        result[at : at + gone] = draw(st.lists(LINE, max_size=2))
    return result


def join(lines: list[bytes], newline: bool) -> bytes:
    return b"\n".join(lines) + (b"\n" if newline and lines else b"")


def split(data: bytes) -> list[bytes]:
    """Lines with their ends, at newlines only."""
    return [piece for piece in data.replace(b"\n", b"\n\0").split(b"\0") if piece]


def hunks(old: bytes, new: bytes, context: int, shift: int) -> bytes:
    """Unified hunks; ``shift`` moves all their line numbers."""
    a, b = split(old), split(new)
    out: list[bytes] = []
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        (i1, i2), (j1, j2) = (group[0][1], group[-1][2]), (group[0][3], group[-1][4])
        starts = [max(0, s + shift) + (1 if n else 0) for s, n in ((i1, i2 - i1), (j1, j2 - j1))]
        out.append(b"@@ -%d,%d +%d,%d @@\n" % (starts[0], i2 - i1, starts[1], j2 - j1))
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                out.extend(b" " + line for line in a[a1:a2])
            else:
                out.extend(b"-" + line for line in a[a1:a2])
                out.extend(b"+" + line for line in b[b1:b2])
    return b"".join(_ended(line) for line in out)


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def git_patch(body: bytes) -> bytes:
    return b"diff --git a/f.c b/f.c\n--- a/f.c\n+++ b/f.c\n" + body


def mail(diff: bytes) -> bytes:
    return b"From: A <a@example.org>\nSubject: [PATCH] x\n\nText.\n---\n\n" + diff


def agree(git: Git, files: Mapping[str, bytes], diff: bytes) -> None:
    patch = mail(diff)
    assert ours(files, patch) == git.apply(files, patch)


SLOW = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@SLOW
@given(st.data())
def test_the_file_the_patch_was_made_for(git: Git, data: st.DataObject) -> None:
    lines = data.draw(LINES)
    old = join(lines, data.draw(st.booleans()))
    new = join(data.draw(edited(lines)), data.draw(st.booleans()))
    body = hunks(old, new, data.draw(st.integers(0, 3)), data.draw(st.integers(-3, 3)))
    agree(git, {"f.c": old}, git_patch(body))


@SLOW
@given(st.data())
def test_another_version_of_the_file(git: Git, data: st.DataObject) -> None:
    lines = data.draw(LINES)
    old = join(lines, data.draw(st.booleans()))
    new = join(data.draw(edited(lines)), data.draw(st.booleans()))
    base = join(data.draw(edited(lines)), data.draw(st.booleans()))
    body = hunks(old, new, data.draw(st.integers(0, 3)), data.draw(st.integers(-2, 2)))
    agree(git, {"f.c": base}, git_patch(body))


@SLOW
@given(st.data())
def test_hunks_that_overlap_or_come_out_of_order(git: Git, data: st.DataObject) -> None:
    lines = data.draw(st.lists(LINE, min_size=4, max_size=14))
    old = join(lines, True)
    bodies = [
        hunks(old, join(data.draw(edited(lines)), True), data.draw(st.integers(0, 3)), data.draw(st.integers(-1, 1)))
        for _ in range(2)
    ]
    agree(git, {"f.c": old}, git_patch(b"".join(bodies)))


@st.composite
def file_operation(draw: st.DrawFn, old: bytes) -> bytes:
    """A diff that creates, deletes, renames, copies or changes one of the files a and b."""
    path, other = draw(st.permutations(["a.c", "b.c", "c.c"]))[:2]
    kind = draw(st.sampled_from(["new", "delete", "rename", "copy", "modify", "mode", "quilt"]))
    new = join(draw(edited([line.rstrip(b"\n") for line in split(old)])), draw(st.booleans()))
    head = f"diff --git a/{path} b/{other if kind in ('rename', 'copy') else path}\n"
    if kind == "new":
        body = hunks(b"", new, 3, 0)
        names = f"--- /dev/null\n+++ b/{path}\n" if body else ""
        return f"{head}new file mode 100644\n{names}".encode() + body
    if kind == "delete":
        body = hunks(old, b"", 3, 0)
        names = f"--- a/{path}\n+++ /dev/null\n" if body else ""
        return f"{head}deleted file mode 100644\n{names}".encode() + body
    if kind in ("rename", "copy"):
        head += f"similarity index 90%\n{kind} from {path}\n{kind} to {other}\n"
        body = hunks(old, new, 3, 0)
        return head.encode() + (f"--- a/{path}\n+++ b/{other}\n".encode() + body if body else b"")
    if kind == "mode":
        return f"{head}old mode 100644\nnew mode 100755\n".encode()
    if kind == "quilt" and old != new:
        names = f"--- linux.orig/{path}\t2020-01-01 00:00:00.0 +0000\n+++ linux/{path}\n"
        return names.encode() + hunks(old, new, 3, 0)
    return f"{head}--- a/{path}\n+++ b/{path}\n".encode() + hunks(old, new, 3, 0)


@SLOW
@given(st.data())
def test_files_created_deleted_renamed_and_copied(git: Git, data: st.DataObject) -> None:
    old = join(data.draw(LINES), data.draw(st.booleans()))
    files = {name: old for name in ("a.c", "b.c") if data.draw(st.booleans())}
    diffs = [data.draw(file_operation(old)) for _ in range(data.draw(st.integers(1, 2)))]
    if any(d.count(b"\n@@ ") for d in diffs) or any(b" mode " in d or b"rename" in d or b"copy" in d for d in diffs):
        agree(git, files, b"".join(diffs))
