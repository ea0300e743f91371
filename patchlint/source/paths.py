"""Names that a patch may not use, by the rules of git's ``verify_path``."""

from __future__ import annotations

MAX_LENGTH = 4096


def unsafe(path: str) -> str:
    """Why ``path`` must not be looked up in a tree; empty when it may."""
    if not path or len(path) > MAX_LENGTH:
        return "empty or too long"
    if "\0" in path:
        return "holds a NUL byte"
    if path.startswith("/") or "\\" in path or path[1:2] == ":":
        return "not relative to the tree"
    for part in path.split("/"):
        if part in ("", ".", ".."):
            return "leaves the tree or is not in its plain form"
        if part.lower() == ".git" or part.lower().startswith("git~"):
            return "names git's own files"
    return ""
