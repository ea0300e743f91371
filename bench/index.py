"""Measure the tree index: cold build, warm start, a change of 100 files, beside ``git grep`` on the same tree.

usage: python bench/index.py TREE [--jobs N]

TREE is a git clone of a kernel and is not written to: the change of 100 files is made in a repository that borrows its
objects.  Prints one table; every figure is of this run.  Processor seconds tell more than wall time on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from patchlint.callgraph import static_keys, table_entries
from patchlint.host.index_store import Silent, index_path, open_index
from patchlint.host.tree import GitTree, open_tree

WORD = "static_branch_inc"
CHANGED = 100


def timed(work: Callable[[], object]) -> float:
    """Seconds of wall time."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def peak(jobs: int) -> float:
    """Megabytes at the peak, counted as if every worker had been as large as the largest."""
    own, workers = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return (own + jobs * workers) / 1024


def processor() -> float:
    """Processor seconds of this process and its ended children."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def git(*words: str, cwd: Path, text: str = "", **environment: str) -> str:
    """Output of a git command."""
    both = {**os.environ, **environment}
    done = subprocess.run(["git", *words], cwd=cwd, input=text, capture_output=True, text=True, check=True, env=both)
    return done.stdout.strip()


def changed_clone(tree: Path, scratch: Path) -> Path:
    """A bare repository that borrows the tree's objects, with one more commit that changes 100 C files."""
    clone = scratch / "changed.git"
    git("init", "-q", "--bare", str(clone), cwd=scratch)
    objects = Path(git("rev-parse", "--path-format=absolute", "--git-path", "objects", cwd=tree))
    (clone / "objects/info/alternates").write_text(f"{objects}\n")
    head = git("rev-parse", "HEAD", cwd=tree)
    git("update-ref", "refs/heads/base", head, cwd=clone)
    own = {"GIT_INDEX_FILE": str(scratch / "index")}
    git("read-tree", head, cwd=clone, **own)
    paths = [path for path in git("ls-tree", "-r", "--name-only", head, cwd=clone).splitlines() if path.endswith(".c")]
    lines = []
    for path in paths[:: len(paths) // CHANGED][:CHANGED]:
        text = subprocess.run(["git", "show", f"{head}:{path}"], cwd=clone, capture_output=True, check=True).stdout
        (scratch / "file").write_bytes(text + b"/* changed */\n")
        lines.append(f"100644 {git('hash-object', '-w', str(scratch / 'file'), cwd=clone)}\t{path}\n")
    git("update-index", "--index-info", cwd=clone, text="".join(lines), **own)
    who = {f"GIT_{role}_{what}": "bench@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    commit = git("commit-tree", git("write-tree", cwd=clone, **own), "-p", head, "-m", "100 files", cwd=clone, **who)
    git("update-ref", "HEAD", commit, cwd=clone)
    git("update-ref", "refs/heads/changed", commit, cwd=clone)
    return clone


def row(name: str, seconds: float, note: str = "") -> None:
    print(f"{name:52} {seconds:9.3f} s  {note}", flush=True)


def measure(tree: Path, scratch: Path, jobs: int) -> None:
    clone = changed_clone(tree, scratch)
    os.environ["PATCHLINT_CACHE_DIR"] = str(scratch / "cache")
    base, after = open_tree(clone, "base"), open_tree(clone, "changed")
    assert isinstance(base, GitTree)
    progress = Silent()
    before = processor()
    seconds = timed(lambda: open_index(base, progress, jobs))
    size = index_path(base).stat().st_size / 1e6
    row("cold build", seconds, f"{progress.scanned} contents, {size:.0f} MB on disk, {peak(jobs):.0f} MB of memory")
    row("  processor time", processor() - before, f"over {jobs} processes")
    warm = timed(lambda: open_index(base))
    row("warm start", warm)
    again = Silent()
    updated = timed(lambda: open_index(after, again, jobs))
    row(f"after a change of {CHANGED} files", updated, f"{again.scanned} contents scanned")
    index = open_index(base)
    row(f"callers of {WORD}", timed(lambda: index.callers(WORD)), f"{len(index.callers(WORD))} call sites")
    row("definitions of kfree_skb", timed(lambda: index.definitions("kfree_skb")))
    row("all static keys", timed(lambda: static_keys(index)), f"{len(static_keys(index))} places")
    row("tables that hold udp_v6_early_demux", timed(lambda: table_entries(index, "udp_v6_early_demux")))
    row(f"git grep -c {WORD} (work tree)", timed(lambda: git("grep", "-c", WORD, cwd=tree)))
    row(f"git grep -c {WORD} HEAD (objects)", timed(lambda: git("grep", "-c", WORD, "HEAD", cwd=tree)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="patchlint-bench-"))
    version, load = sys.version.split()[0], os.getloadavg()[0]
    print(f"{arguments.tree}, {arguments.jobs} processes, load {load:.1f}, Python {version}")
    try:
        measure(arguments.tree.resolve(), scratch, arguments.jobs)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
