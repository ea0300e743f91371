"""How often good patches are called faulty, measured on patches made of the tree's own functions.

Run ``python bench/twins.py TREE [--form add|edit] [--every N] [--limit N] [--seed S] [FOLDER...]``.  Form ``add``: a
function arrives whole as new code.  Form ``edit``: one of six harmless changes (rename a local, print, reorder, split a
condition, set a field, move a call to a helper).  Prints the alarms by rule and confidence, per 100 patches, then each
with its path, to be judged by reading: what is right is a live fault of the tree.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from patchlint.driver import Desk, Options, Tree, open_desk
from patchlint.mail import read_mail
from patchlint.model import BaseKind, Finding
from patchlint.review import TreeKnowledge, choose_findings, review_series
from patchlint.series import assemble
from patchlint.syntax import parse

_FOLDERS = ("drivers", "drivers", "drivers", "sound", "net", "fs", "block", "crypto", "arch")
_WORK = re.compile(
    r"probe|init|open|connect|setup|remove|ioctl|create|recv|xmit|start|bind|register|enable|alloc|attach|resume|load|get"
)
_FEWEST_LINES = 12
_AROUND = 30
"""Lines around a change that are compared as well: an equal line may be told to be one or another."""
_SHOWN = ("introduced", "exposed", "transient")
_CALL = re.compile(r"\t(\w+)\((\w+)(?:[-.]\S*)?\);\n")
_LOCAL = re.compile(
    r"^\t(?:const )?(?:struct \w+|int|unsigned int|u32|u8|size_t|bool) \*?(\w+)(?: = [^;]*)?;\n", re.MULTILINE
)
_EITHER = re.compile(
    r"^(\t+)if \(([^()&|\n]+) \|\| ([^()&|\n]+)\)\n(\t+(?:return|goto) ?[^\n;]*;\n)(?!\t*else)", re.MULTILINE
)
_FIELD = re.compile(r"^\t(\w+)->\w+ = [^;\n]+;\n", re.MULTILINE)
_PLAIN = re.compile(r"^(\t(\w+)(?:->\w+)? = [\w>.-]+;\n)(\t(\w+)(?:->\w+)? = [\w>.-]+;\n)", re.MULTILINE)
_WAY_OUT = re.compile(r"(?<=[;}]\n)\treturn [^\n]*;\n|(?<=\n\n)\treturn [^\n]*;\n")


class Made(NamedTuple):
    """A file before and after a patch that does no harm."""

    path: str
    function: str
    what: str
    before: list[str]
    after: list[str]


@dataclass(slots=True)
class Overlay:
    """The tree with one file as it was before a patch."""

    tree: Tree
    path: str
    before: bytes
    kind: BaseKind = "head"

    @property
    def rev(self) -> str:
        return self.tree.rev

    def read(self, path: str) -> bytes | None:
        return self.before if path == self.path else self.tree.read(path)

    def blob(self, blob_id: str) -> bytes | None:
        return self.before if _blob(self.before).startswith(blob_id) else self.tree.blob(blob_id)


def main() -> None:
    """Make, review, count and print."""
    options = _arguments()
    tree = Path(options.tree)
    desk = open_desk(Options(tree=tree))
    chance = random.Random(options.seed)
    console = Console(highlight=False, soft_wrap=True)
    patches = islice(_patches(tree, options, chance), options.limit)
    count: Counter[str] = Counter()
    found: list[tuple[Made, Finding]] = []
    for made in patches:
        count[made.what] += 1
        found += ((made, finding) for finding in review(desk, made))
    alarmed = {(made.path, made.function) for made, _ in found}
    total = max(1, count.total())
    share = f"{len(alarmed)} with alarms, {100 * len(alarmed) / total:.2f} per 100"
    console.print(f"{total} patches ({dict(count)}), {share}")
    for (rule, grade), number in Counter((one.rule, one.confidence) for _, one in found).most_common():
        console.print(f"{rule} {grade} {number}")
    for made, finding in sorted(found, key=lambda one: (one[1].rule, one[1].file, one[1].line)):
        _show(console, made, finding)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree")
    parser.add_argument("folders", nargs="*", default=_FOLDERS)
    parser.add_argument("--form", choices=("add", "edit"), default="add")
    parser.add_argument("--every", type=int, default=1, help="of the files in their random order take each Nth")
    parser.add_argument("--limit", type=int, default=600, help="patches to make")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_intermixed_args()


def _patches(tree: Path, options: argparse.Namespace, chance: random.Random) -> Iterator[Made]:
    """One patch of each of randomly chosen files, folders in turn."""
    files = {folder: sorted(tree.joinpath(folder).rglob("*.c")) for folder in dict.fromkeys(options.folders)}
    for listed in files.values():
        chance.shuffle(listed)
    turns = {folder: iter(listed[:: options.every]) for folder, listed in files.items()}
    while turns:
        for folder in options.folders:
            path = next(turns[folder], None) if folder in turns else None
            if path is None:
                turns.pop(folder, None)
            else:
                yield from islice(_of_file(tree, path, options.form, chance), 1)


def _of_file(tree: Path, path: Path, form: str, chance: random.Random) -> Iterator[Made]:
    """Patches of the form made of the functions of a file, in random order."""
    data = path.read_bytes()
    unit = parse(data, str(path))
    heads = [head for head in unit.heads if head.whole]
    chance.shuffle(heads)
    heads.sort(key=lambda head: b"goto " not in data[head.start : head.end])
    for head in heads:
        text = data[head.start : head.end].decode("latin-1")
        if text.count("\n") < _FEWEST_LINES or not _WORK.search(head.name) or not _unwinds(text):
            continue
        first = data.rfind(b"\n", 0, head.start) + 1
        last = data.find(b"\n", head.end) + 1
        if not last or first != head.start:
            continue
        before, inner, rest = (part.decode("latin-1") for part in (data[:first], data[first:last], data[last:]))
        if form == "add":
            old, new = _lines(before + rest), _lines(before + inner + rest)
            yield Made(str(path.relative_to(tree)), head.name, "added", old, new)
            continue
        names = sorted(_EDITS)
        chance.shuffle(names)
        for name in names:
            changed = _EDITS[name](inner, head.name, chance)
            if changed and changed != inner:
                old, new = _lines(before + inner + rest), _lines(before + changed + rest)
                yield Made(str(path.relative_to(tree)), head.name, name, old, new)
                break


def _unwinds(text: str) -> bool:
    """Whether the function has ways out besides its end."""
    return "goto " in text or text.count("return") > 1


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+$", text)  # not splitlines(), which also ends a line at a form feed


# ---------------------------------------------------------------------- edits


def _rename(text: str, name: str, chance: random.Random) -> str:
    names = [found[1] for found in _LOCAL.finditer(text)]
    if not names:
        return ""
    chosen = chance.choice(names)
    return re.sub(rf"(?<![\w.>\"%]){chosen}\b(?!:)", f"{chosen}_now", text)


def _print(text: str, name: str, chance: random.Random) -> str:
    return _WAY_OUT.sub(lambda found: f'\tpr_debug("%s: done\\n", __func__);\n{found[0]}', text, count=1)


def _reorder(text: str, name: str, chance: random.Random) -> str:
    found = next((one for one in _PLAIN.finditer(text) if _apart(one)), None)
    return "" if found is None else text[: found.start()] + found[3] + found[1] + text[found.end() :]


def _apart(found: re.Match[str]) -> bool:
    """Neither line of two assignments reads or writes what the other writes."""
    targets = (found[1].split("=")[0].strip(), found[3].split("=")[0].strip())
    return found[2] not in found[3] and found[4] not in found[1] and targets[0] != targets[1]


def _split(text: str, name: str, chance: random.Random) -> str:
    return _EITHER.sub(lambda m: f"{m[1]}if ({m[2]})\n{m[4]}{m[1]}if ({m[3]})\n{m[4]}", text, count=1)


def _field(text: str, name: str, chance: random.Random) -> str:
    return _FIELD.sub(lambda found: f"{found[0]}\t{found[1]}->generation = 1;\n", text, count=1)


def _helper(text: str, name: str, chance: random.Random) -> str:
    """A call with one thing of the function's moves to a helper that is handed that thing."""
    types = {m[2]: m[1] for m in re.finditer(r"(struct \w+ \*)(\w+)[;,) ]", text)}
    for found in _CALL.finditer(text):
        if found[2] in types and text[: found.start()].endswith("\n"):
            helper = f"static void {name}_step({types[found[2]]}{found[2]})\n{{\n\t{found[0].lstrip()}}}\n\n"
            called = f"\t{name}_step({found[2]});\n"
            return helper + text[: found.start()] + called + text[found.end() :]
    return ""


