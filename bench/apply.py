"""Time and memory of patch application and bookkeeping.

usage: bench/apply.py [PATCHES [FILES]]

Makes a tree of FILES files (200) in a temporary git repository and a series of PATCHES
patches (100) that each change ten of them, with offsets here and there; reads the mailbox,
assembles the series and applies it with a git tree reader, as a review does before any
analysis.  Prints one line; exit status 1 above 5 seconds or 500 MB.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from patchlint.host.tree import open_tree
from patchlint.mail import read_mail
from patchlint.series import assemble, choose
from patchlint.source import apply_series

LINES = 2000
"""Lines of each file; half of the kernel's C files in net/ have fewer than 500."""
MAX_SECONDS = 5.0
MAX_MB = 500


def make_tree(top: Path, files: int) -> dict[str, list[str]]:
    texts = {
        f"drivers/frob/part{i}.c": [f"int frob_{i}_{n}(struct frob *f, int mode);" for n in range(LINES)]
        for i in range(files)
    }
    git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    ident = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"]
    for path, lines in texts.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text("\n".join(lines) + "\n")
    for command in (["init", "-q"], ["add", "."], [*ident, "commit", "-q", "-m", "base"]):
        subprocess.run(["git", *command], cwd=top, env=git, check=True)
    return texts


def make_series(texts: dict[str, list[str]], patches: int, chance: random.Random) -> bytes:
    """A mailbox; each patch is made on what the ones before it left."""
    mails = []
    for n in range(1, patches + 1):
        diffs = [change(path, texts[path], n, chance) for path in chance.sample(sorted(texts), min(10, len(texts)))]
        mails.append(
            f"From 0123456789 Mon Sep 17 00:00:00 2001\nFrom: Bench <bench@example.org>\n"
            f"Subject: [PATCH {n}/{patches}] frob: change {n}\n\nText.\n---\n\n{''.join(diffs)}-- \n2.39.5\n\n"
        )
    return "".join(mails).encode()


def change(path: str, lines: list[str], n: int, chance: random.Random) -> str:
    """Replace one line, or add one, near a random place; every fifth header is off by a few lines."""
    at = chance.randrange(3, len(lines) - 4)
    new = f"int frob_new_{n}_{at}(struct frob *f);"
    gone = chance.randrange(2)
    before, after = lines[at - 3 : at], lines[at + gone : at + gone + 3]
    body = [" " + x for x in before] + ["-" + x for x in lines[at : at + gone]] + ["+" + new] + [" " + x for x in after]
    start = at - 2 + (chance.randrange(5) == 0) * chance.randrange(1, 9)
    lines[at : at + gone] = [new]
    header = f"@@ -{start},{6 + gone} +{start},7 @@ int frob(void)"
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n" + "\n".join([header, *body]) + "\n"


def main(patches: int, files: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        texts = make_tree(Path(folder), files)
        mbox = make_series(texts, patches, random.Random(1))
        tree = open_tree(Path(folder))
        start = time.perf_counter()
        cpu = time.process_time()
        (series,) = choose(assemble(read_mail(mbox, "bench.mbox")), None)
        applied = list(apply_series(series, tree))
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    after = {path: data for one in applied for path, data in one.after.items()}
    wrong = sum(data != ("\n".join(texts[path]) + "\n").encode() for path, data in after.items())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    images = sum(len(one.images) for one in applied)
    kinds = sorted({one.applied for one in applied})
    print(
        f"{patches} patches over {files} files, {images} images ({', '.join(kinds)}), {wrong} files wrong:"
        f" {seconds:.2f} s ({cpu:.2f} s of processor time), {memory:.0f} MB"
    )
    return 0 if not wrong and cpu < MAX_SECONDS and memory < MAX_MB else 1


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in (*sys.argv[1:3], *("100", "200")[len(sys.argv[1:3]) :]))))
