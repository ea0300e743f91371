"""Review the four seed mails and their edited forms, and compare with what must come out.

usage: seeds.py SEEDS [--patchlint CMD]
SEEDS is the folder of seed mails.  Each row edits a mail, corrects its hunk counts, runs the command without a tree
and prints what it said; the exit status is 1 when a row differs from what is wanted.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """One edit of a seed and the findings it must give: (rule, function or "", part of subject or trace)."""

    seed: str
    title: str
    old: str
    new: str
    wanted: tuple[tuple[str, str, str], ...]


_DEC = "+\tif (udp_sk(sk)->gro_receive)\n+\t\tstatic_branch_dec(&udp_gro_needed);\n+\n"
_VRF = (("RCU003", "qdisc_tx_is_default", ""), ("SER001", "", ""))
ROWS = (
    Row("000", "as it is", "", "", ()),
    Row("000", "rcu_read_unlock deleted", "+\trcu_read_unlock();\n", "",
        (("RCU001", "__udp6_lib_demux_lookup", "return"),)),
    Row("000", "cookie 0", "inet6_sk(sk)->rx_dst_cookie", "0", (("DST001", "udp_v6_early_demux", ""),)),
    Row("000", "result of dst_check ignored", "dst = dst_check(", "dst_check(",
        (("DST002", "udp_v6_early_demux", ""),)),
    Row("000", "skb->sk = sk deleted", "+\tskb->sk = sk;\n", "", (("REF001", "udp_v6_early_demux", "takes it"),)),
    Row("002", "as it is", "", "", (("KEY005", "", "udp_gro_needed"),)),
    Row("002", "decrement deleted", _DEC, "", (("KEY001", "", "udp_gro_needed"), ("KEY005", "", ""))),
    Row("002", "decrement on gro_complete", _DEC, _DEC.replace("gro_receive", "gro_complete"),
        (("KEY002", "", "gro_complete"), ("KEY005", "", ""))),
    Row("003", "as it is", "", "", _VRF),
    Row("003", "unlock_bh deleted", "+\t\trcu_read_unlock_bh();\n", "", (*_VRF, ("RCU001", "vrf_finish_direct", ""))),
    Row("003", "unlock of another flavour", "rcu_read_unlock_bh();", "rcu_read_unlock();",
        (*_VRF, ("RCU001", "vrf_finish_direct", ""))),
    Row("004", "cover letter alone", "", "", (("SER001", "", ""),)),
)  # fmt: skip
_HEADER = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$")


def corrected(text: str) -> str:
    """``text`` with the counts of every hunk set to what its lines say."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        head = _HEADER.match(line)
        if head:
            body = []
            for inner in lines[at + 1 :]:
                if not inner.startswith((" ", "+", "-")) or inner == "-- ":
                    break
                body.append(inner[0])
            old, new = len(body) - body.count("+"), len(body) - body.count("-")
            lines[at] = f"@@ -{head[1]},{old} +{head[2]},{new} @@{head[3]}"
    return "\n".join(lines)


def review(command: str, text: str) -> list[dict[str, object]]:
    """Findings of the command on a mail."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as mail:
        mail.write(text)
        mail.flush()
        done = subprocess.run(
            [*shlex.split(command), "mbox", "--no-tree", "--format", "json", mail.name],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return [finding for one in json.loads(done.stdout)["reviews"] for finding in one["findings"]]


def fits(finding: dict[str, object], rule: str, function: str, part: str) -> bool:
    """Whether a finding is a wanted one."""
    told = json.dumps([finding["subject"], finding["message"], finding["trace"]])
    return finding["rule"] == rule and (not function or finding["function"] == function) and part in told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("seeds", type=Path)
    parser.add_argument("--patchlint", default=f"{sys.executable} -m patchlint")
    args = parser.parse_args()
    wrong = 0
    for row in ROWS:
        text = next(args.seeds.glob(f"{row.seed}_*")).read_text()
        if row.old and row.old not in text:
            sys.exit(f"{row.seed}: the text to edit is not there: {row.old!r}")
        found = review(args.patchlint, corrected(text.replace(row.old, row.new, 1)) if row.old else text)
        lacking = [w for w in row.wanted if not any(fits(f, *w) for f in found)]
        extra = [f for f in found if not any(fits(f, *w) for w in row.wanted)]
        wrong += bool(lacking or extra)
        told = ", ".join(f"{f['rule']} {f['function'] or f['subject']}" for f in found) or "no finding"
        print(f"{'ok ' if not lacking and not extra else 'BAD'} {row.seed} {row.title}: {told}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
