"""How fast functions are judged, from bytes to findings, on one core.

Run ``python bench/engine.py TREE [--every N]``.  Prints functions per second of processor time, the share that
hit the bound of states, and the ten slowest functions.  Callees are known from the models and the file itself;
``--index`` asks the index of the tree too (built when it is missing).
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from patchlint.callgraph import TreeIndex
from patchlint.driver import Options, open_desk
from patchlint.host.collector import collect_rarely
from patchlint.host.rulefiles import load_ruleset
from patchlint.review import TreeKnowledge, View
from patchlint.review.examine import Examiner
from patchlint.review.functions import Site
from patchlint.review.spanning import spanning_in_tree
from patchlint.ruleset import Ruleset

_SLOWEST = 10
_KEPT_FILES = 400
_TOO_MANY = "too many paths"


class Timed(NamedTuple):
    """One function: what it cost and what came of it."""

    seconds: float
    name: str
    path: str
    findings: int
    bound_hit: bool


def main() -> None:
    """Measure and print."""
    options = _arguments()
    collect_rarely()  # as the command does
    tree = Path(options.tree)
    files = sorted(tree.joinpath(options.folder).rglob("*.c"))[:: options.every]
    ruleset, index = load_ruleset(), TreeIndex()
    if options.index:
        desk = open_desk(Options(tree=tree))
        ruleset, index = desk.ruleset, desk.index(desk.tree)
    with _profiled(options.profile):
        started = time.process_time()
        functions = list(_functions(tree, files, ruleset, index))
        seconds = time.process_time() - started
    _show(options.folder, len(files), functions, seconds)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree")
    parser.add_argument("--folder", default="net")
    parser.add_argument("--every", type=int, default=10, help="take each Nth file")
    parser.add_argument("--index", action="store_true")
    parser.add_argument("--profile", type=int, default=0, metavar="LINES")
    return parser.parse_args()


def _functions(tree: Path, files: list[Path], ruleset: Ruleset, index: TreeIndex) -> Iterator[Timed]:
    knowledge = TreeKnowledge(index, ruleset, frozenset(), None)
    for count, file in enumerate(files):
        if count % _KEPT_FILES == 0:
            knowledge = TreeKnowledge(index, ruleset, frozenset(), None)
        view = View(str(file.relative_to(tree)), file.read_bytes())
        state = {view.path: (view,)}
        examiner = Examiner(ruleset, knowledge)
        for head in view.unit.heads:
            before, skipped = time.process_time(), len(examiner.skipped)
            found = examiner.examine(Site(view, head), state, "tree")
            cost = time.process_time() - before
            hit = any(one.reason == _TOO_MANY for one in list(examiner.skipped)[skipped:])
            yield Timed(cost, head.name, view.path, len(found), hit)
        spanning_in_tree(state, ruleset, knowledge)


@contextmanager
def _profiled(lines: int) -> Iterator[None]:
    if not lines:
        yield
        return
    profile = cProfile.Profile()
    with profile:
        yield
    pstats.Stats(profile).sort_stats("tottime").print_stats(lines)


def _show(folder: str, files: int, functions: list[Timed], seconds: float) -> None:
    console = Console()
    count = max(1, len(functions))
    hits = sum(one.bound_hit for one in functions)
    table = Table("figure", "measured", "goal")
    table.add_row("files and functions", f"{files} and {len(functions)} of {folder}", "")
    table.add_row("functions per second", f"{len(functions) / seconds:.0f} ({seconds:.1f} s)", "1000")
    table.add_row("functions that hit the bound", f"{hits} ({100 * hits / count:.2f} %)", "< 0.2 %")
    table.add_row("findings of any confidence", f"{sum(one.findings for one in functions)}", "")
    console.print(table)
    slowest = Table("seconds", "function", "file")
    for one in sorted(functions, reverse=True)[:_SLOWEST]:
        slowest.add_row(f"{one.seconds:.2f}", one.name, one.path)
    console.print(slowest)


if __name__ == "__main__":
    main()
