"""Recall on faults of our own making: one statement of a sound function removed or swapped, at random places of a tree.

Run ``python bench/plant.py TREE [--op OP,...] [--limit N] [--seed S] [--skip CASES.jsonl] [--verbose]``.  Each planted
fault becomes a patch mail and is reviewed in this process with the index of the tree.  Printed are, for each kind of
fault, how many were planted and found and how many other findings came with them, then every miss with its place.
The places are chosen by the text of the function alone, so a few plants are no faults: read the misses.
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from patchlint.driver import Desk, Options, open_desk, review_mail
from patchlint.model import Finding

_SHOWN = ("introduced", "exposed", "transient")
_LEAKS = ("REF001", "MEM001", "PAIR001")
_PER_FILE = 2
"""Plants of one kind in one file, so that no driver counts for many."""
_FUNCTION = re.compile(
    r"^[A-Za-z_][^;{}#]*?\b(?P<name>(?!__(?:releases|acquires|must_hold|printf)\b)\w+)\([^;{}]*?\)[^;{}()]*\n"
    r"\{\n(?P<body>.*?)^\}",
    re.M | re.S,
)
_NOT_C = frozenset(("Documentation", "tools", "samples", "scripts"))


class Body(NamedTuple):
    """The lines of a function's body and the place of the first of them in the file (from 0)."""

    name: str
    first: int
    lines: list[str]


class Edit(NamedTuple):
    """What to write in place of one line (by its number in the body); None removes it."""

    at: int
    line: str | None


class Plant(NamedTuple):
    """One fault: where it stands and the mail that brings it."""

    op: str
    file: str
    function: str
    line: int
    text: str
    mail: str


class Op(NamedTuple):
    """A kind of fault: the rules that may speak of it, a word its files hold, the edits that a body allows."""

    rules: tuple[str, ...]
    word: str
    edits: Callable[[Body], Iterator[Edit]]


# ------------------------------------------------------------------ what is planted

_LOCKS = re.compile(
    r"^\s*(?:(?P<mutex>mutex)_unlock|(?P<spin>spin)_unlock(?:_bh|_irq|_irqrestore)?|(?:up)_(?P<sem>read|write)"
    r"|(?P<rw>read|write)_unlock(?:_bh|_irq|_irqrestore)?)\((?P<lock>[^,()]+(?:\([^()]*\))?[^,()]*)(?:, \w+)?\);$"
)
_TAKES_MEMORY = r"k[mzvc]\w*alloc\w*|kvm?alloc\w*|kmem\w*dup\w*|kstrn?dup\w*|v[mz]alloc\w*|kasprintf"
_TAKES_REFERENCE = (
    r"of_(?:get|find|parse_phandle|node_get)\w*|alloc_skb|\w+_skb_alloc|skb_(?:clone|copy)|nlmsg_new|genlmsg_new"
    r"|pci_get\w*|dev_get_by\w+|fget|bus_find_device\w*|class_find_device\w*|clk_get|get_device|try_module_get|alloc_page"
)
_GIVES = re.compile(
    r"^\s*(?:kv?free|kfree_skb|nlmsg_free|vfree|of_node_put|fput|pci_dev_put|dev_put|put_device|sock_put|clk_put"
    r"|ip_rt_put|dst_release|fwnode_handle_put|usb_put_dev|usb_free_urb|dev_kfree_skb\w*|kobject_put)\((?P<what>\w+)\);$"
)


