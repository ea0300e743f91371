"""What a whole-tree run reports: findings per 1,000 functions, and a random sample to be judged by reading.

Run ``python bench/tree.py TREE FOLDER... [--every N] [--sample N] [--seed N]``.  Takes each Nth C file below the
folders, with the index of the tree, and prints counts by rule and confidence, then the sample with its paths.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from itertools import chain, zip_longest
from pathlib import Path

from rich.console import Console

from patchlint.driver import Options, open_desk, review_files
from patchlint.model import Finding, Review

_GRADES = ("high", "medium")


def main() -> None:
    """Review, count, draw and print."""
    options = _arguments()
    tree = Path(options.tree)
    console = Console(highlight=False, soft_wrap=True)
    review = _review(tree, _files(tree, options.folders, options.every))
    functions = max(1, review.stats.get("functions", 0))
    found = [finding for finding in review.findings if finding.confidence in _GRADES]
    console.print(f"{functions} functions, {len(found)} findings, {1000 * len(found) / functions:.2f} per 1,000")
    for (rule, grade), count in Counter((one.rule, one.confidence) for one in found).most_common():
        console.print(f"{rule} {grade} {count}")
    for grade in _GRADES:
        graded = [finding for finding in found if finding.confidence == grade]
        chosen = random.Random(options.seed).sample(graded, min(options.sample // 2, len(graded)))
        for finding in sorted(chosen, key=lambda one: (one.file, one.line)):
            _show(console, finding)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--every", type=int, default=12, help="take each Nth file")
    parser.add_argument("--sample", type=int, default=60, help="findings to draw, half of each confidence")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _files(tree: Path, folders: list[str], every: int) -> list[Path]:
    listed = [sorted(tree.joinpath(folder).rglob("*.c"))[::every] for folder in folders]
    return [path for path in chain.from_iterable(zip_longest(*listed)) if path is not None]


def _review(tree: Path, files: list[Path]) -> Review:
    (review,) = review_files(open_desk(Options(tree=tree)), files)
    return review


def _show(console: Console, finding: Finding) -> None:
    where = f"{finding.file}:{finding.line} {finding.function}"
    console.print(f"\n{finding.rule} {finding.confidence} {where}\n  {finding.message}", markup=False)
    for step in finding.trace:
        console.print(f"    {step.file}:{step.line}: {step.what}", markup=False)


if __name__ == "__main__":
    main()
