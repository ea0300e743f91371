"""The kernel tree on disk: a git clone or a plain folder, read and never written.

Both classes are :class:`patchlint.source.TreeReader`.  Paths come from mail, so they are hostile: nothing outside the
tree is read, and no word of theirs ever reaches git as an option (object names travel over standard input).
"""

from __future__ import annotations

import logging
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from git import Git, GitCommandError, GitCommandNotFound

from patchlint.model import BaseKind, PatchlintError

MAX_FILE = 64 << 20
"""Bytes of the largest file read; the largest C file of the kernel has 22 MB."""

_ABBREVIATION = re.compile(r"[0-9a-f]{4,64}")
_DUBIOUS = re.compile(r"detected dubious ownership in repository at '([^']*)'")
_GIT_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_CONFIG", "GIT_NAMESPACE")
_KERNEL_MARKS = ("Makefile", "include/linux", "drivers", "kernel")
_SOURCE_SUFFIXES = (".c", ".h")


class GitPlace(NamedTuple):
    """Where a repository is: its work tree (None when bare) and its git folder."""

    top: Path | None
    folder: Path


def safe_path(path: str) -> bool:
    """Whether a path from a patch names something inside the tree and outside ``.git``."""
    if not path or path.startswith("/") or "\0" in path or "\n" in path:
        return False
    return all(part not in ("", ".", "..") and part.lower() != ".git" for part in path.split("/"))


def is_kernel_tree(folder: Path) -> bool:
    """Whether a folder looks like the top of a kernel tree."""
    return all((folder / mark).exists() for mark in _KERNEL_MARKS)