def _drop_put(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        gives = _GIVES.match(line)
        takes = gives and re.compile(rf"\b{gives['what']} =\s+\(?(?:{_TAKES_MEMORY}|{_TAKES_REFERENCE})\(")
        if takes and takes.search("\n".join(body.lines[:at])):
            yield _without(body, at)


def _drop_unlock(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        gives = _LOCKS.match(line)
        if gives and any("lock" in one and _takes(gives, one) for one in body.lines[:at]):
            yield _without(body, at)


def _takes(gives: re.Match[str], line: str) -> bool:
    verb = "down_" if gives["sem"] else "lock"
    return f"({gives['lock']}" in line and verb in line and "unlock" not in line


def _drop_rcu(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        if re.match(r"\s*rcu_read_unlock(?:_bh)?\(\);$", line) and _opened(body, at):
            yield _without(body, at)


def _wrong_flavour(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        if re.match(r"\s*rcu_read_unlock(?:_bh|_sched)?\(\);$", line) and _opened(body, at):
            other = "rcu_read_unlock_bh" if "unlock()" in line else "rcu_read_unlock"
            yield Edit(at, re.sub(r"rcu_read_unlock\w*", other, line))


def _opened(body: Body, at: int) -> bool:
    return any("rcu_read_lock" in line for line in body.lines[:at])


def _access_pointer(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        loads = re.search(r"(\w+) = rcu_dereference(?:_bh|_sched)?\((?!.*rcu_dereference)", line)
        if loads and not line.lstrip().startswith("*") and _followed(body, at, loads):
            yield Edit(at, re.sub(r"rcu_dereference(?:_bh|_sched)?\(", "rcu_access_pointer(", line))


def _followed(body: Body, at: int, loads: re.Match[str]) -> bool:
    """Whether the pointer is followed before it is loaded anew, as far as the next lines tell."""
    for line in body.lines[at + 1 : at + 12]:
        if re.search(rf"\b{loads[1]}->", line):
            return True
        if re.search(rf"\b{loads[1]} = ", line):
            return False
    return False


def _gfp_in(opens: str, closes: str) -> Callable[[Body], Iterator[Edit]]:
    """Edits of an atomic allocation between two calls, as the text has them."""

    def edits(body: Body) -> Iterator[Edit]:
        inside = False
        for at, line in enumerate(body.lines):
            if re.match(r"\s*(?:/\*|\*)", line):
                continue
            if re.search(opens, line):
                inside = True
            elif re.search(closes, line) or (line.startswith("}") or re.match(r"^\w+:$", line)):
                inside = False
            if inside and "GFP_ATOMIC" in line and "?" not in line:
                yield Edit(at, line.replace("GFP_ATOMIC", "GFP_KERNEL"))

    return edits


def _goto_to_return(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        jump = re.match(r"^(\s+)goto (\w+);$", line)
        below = "\n".join(body.lines[at:])
        label = jump and re.search(rf"^\s*{jump[2]}:\n((?:.*\n){{1,6}})", below, re.M)
        given = [one for one in (label[1].split("\n") if label else ()) if _GIVES.match(one) or _LOCKS.match(one)]
        dead = "BUG()" in body.lines[at - 1]
        if jump and not dead and any(_held(body, at, one) for one in given):
            yield Edit(at, jump[1] + "return -EINVAL;")


def _held(body: Body, at: int, line: str) -> bool:
    """Whether what ``line`` gives back is taken before the jump, and not just found missing."""
    lock, gives = _LOCKS.match(line), _GIVES.match(line)
    before = body.lines[: max(at - 1, 0)]
    if lock:
        return _locked(before, lock)
    assert gives is not None
    takes = re.search(
        rf"\b{gives['what']} =\s+\(?(?:{_TAKES_MEMORY}|{_TAKES_REFERENCE})\(", "\n".join(before)
    )
    missing = re.search(rf"!{gives['what']}\b|IS_ERR\w*\({gives['what']}\)", "\n".join(body.lines[max(at - 3, 0) : at]))
    return takes is not None and missing is None


def _locked(before: Sequence[str], lock: re.Match[str]) -> bool:
    """Whether the lock is held after these lines; an unlock that leaves at once is another path's."""
    held = False
    for at, line in enumerate(before):
        gives = _LOCKS.match(line)
        if _takes(lock, line):
            held = True
        elif gives and gives["lock"] == lock["lock"]:
            leaves = any(re.match(r"\s*(?:return|goto|continue|break)\b", one) for one in before[at + 1 : at + 4])
            held = held and leaves
    return held


def _iterator_exit(body: Body) -> Iterator[Edit]:
    walked: set[str] = set()
    for at, line in enumerate(body.lines):
        loop = re.search(r"\bfor_each_\w*(?:child|endpoint|node|property)\w*_?\w*\((.*)\)", line)
        if loop and ("of_node" in line or "endpoint" in line or "compatible" in line or "fwnode" in line):
            walked |= set(re.findall(r"\w+", loop[1]))
        puts = re.match(r"^\s*(?:of_node_put|fwnode_handle_put)\((\w+)\);$", line)
        ends = at + 1 < len(body.lines) and re.match(r"\s*(?:return|goto|break)\b", body.lines[at + 1])
        if puts and ends and puts[1] in walked:
            yield _without(body, at)


def _drop_key_dec(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        if re.match(r"^\s*static_branch_(?:slow_)?(?:dec|disable)\w*\(&\w+\);$", line):
            yield _without(body, at)


def _cookie_zero(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        asked = re.search(r"\b(?:__)?(?:sk_)?dst_check\((.*), ([^,()]*cookie)\)", line)
        if asked:
            yield Edit(at, line[: asked.start(2)] + "0" + line[asked.end(2) :])


OPS: Mapping[str, Op] = {
    "access-pointer": Op(("RCU003",), "rcu_dereference", _access_pointer),
    "cookie-zero": Op(("DST001",), "dst_check(", _cookie_zero),
    "drop-key-dec": Op(("KEY001", "KEY002", "KEY003"), "static_branch_d", _drop_key_dec),
    "drop-put": Op(_LEAKS, "", _drop_put),
    "drop-rcu-unlock": Op(("RCU001",), "rcu_read_unlock", _drop_rcu),
    "drop-unlock": Op(("LCK001",), "lock", _drop_unlock),
    "gfp-in-rcu": Op(
        ("RCU004", "ATM001"), "GFP_ATOMIC", _gfp_in(r"\brcu_read_lock(?:_bh)?\(\)", r"\brcu_read_unlock")
    ),
    "gfp-in-spinlock": Op(
        ("ATM001",), "GFP_ATOMIC",
        _gfp_in(r"\b(?:spin|read|write)_lock(?:_bh|_irq|_irqsave)?\(", r"\b(?:spin|read|write)_unlock"),
    ),
    "goto-to-return": Op((*_LEAKS, "LCK001", "RCU001"), "goto ", _goto_to_return),
    "iterator-exit": Op(("REF004", "REF001"), "for_each_", _iterator_exit),
    "wrong-rcu-flavour": Op(("RCU001",), "rcu_read_unlock", _wrong_flavour),
}  # fmt: skip


def _without(body: Body, at: int) -> Edit:
    """The line removed, or made empty where it is all that a condition or a label governs."""
    before = next((one for one in reversed(body.lines[:at]) if one.strip()), "")
    after = next((one.strip() for one in body.lines[at + 1 :] if one.strip()), "")
    indent = re.match(r"\s*", body.lines[at])
    alone = re.search(r"(?:\)|\belse)$", before) or (re.match(r"\s*\w+:$", before) and after in ("", "}"))
    return Edit(at, (indent[0] if indent else "") + ";" if alone else None)


# ------------------------------------------------------------------- where it is planted


def plants(
    tree: Path, wanted: Sequence[str], limit: int, chance: random.Random, skip: frozenset[str]
) -> Iterator[Plant]:
    """Up to ``limit`` plants of each kind, in the order in which the shuffled files hold them."""
    left = Counter(dict.fromkeys(wanted, limit))
    files = [path for path in sorted(tree.rglob("*.c")) if path.relative_to(tree).parts[0] not in _NOT_C]
    chance.shuffle(files)
    for path in files:
        if not +left:
            return
        text = path.read_text("latin-1")
        asked = [op for op in +left if OPS[op].word in text]
        bodies = [body for body in _bodies(text) if body.name not in skip] if asked else []
        for op in asked:
            found = [(body, edit) for body in bodies for edit in OPS[op].edits(body)]
            chosen = {body.name: (body, edit) for body, edit in chance.sample(found, len(found))}
            for body, edit in [*chosen.values()][: min(_PER_FILE, left[op])]:
                left[op] -= 1
                yield _plant(op, path.relative_to(tree).as_posix(), text, body, edit)


def _bodies(text: str) -> Iterator[Body]:
    for match in _FUNCTION.finditer(text):
        yield Body(match["name"], text.count("\n", 0, match.start("body")), match["body"].split("\n"))


def _plant(op: str, file: str, text: str, body: Body, edit: Edit) -> Plant:
    old = re.findall(r".*\n|.+$", text)  # not splitlines(), which also ends a line at a form feed
    at = body.first + edit.at
    new = [*old[:at], *([] if edit.line is None else [edit.line + "\n"]), *old[at + 1 :]]
    diff = "".join(difflib.unified_diff(old, new, f"a/{file}", f"b/{file}"))
    mail = (
        "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\nFrom: Plant <plant@example.org>\n"
        f"Date: Mon, 2 Mar 2026 10:00:00 +0000\nSubject: [PATCH] {body.name}: rework\n\nRework the exit paths.\n\n"
        f"Signed-off-by: Plant <plant@example.org>\n---\n{diff}-- \n2.39.5\n"
    )
    return Plant(op, file, body.name, at + 1, old[at].strip(), mail)


# ------------------------------------------------------------------------ judging


class Score(NamedTuple):
    """What the review of one plant said."""

    plant: Plant
    found: bool
    others: tuple[Finding, ...]


def judged(desk: Desk, plant: Plant) -> Score:
    """Review one plant; found when a rule that may speak of it does, in the function or, for keys, in its file."""
    with tempfile.NamedTemporaryFile("w", encoding="latin-1", suffix=".mbox") as mail:
        mail.write(plant.mail)
        mail.flush()
        findings = [one for review in review_mail(desk, [mail.name]) for one in review.findings]
    shown = [one for one in findings if one.verdict in _SHOWN]
    hits = [one for one in shown if _hit(plant, one)]
    return Score(plant, bool(hits), tuple(one for one in shown if one not in hits))


def _hit(plant: Plant, finding: Finding) -> bool:
    wide = finding.rule.startswith("KEY") and finding.file == plant.file
    return finding.rule in OPS[plant.op].rules and (finding.function == plant.function or wide)


def main() -> None:
    """Plant, review, count and print."""
    options = _arguments()
    skip = [json.loads(line)["function"] for path in options.skip for line in path.read_text().splitlines()]
    wanted = options.op.split(",") if options.op else [*OPS]
    desk = open_desk(Options(tree=options.tree))
    scores: dict[str, list[Score]] = defaultdict(list)
    for plant in plants(options.tree, wanted, options.limit, random.Random(options.seed), frozenset(skip)):
        score = judged(desk, plant)
        scores[plant.op].append(score)
        if not score.found:
            print(f"  MISS {plant.op} {plant.file}:{plant.line} {plant.function}: {plant.text}")
        for one in score.others:
            print(f"  OTHER {plant.op} {one.rule} {one.confidence} {one.file}:{one.line} {one.function}: {one.message}")
    for op, of_op in sorted(scores.items()):
        found, others = sum(one.found for one in of_op), sum(len(one.others) for one in of_op)
        print(f"{op:20} {found}/{len(of_op)} = {100 * found / len(of_op):.1f} %, {others} other findings")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--op", help="kinds of fault, with commas; default all: " + ", ".join(OPS))
    parser.add_argument("--limit", type=int, default=50, help="plants of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=Path, action="append", default=[], help="cases whose functions are left alone")
    return parser.parse_args()


if __name__ == "__main__":
    main()
