"""How long one patch takes: the whole command, beside the kernel's checkpatch on the same patches in the same run.

    python bench/latency.py --tree TREE --corpus CORPUS [--count 50] [--patchlint .venv/bin/patchlint]

Every time is of a fresh process, from start to exit: wall time, and the processor time that it used (which a busy
machine does not stretch).  Prints median and 95th percentile of each command and the slowest patches.  The first patch
is run once before, so that a cold index or disk cache is told apart.  The start alone (``patchlint --version``) is set
against that of a bare interpreter.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

PARTS = ("clean", "planted", "real", "series")
STARTS = 9
ENV = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""An installed program is compiled: where this is set, whatever changed since would be compiled at every start."""


def main() -> None:
    """Measure and print."""
    options = arguments()
    patches = sample(options.corpus, options.count)
    review = [options.patchlint, "mbox", "--tree", str(options.tree), "--jobs", "1", "-q"]
    checkpatch = ["perl", str(options.tree / "scripts/checkpatch.pl"), f"--root={options.tree}", "--terse", "-q"]
    first = run([*review, str(patches[0])])
    times: dict[str, list[Taken]] = {"patchlint": [], "checkpatch": []}
    for patch in patches:
        times["patchlint"].append(run([*review, str(patch)]))
        times["checkpatch"].append(run([*checkpatch, str(patch)]))
    print(f"{len(patches)} patches, tree {options.tree}; first run (index and disk cold or warm): {first.wall:.2f} s")
    print(f"{'command':12} {'':9} {'median':>8} {'p95':>8} {'max':>8}   (seconds)")
    for name, measured in times.items():
        for kind in ("wall", "processor"):
            values = " ".join(f"{value:8.2f}" for value in figures([getattr(taken, kind) for taken in measured]))
            print(f"{name:12} {kind:9} {values}")
    slowest = sorted(zip(times["patchlint"], patches, strict=True))[:-6:-1]
    print("slowest:", ", ".join(f"{patch.name} {taken.wall:.2f}" for taken, patch in slowest))
    start, bare = quickest([options.patchlint, "--version"]), quickest([sys.executable, "-c", "pass"])
    print(f"start: {start:.3f} s, a bare interpreter {bare:.3f} s: {start / bare:.1f} times")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--patchlint", default=str(Path(sys.executable).with_name("patchlint")))
    return parser.parse_args()


def sample(corpus: Path, count: int) -> list[Path]:
    """Patches spread evenly over the parts of the corpus."""
    found: list[Path] = []
    for part in PARTS:
        files = sorted((corpus / part).glob("*.mbox"))
        share = max(1, count // len(PARTS))
        found += files[:: max(1, len(files) // share)][:share]
    if not found:
        sys.exit(f"{corpus}: no patches")
    return found[:count]


class Taken(NamedTuple):
    """Seconds of one run."""

    wall: float
    processor: float


def run(command: list[str]) -> Taken:
    """One run; anything but "clean" and "findings" stops the measurement."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False, env=ENV)
    taken = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if "checkpatch.pl" not in command[1] and done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    return Taken(taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def quickest(command: list[str]) -> float:
    """Wall time of the quickest of some runs: what the command itself takes on a busy machine."""
    return min(run(command).wall for _ in range(STARTS))


def figures(times: list[float]) -> tuple[float, float, float]:
    """Median, 95th percentile and maximum."""
    ordered = sorted(times)
    return statistics.median(ordered), ordered[int(len(ordered) * 0.95)], ordered[-1]


if __name__ == "__main__":
    main()
