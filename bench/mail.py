"""Compare what is read from a folder of mails with git's own counts.

usage: bench/mail.py CORPUS/mail

For every file in ``numstat.jsonl``: paths, added and removed lines must equal git's;
a file that git rejects (``files`` is null) must get an SER problem that names a line.
Prints each difference, then one line of figures; exit status 1 when there is any.
"""

from __future__ import annotations

import collections
import json
import sys
import time
from pathlib import Path

from patchlint.mail import read_mail
from patchlint.model import FileDiff, PatchlintError, Series
from patchlint.series import assemble

Row = tuple[str, int, int]


def row(diff: FileDiff) -> Row:
    tags = [tag for hunk in diff.hunks for tag, _ in hunk.lines]
    return diff.path, tags.count("+"), tags.count("-")


def difference(series: tuple[Series, ...], expected: list[list[object]] | None) -> str:
    patches = [p for s in series for p in s.patches]
    if expected is None:
        problems = [q for s in series for q in s.problems] + [q for p in patches for q in p.problems]
        return "" if any(q.line and q.rule.startswith("SER") for q in problems) else "no SER problem with a line"
    have = collections.Counter(row(d) for p in patches for d in p.files)
    want = collections.Counter(tuple(r) for r in expected)
    return "" if have == want else f"only here {dict(have - want)}, only git {dict(want - have)}"


def main(folder: str) -> int:
    root = Path(folder)
    cases = [json.loads(line) for line in (root / "numstat.jsonl").read_text().splitlines()]
    equal = rejected = 0
    seconds = 0.0
    for case in cases:
        data = (root / case["id"]).read_bytes()
        start = time.perf_counter()
        try:
            series = assemble(read_mail(data, case["id"]))
        except PatchlintError as refusal:
            # A file with nothing in it has no line to name; the refusal is the result.
            rejected += case["files"] is None
            print(f"refused: {refusal}")
            continue
        seconds += time.perf_counter() - start
        if what := difference(series, case["files"]):
            print(f"{case['id']}: {what}")
        elif case["files"] is None:
            rejected += 1
        else:
            equal += 1
    accepted = sum(c["files"] is not None for c in cases)
    print(
        f"{len(cases)} files read: {equal}/{accepted} equal to git, {rejected}/{len(cases) - accepted} that git rejects"
        f" are named with a line; {1000 * seconds / len(cases):.2f} ms a file"
    )
    return 0 if equal + rejected == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