class FolderTree:
    """A plain folder; knows no revisions and no blobs."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.kind: BaseKind = "head"
        self.rev = ""

    def read(self, path: str) -> bytes | None:
        """Contents of ``path``; None when absent, no regular file, too large, or reached by a link out of the tree."""
        if not safe_path(path):
            return None
        try:
            real = (self.root / path).resolve(strict=True)
            status = real.stat()
            if not real.is_relative_to(self.root) or not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE:
                return None
            return real.read_bytes()
        except (OSError, RuntimeError):
            return None

    def blob(self, blob_id: str) -> bytes | None:
        """A folder has no objects."""
        return None


class GitTree:
    """A git clone at one commit, read through one persistent ``git cat-file --batch``.

    Not to be shared between threads or processes: open one for each.
    """

    def __init__(self, git: Git, place: GitPlace, rev: str, kind: BaseKind) -> None:
        self.git = git
        self.place = place
        self.root = (place.top or place.folder).resolve()
        self.rev = rev
        self.kind: BaseKind = kind

    def at(self, rev: str, kind: BaseKind) -> GitTree:
        """The same clone at another commit (full id), sharing the git process."""
        return GitTree(self.git, self.place, rev, kind)

    def resolve(self, revision: str) -> str | None:
        """Full id of the commit that ``revision`` names, or None."""
        if not revision or any(mark in revision for mark in "\n\0 "):
            return None
        found = self._object(f"{revision}^{{commit}}")
        return found[0] if found and found[1] == "commit" else None

    def read(self, path: str) -> bytes | None:
        """Contents of ``path`` at the commit, or None."""
        return self._blob(f"{self.rev}:{path}") if self.rev and safe_path(path) else None

    def blob(self, blob_id: str) -> bytes | None:
        """The blob an ``index`` line names by (abbreviated) id; None when missing, ambiguous or a placeholder."""
        if not _ABBREVIATION.fullmatch(blob_id) or len(set(blob_id)) == 1:
            return None
        return self._blob(blob_id)

    def _blob(self, name: str) -> bytes | None:
        found = self._object(name)
        return found[2] if found and found[1] == "blob" else None

    def _object(self, name: str) -> tuple[str, str, bytes] | None:
        """(id, type, data) of an object; data is empty for objects over the limit."""
        try:
            hexsha, kind, size, stream = self.git.stream_object_data(name)
            if size > MAX_FILE:
                while stream.read(1 << 20):
                    pass
                return _text(hexsha), "large", b""
            return _text(hexsha), _text(kind), stream.read(size)
        except ValueError as error:
            if "SHA is empty" in str(error):
                raise PatchlintError(f"{self.root}: git stopped answering") from error
            return None
        except OSError as error:
            raise PatchlintError(f"{self.root}: git stopped answering: {error}") from error

    def close(self) -> None:
        """End the git process."""
        self.git.clear_cache()


Tree = GitTree | FolderTree


def open_tree(folder: Path, base: str | None = None) -> Tree:
    """Open the tree the user named.

    ``base`` is a revision to review against (clones only).  Raises PatchlintError when the folder is no tree, the
    repository cannot be used or the revision is unknown.
    """
    if not folder.is_dir():
        raise PatchlintError(f"--tree {folder}: no such folder")
    place = find_repository(folder)
    if place is not None and _is_clone(folder, place):
        return _open_clone(folder, place, base)
    if base is not None:
        raise PatchlintError(f"--base {base}: {folder} is no git clone")
    if not _holds_sources(folder):
        raise PatchlintError(f"--tree {folder}: neither a git clone nor a folder with C sources")
    return FolderTree(folder)


def default_tree(folder: Path, base: str | None = None) -> Tree | None:
    """The git work tree that ``folder`` stands in when it is a kernel tree; otherwise None."""
    try:
        place = find_repository(folder)
    except PatchlintError:
        return None
    if place is None or place.top is None or not is_kernel_tree(place.top):
        return None
    return _open_clone(place.top, place, base)


def find_repository(folder: Path) -> GitPlace | None:
    """The repository that holds ``folder``, or None. Raises PatchlintError for one that git refuses to use."""
    for name in _GIT_VARIABLES:
        # Set by git for its hooks; they would turn every question about --tree into one about another repository.
        os.environ.pop(name, None)
    git = _git(folder)
    try:
        text = git.rev_parse("--is-bare-repository", "--absolute-git-dir", "--show-cdup")
    except GitCommandNotFound:
        return None
    except GitCommandError as error:
        _refuse_dubious(str(error.stderr))
        return None
    answer = str(text).split("\n")
    git_folder = Path(answer[1])
    if answer[0] == "true":
        return GitPlace(None, git_folder)
    up = answer[2] if len(answer) > 2 else ""
    return GitPlace((folder / up).resolve(), git_folder)


def format_range(tree: GitTree, revisions: str) -> tuple[GitTree, bytes]:
    """The commits of ``A..B`` as an mbox, and the tree at the commit they grow from.

    Raises PatchlintError for unknown revisions or an empty range.
    """
    first, dots, last = revisions.partition("..")
    last = last.removeprefix(".")
    old = _commit(tree, first or "HEAD")
    new = _commit(tree, (last or "HEAD") if dots else "HEAD")
    try:
        base = str(tree.git.merge_base(old, new))
        mbox = tree.git.format_patch(
            "--stdout", "--numbered", "--full-index", "--no-signature", "--no-cover-letter", "--no-attach",
            "--no-thread", "--no-ext-diff", "--no-textconv", "--no-notes", "--no-color", "--src-prefix=a/",
            "--dst-prefix=b/", "--subject-prefix=PATCH", f"{base}..{new}",
            stdout_as_string=False, strip_newline_in_stdout=False,
        )  # fmt: skip
    except GitCommandError as error:
        raise PatchlintError(f"{revisions}: {_last_line(str(error.stderr)) or 'no common history'}") from error
    if not mbox:
        raise PatchlintError(f"{revisions}: no commits in this range")
    return tree.at(base, "commit"), bytes(mbox)


def _commit(tree: GitTree, revision: str) -> str:
    found = tree.resolve(revision)
    if found is None:
        raise PatchlintError(f"{revision}: no such commit in {tree.root}")
    return found


def _git(folder: Path) -> Git:
    # GitPython logs every failing command on its own; our one line on standard error is enough.
    logging.getLogger("git").setLevel(logging.CRITICAL)
    git = Git(str(folder))
    git.set_persistent_git_options(c="core.disambiguate=blob")
    git.update_environment(GIT_OPTIONAL_LOCKS="0", GIT_NO_LAZY_FETCH="1", LC_ALL="C", GIT_NO_REPLACE_OBJECTS="1")
    return git


def _open_clone(folder: Path, place: GitPlace, base: str | None) -> GitTree:
    tree = GitTree(_git(folder), place, "", "head")
    if base is not None:
        return tree.at(_commit(tree, base), "commit")
    head = tree.resolve("HEAD")
    if head is None:
        raise PatchlintError(f"--tree {folder}: the clone has no commit")
    return tree.at(head, "head")


def _is_clone(folder: Path, place: GitPlace) -> bool:
    """Whether the folder is the clone or part of a kernel clone; a folder kept in another project's clone is not."""
    if place.top is None or folder.resolve() == place.top:
        return True
    return is_kernel_tree(place.top)


def _holds_sources(folder: Path) -> bool:
    """Whether C files lie in the folder or up to three levels below it."""
    if is_kernel_tree(folder):
        return True
    for top, folders, names in os.walk(folder):
        if any(name.endswith(_SOURCE_SUFFIXES) for name in names):
            return True
        if len(Path(top).relative_to(folder).parts) >= 3:
            folders.clear()
    return False


def _refuse_dubious(text: str) -> None:
    found = _DUBIOUS.search(text)
    if found:
        place = found.group(1)
        raise PatchlintError(
            f"{place} belongs to another user; to trust it: git config --global --add safe.directory {place}"
        )


def _text(word: str | bytes) -> str:
    """GitPython says str and gives bytes."""
    return word.decode("ascii") if isinstance(word, bytes) else word


def _last_line(text: str) -> str:
    lines = [line.strip(" '") for line in text.splitlines() if line.strip(" '")]
    return lines[-1] if lines else ""