_EDITS: dict[str, Callable[[str, str, random.Random], str]] = {
    "rename": _rename, "print": _print, "reorder": _reorder, "split": _split, "field": _field, "helper": _helper,
}  # fmt: skip


# --------------------------------------------------------------------- review


def review(desk: Desk, made: Made) -> Iterator[Finding]:
    """The findings that a review of the patch would show."""
    before = "".join(made.before).encode("latin-1")
    assert desk.tree is not None
    reader = Overlay(desk.tree, made.path, before)
    for series in assemble(read_mail(_mail(made, before), "twin")):
        knowledge = TreeKnowledge(desk.index(desk.tree), desk.ruleset, frozenset((made.path,)), reader.read)
        review = choose_findings(review_series(series, reader, desk.ruleset, knowledge), desk.selection)
        assert all(patch.applied == "exact" for patch in review.patches), made.path
        yield from (finding for finding in review.findings if finding.verdict in _SHOWN)


def _blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _mail(made: Made, before: bytes) -> bytes:
    after = "".join(made.after).encode("latin-1")
    path = made.path
    head = (
        f"From {'1' * 40} Mon Sep 17 00:00:00 2001\nFrom: Twin <twin@example.org>\n"
        f"Date: Mon, 5 Jan 2026 12:00:00 +0000\nSubject: [PATCH] {made.function}: {made.what}\n\n---\n"
        f"diff --git a/{path} b/{path}\nindex {_blob(before)[:12]}..{_blob(after)[:12]} 100644\n"
        f"--- a/{path}\n+++ b/{path}\n"
    )
    return head.encode() + "".join(_hunks(made.before, made.after)).encode("latin-1")


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """A unified difference; only what lies between the common ends is compared line by line."""
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    tail = next((i for i, (a, b) in enumerate(zip(reversed(old[same:]), reversed(new[same:]), strict=False)) if a != b),
                min(len(old), len(new)) - same)  # fmt: skip
    first, last = max(0, same - _AROUND), max(0, tail - _AROUND)
    mine, theirs = old[first : len(old) - last], new[first : len(new) - last]
    for group in SequenceMatcher(None, mine, theirs, autojunk=False).get_grouped_opcodes(3):
        a, b = group[0][1] + first, group[0][3] + first
        yield f"@@ -{a + 1},{group[-1][2] + first - a} +{b + 1},{group[-1][4] + first - b} @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (" " + line for line in mine[i1:i2])
                continue
            yield from ("-" + line for line in mine[i1:i2])
            yield from ("+" + line for line in theirs[j1:j2])


def _show(console: Console, made: Made, finding: Finding) -> None:
    where = f"{finding.file}:{finding.line} {finding.function}"
    head = f"\n{finding.rule} {finding.confidence} {finding.verdict} {where} ({made.what})"
    console.print(f"{head}\n  {finding.message}", markup=False)
    for step in finding.trace:
        console.print(f"    {step.file}:{step.line}: {step.what}", markup=False)


if __name__ == "__main__":
    main()
