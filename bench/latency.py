"""How long one patch takes: the whole command, beside the kernel's checkpatch on the same patches in the same run.

    python bench/latency.py --tree TREE --corpus CORPUS [--count 50] [--patchlint .venv/bin/patchlint]

Every time is wall time of a fresh process, from start to exit.  Prints median and 95th percentile of each command and
the slowest patches.  The first patch is run once before, so that a cold index or disk cache is told apart.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

PARTS = ("clean", "planted", "real", "series")


def main() -> None:
    """Measure and print."""
    options = arguments()
    patches = sample(options.corpus, options.count)
    review = [options.patchlint, "mbox", "--tree", str(options.tree), "--jobs", "1", "-q"]
    checkpatch = ["perl", str(options.tree / "scripts/checkpatch.pl"), f"--root={options.tree}", "--terse", "-q"]
    first = wall([*review, str(patches[0])])
    times: dict[str, list[tuple[float, Path]]] = {"patchlint": [], "checkpatch": []}
    for patch in patches:
        times["patchlint"].append((wall([*review, str(patch)]), patch))
        times["checkpatch"].append((wall([*checkpatch, str(patch)]), patch))
    print(f"{len(patches)} patches, tree {options.tree}; first run (index and disk cold or warm): {first:.2f} s")
    print(f"{'command':12} {'median':>8} {'p95':>8} {'max':>8}   (seconds)")
    for name, measured in times.items():
        print(f"{name:12} {' '.join(f'{value:8.2f}' for value in figures([taken for taken, _ in measured]))}")
    print("slowest:", ", ".join(f"{patch.name} {taken:.2f}" for taken, patch in sorted(times["patchlint"])[:-6:-1]))


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


def wall(command: list[str]) -> float:
    """Seconds of one run; anything but "clean" and "findings" stops the measurement."""
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    taken = time.perf_counter() - started
    if "checkpatch.pl" not in command[1] and done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    return taken


def figures(times: list[float]) -> tuple[float, float, float]:
    """Median, 95th percentile and maximum."""
    ordered = sorted(times)
    return statistics.median(ordered), ordered[int(len(ordered) * 0.95)], ordered[-1]


if __name__ == "__main__":
    main()
