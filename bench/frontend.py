"""How well and how fast the front end reads a kernel tree.  Run: ``python bench/frontend.py TREE [--every N]``.

Prints one table: the figure, what was measured, and the goal.  ``--every N`` takes each Nth file;
``--hunks FOLDER`` takes hunks from the mailboxes of a folder; ctags is used when it is installed.
"""

from __future__ import annotations

import argparse
import gc
import re
import resource
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table

from patchlint import ir
from patchlint.mail import read_mail
from patchlint.model import PatchlintError
from patchlint.series import assemble
from patchlint.syntax import Unit, default_dialect, parse
from patchlint.syntax.conditions import groups
from patchlint.syntax.heads import read_head
from patchlint.syntax.lexical import lex
from patchlint.syntax.lower import HEAD
from patchlint.syntax.outline import outline
from patchlint.syntax.rewrite import rewrite
from patchlint.syntax.tree import first_error

CORE = ("net", "kernel", "fs", "mm", "block", "drivers/usb", "include")
LEFT_OUT = ("drivers/gpu/drm/amd/include/", "rust/")
WORDS = re.compile(rb"\b(if|for|while|return|goto|switch|case)\b")
ASM_GOTO = re.compile(rb"\basm\b[\w\s]*?\bgoto\b")
DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", re.MULTILINE)
NODES: dict[type, str] = {
    ir.If: "if",
    ir.While: "while",
    ir.Return: "return",
    ir.Goto: "goto",
    ir.Switch: "switch",
}


class Row(NamedTuple):
    """A line of the table."""

    figure: str
    measured: str
    goal: str


class Read(NamedTuple):
    """What reading one file gave."""

    functions: int
    broken: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]
    differing: tuple[str, ...]
    checked: int
    bad_length: bool


