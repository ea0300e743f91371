"""Round brackets in shadow texts."""

from __future__ import annotations

import re

# Round brackets to three levels; deeper ones are found by counting.
_FLAT = rb"(?:[^()]++|\((?:[^()]++|\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\))*+\))*+"
ARGS = rb"\(" + _FLAT + rb"\)"
_ROUND = re.compile(rb"[()]")


def closing(text: bytes, at: int) -> int:
    """Offset after the bracket that closes the one at ``at``; the text's length when none does."""
    depth = 0
    for match in _ROUND.finditer(text, at):
        depth += 1 if match[0] == b"(" else -1
        if not depth:
            return match.end()
    return len(text)


def at_depth(text: bytes, opened: int, end: int, mark: bytes) -> list[int]:
    """Offsets of a mark directly inside the bracket at ``opened``, and ``end``."""
    found: list[int] = []
    depth = 0
    for at in range(opened, end):
        byte = text[at]
        depth += (byte in b"([{") - (byte in b")]}")
        if depth == 1 and byte == mark[0]:
            found.append(at)
    return [*found, end]
