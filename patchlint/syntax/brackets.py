"""Round brackets in shadow texts."""

from __future__ import annotations

import re

# Round brackets to three levels; deeper ones are found by counting.
_FLAT = rb"(?:[^()]++|\((?:[^()]++|\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\))*+\))*+"
ARGS = rb"\(" + _FLAT + rb"\)"
_ARGS = re.compile(ARGS)
_ROUND = re.compile(rb"[()]")


MAX_BRACKET = 4096
"""Bytes between a bracket that nests deeply and the one that closes it."""


def closing(text: bytes, at: int) -> int:
    """Offset after the bracket that closes the one at ``at``; where none near does, the offset after ``at`` itself."""
    plain = _ARGS.match(text, at)
    if plain is not None:
        return plain.end()
    depth = 0
    for match in _ROUND.finditer(text, at, at + MAX_BRACKET):
        depth += 1 if match[0] == b"(" else -1
        if not depth:
            return match.end()
    return at + 1


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