def main() -> None:
    options = _arguments()
    console = Console()
    tree = Path(options.tree)
    files = [path for path in _sources(tree) if not any(part in path for part in LEFT_OUT)][:: options.every]
    core = [path for path in files if path.startswith(tuple(f"{part}/" for part in CORE))]
    speed = _speed(tree, core or files)
    reads = {path: _read(tree, path) for path in track(files, "reading", console=console)}
    table = Table("figure", "measured", "goal", title=f"front end on {tree}, every {options.every}. file")
    missed: list[str] = []
    checks = [_ctags_row(tree, core, reads, missed), *_check_rows(reads)]
    for row in [*_error_rows(core, reads), *checks, *_hunk_rows(options.hunks), *speed]:
        table.add_row(*row)
    console.print(table)
    if options.list:
        for line in [*missed, *(line for read in reads.values() for line in (*read.broken, *read.differing))]:
            console.print(line, highlight=False, markup=False, soft_wrap=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree")
    parser.add_argument("--every", type=int, default=1, help="take each Nth file")
    parser.add_argument("--hunks", help="folder of mailboxes to take hunks from")
    parser.add_argument("--list", action="store_true", help="also list the functions that fail")
    return parser.parse_args()


def _sources(tree: Path) -> list[str]:
    found = (path for path in tree.rglob("*.[ch]") if path.is_file() and not path.is_symlink())
    return sorted(str(path.relative_to(tree)) for path in found)


# ------------------------------------------------------------------ one file


def _read(tree: Path, path: str) -> Read:
    source = (tree / path).read_bytes()
    unit = parse(source, path, keep=frozenset(name.decode() for name in DEFINED.findall(source)))
    broken: list[str] = []
    differing: list[str] = []
    checked = 0
    for head in unit.heads:
        before = len(unit.not_analysed)
        function = unit.function(head)
        failed = [entry for entry in unit.not_analysed[before:] if entry.reason.startswith("cannot")]
        broken.extend(f"{path}:{entry.line}: {entry.function}: {entry.reason}" for entry in failed[:1])
        if not failed:
            checked += 1
            differing.extend(_difference(unit, function))
    ranges = tuple((head.line, head.end_line) for head in unit.heads)
    return Read(len(unit.heads), tuple(broken), ranges, tuple(differing), checked, not _same_shape(source))


def _difference(unit: Unit, function: ir.Function) -> Iterator[str]:
    """Keywords in the text that the lowered function has not, or the other way round."""
    for text, variant in zip(_texts(unit, function), function.variants, strict=True):
        written = Counter(word.decode() for word in WORDS.findall(ASM_GOTO.sub(b"", text)))
        read = _count(variant.body, unit.source)
        if written != read:
            yield f"{function.file}:{function.line}: {function.name}: text {dict(written)} tree {dict(read)}"
            return


def _texts(unit: Unit, function: ir.Function) -> list[bytes]:
    head = next(head for head in unit.heads if head.start == function.start)
    return list(unit.texts(head))


def _count(node: Any, source: bytes) -> Counter[str]:
    found: Counter[str] = Counter()
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif is_dataclass(node):
            kind = NODES.get(type(node))
            if isinstance(node, ir.Case) and node.low is not None:
                kind = "case"
            if isinstance(node, ir.For) and source[node.pos : node.pos + 3] == b"for":
                kind = "for"
            if isinstance(node, ir.DoWhile) and not _is_macro(node.test):
                kind = "while"
            if kind is not None:
                found[kind] += 1
            stack.extend(getattr(node, item.name) for item in fields(node))
    return found


def _is_macro(test: ir.Expr) -> bool:
    """Whether a do loop ends with a macro instead of ``while``."""
    return isinstance(test, ir.Call) and default_dialect().closers.match(test.name) is not None


def _same_shape(source: bytes) -> bool:
    """Whether length and newlines survive the pre-pass."""
    shadow = lex(source).shadow
    text = rewrite(shadow, default_dialect()).text
    return all(len(other) == len(source) and _newlines(other) == _newlines(source) for other in (shadow, text))


def _newlines(text: bytes) -> list[int]:
    return [match.start() for match in re.finditer(rb"\n", text)]


# ------------------------------------------------------------------ rows


def _error_rows(core: list[str], reads: dict[str, Read]) -> Iterator[Row]:
    for name, paths, goal in (("core", core, "0.1 %"), ("all", list(reads), "0.25 %")):
        functions = sum(reads[path].functions for path in paths)
        broken = sum(len(reads[path].broken) for path in paths)
        share = 100 * broken / max(1, functions)
        yield Row(f"functions with an error, {name}", f"{share:.3f} % ({broken} of {functions})", f"≤ {goal}")


def _check_rows(reads: dict[str, Read]) -> Iterator[Row]:
    checked = sum(read.checked for read in reads.values())
    differing = sum(len(read.differing) for read in reads.values())
    share = 100 - 100 * differing / max(1, checked)
    yield Row("keywords in text and tree equal", f"{share:.3f} % ({differing} of {checked} differ)", "100 %")
    bad = sum(read.bad_length for read in reads.values())
    yield Row(
        "length and newlines unchanged", f"{100 - 100 * bad / max(1, len(reads)):.3f} % of {len(reads)} files", "100 %"
    )


def _ctags_row(tree: Path, core: list[str], reads: dict[str, Read], missed: list[str]) -> Row:
    # By last line: where a macro without ";" stands above a function, ctags takes that for its beginning.
    figure, goal = "function ranges of ctags matched, core", "≥ 99.9 %"
    if shutil.which("ctags") is None:
        return Row(figure, "ctags is not installed", goal)
    found = 0
    for path, line, end in _ctags(tree, core):
        found += 1
        if not any(last == end for _, last in reads[path].ranges):
            missed.append(f"{path}:{line}: function of ctags, to line {end}, is not found")
    share = 100 - 100 * len(missed) / max(1, found)
    return Row(figure, f"{share:.3f} % ({len(missed)} of {found} missed)", goal)


def _ctags(tree: Path, paths: list[str]) -> Iterator[tuple[str, int, int]]:
    command = ["ctags", "--c-kinds=f", "--language-force=C", "--fields=ne", "-L", "-", "-f", "-"]
    out = subprocess.run(command, input="\n".join(paths), cwd=tree, capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        place = re.search(r"line:(\d+)\tend:(\d+)", line)
        if place is not None:
            yield line.split("\t")[1], int(place[1]), int(place[2])


def _hunk_rows(folder: str | None) -> Iterator[Row]:
    if folder is None:
        yield Row("fragments free of errors", "no --hunks given", "≥ 96 %")
        return
    total = bad = 0
    for path, first, section, text in _hunks(Path(folder)):
        unit = parse(text, path, fragments=[(1, first, section)])
        for head in unit.heads:
            unit.function(head)
        total += 1
        bad += any(entry.reason.startswith("cannot") for entry in unit.not_analysed) or bool(unit.unread)
    yield Row("fragments free of errors", f"{100 - 100 * bad / max(1, total):.2f} % of {total} hunks", "≥ 96 %")


def _hunks(folder: Path) -> Iterator[tuple[str, int, str, bytes]]:
    for mailbox in sorted(path for path in folder.rglob("*") if path.suffix in (".mbox", ".patch")):
        try:
            series = assemble(read_mail(mailbox.read_bytes(), str(mailbox)))
        except PatchlintError:
            continue
        diffs = (diff for one in series for patch in one.patches for diff in patch.files)
        for diff in diffs:
            for hunk in diff.hunks if diff.path.endswith((".c", ".h")) else ():
                text = b"".join(line + b"\n" for tag, line in hunk.lines if tag in " +")
                if text.strip():
                    yield diff.path, hunk.new_start, hunk.section, text


def _speed(tree: Path, paths: Iterable[str]) -> list[Row]:
    """Pre-pass and parse of every function, on up to 20 MB; processor time of one core."""
    texts: list[bytes] = []
    for path in paths:
        texts.append((tree / path).read_bytes())
        if sum(map(len, texts)) > 20_000_000:
            break
    size = sum(map(len, texts)) / 1e6
    gc.collect()
    begin = time.process_time()
    bodies = [body for text in texts for body in _prepared(text)]
    middle = time.process_time()
    for body in bodies:
        first_error(HEAD + body)
    parsed = time.process_time()
    count = 0
    for index, text in enumerate(texts):
        unit = parse(text, str(index))
        count += len([unit.function(head) for head in unit.heads])
    end = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    whole = end - parsed
    both = size / (parsed - begin)
    return [
        Row("pre-pass and parse", f"{both:.1f} MB/s (pre-pass {size / (middle - begin):.1f})", "≥ 5 MB/s"),
        Row("all, lowering included", f"{size / whole:.1f} MB/s, {count / whole:.0f} functions/s", ""),
        Row("peak memory of this run", f"{peak:.0f} MB", "bounded"),
    ]


def _prepared(source: bytes) -> Iterator[bytes]:
    lexed = lex(source)
    outlined = outline(lexed.shadow, groups(lexed.directives, len(source)))
    for body in outlined.bodies:
        read_head(outlined.text, body.start, body.open, default_dialect())
        yield rewrite(outlined.text[body.open : body.end], default_dialect()).text


if __name__ == "__main__":
    main()
