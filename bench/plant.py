"""Recall on faults of our own making: one statement of a sound function removed or swapped, at random places of a tree.

Run ``python bench/plant.py TREE [--op OP,...] [--form edit|add] [--limit N] [--seed S] [--skip CASES.jsonl]``.  Each
planted fault becomes a patch mail and is reviewed in this process with the index of the tree: form ``edit`` changes
the sound function, in form ``add`` the faulty one arrives whole, so that nothing in the difference gives it away.
Printed are every miss and every other finding with its place, then, for each kind of fault, how many were planted and
found and how many other findings came with them.

The places are chosen by the text of the function alone, so a few plants are no faults: read the misses.  Known sorts
that are none: what is dropped was also put where others find it (a card, a list) and success keeps it there; the
function lets go of its caller's lock and takes it again; what is left out is code that no configuration builds; what
the other code does twice (a second put of the same reference).  Of the rest most are things that only a whole
subsystem tells: who a counter says is the last one, what a callee puts into a structure, locks taken for each element.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from faults import OPS as FORGOTTEN
from faults import Body, Edit, Op
from orders import ORDERS
from twins import Made, review

from patchlint.driver import Desk, Options, open_desk
from patchlint.model import Finding

OPS: Mapping[str, Op] = {**FORGOTTEN, **ORDERS}
_PER_FILE = 2
"""Plants of one kind in one file, so that no driver counts for many."""
_FUNCTION = re.compile(
    r"^[A-Za-z_][^;{}#]*?\b(?P<name>(?!__(?:releases|acquires|must_hold|printf)\b)\w+)\([^;{}]*?\)[^;{}()]*\n"
    r"\{\n(?P<body>.*?)^\}",
    re.M | re.S,
)
_NOT_C = frozenset(("Documentation", "tools", "samples", "scripts"))


class Plant(NamedTuple):
    """One fault: where it stands and the file before and after it."""

    op: str
    line: int
    text: str
    made: Made


# ------------------------------------------------------------------- where it is planted


def plants(
    tree: Path, wanted: Sequence[str], limit: int, seed: int, skip: frozenset[str], form: str
) -> Iterator[Plant]:
    """Up to ``limit`` plants of each kind, in the order in which the shuffled files hold them."""
    left = Counter(dict.fromkeys(wanted, limit))
    files = [path for path in sorted(tree.rglob("*.c")) if path.relative_to(tree).parts[0] not in _NOT_C]
    random.Random(seed).shuffle(files)
    for path in files:
        if not +left:
            return
        text = path.read_text("latin-1")
        asked = [op for op in +left if OPS[op].word in text]
        bodies = [body for body in _bodies(text) if body.name not in skip] if asked else []
        for op in asked:
            chance = random.Random(f"{seed} {op} {path.name}")  # whatever other kinds are asked for
            found = [(body, edit) for body in bodies for edit in OPS[op].edits(body)]
            chosen = {body.name: (body, edit) for body, edit in chance.sample(found, len(found))}
            for body, edit in [*chosen.values()][: min(_PER_FILE, left[op])]:
                left[op] -= 1
                yield _plant(op, path.relative_to(tree).as_posix(), text, body, edit, form)


def _bodies(text: str) -> Iterator[Body]:
    for match in _FUNCTION.finditer(text):
        head, first = (text.count("\n", 0, match.start(group)) for group in (0, "body"))
        yield Body(match["name"], head, first, match["body"].split("\n"), text[match.start() : match.start("name")])


def _plant(op: str, file: str, text: str, body: Body, edit: Edit, form: str) -> Plant:
    old = re.findall(r".*\n|.+$", text)  # not splitlines(), which also ends a line at a form feed
    new: list[str] = [*old]
    for at, line, _ in sorted((edit, *edit.also), reverse=True):
        place = body.first + at
        new[place : place + 1] = [] if line is None else [one + "\n" for one in line.split("\n")]
    if form == "add":
        first, last = body.head, body.first + len(body.lines)
        old = [*old[:first], *old[last:]]
    return Plant(op, body.first + edit.at + 1, body.lines[edit.at].strip(), Made(file, body.name, op, old, new))


# ------------------------------------------------------------------------ judging


class Score(NamedTuple):
    """What the review of one plant said."""

    plant: Plant
    found: bool
    others: tuple[Finding, ...]


def judged(desk: Desk, plant: Plant) -> Score:
    """Review one plant; found when a rule that may speak of it does, in the function or, for keys, in its file."""
    shown = [*review(desk, plant.made)]
    hits = [one for one in shown if _hit(plant, one)]
    return Score(plant, bool(hits), tuple(one for one in shown if one not in hits))


def _hit(plant: Plant, finding: Finding) -> bool:
    wide = finding.rule.startswith("KEY") and finding.file == plant.made.path
    return finding.rule in OPS[plant.op].rules and (finding.function == plant.made.function or wide)


def main() -> None:
    """Plant, review, count and print."""
    options = _arguments()
    skip = [json.loads(line)["function"] for path in options.skip for line in path.read_text().splitlines()]
    wanted = options.op.split(",") if options.op else [*OPS]
    desk = open_desk(Options(tree=options.tree))
    scores: dict[str, list[Score]] = defaultdict(list)
    skipped = frozenset(skip)
    for plant in plants(options.tree, wanted, options.limit, options.seed, skipped, options.form):
        score = judged(desk, plant)
        scores[plant.op].append(score)
        if not score.found:
            print(f"  MISS {plant.op} {plant.made.path}:{plant.line} {plant.made.function}: {plant.text}")
        for one in score.others:
            print(f"  OTHER {plant.op} {one.rule} {one.confidence} {one.file}:{one.line} {one.function}: {one.message}")
    for op, of_op in sorted(scores.items()):
        found, others = sum(one.found for one in of_op), sum(len(one.others) for one in of_op)
        print(f"{op:20} {found}/{len(of_op)} = {100 * found / len(of_op):.1f} %, {others} other findings")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--op", help="kinds of fault, with commas; default all: " + ", ".join(OPS))
    parser.add_argument("--form", choices=("edit", "add"), default="edit")
    parser.add_argument("--limit", type=int, default=50, help="plants of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=Path, action="append", default=[], help="cases whose functions are left alone")
    return parser.parse_args()


if __name__ == "__main__":
    main()
