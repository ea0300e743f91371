"""Which definition a name means when it is used in a certain file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from patchlint.callgraph.scan import Definition

_WORLDS = ("tools/", "scripts/", "samples/", "usr/", "Documentation/", "rust/")
"""Folders whose programs are not linked with the kernel; their functions only share its names."""


def world(path: str) -> str:
    """What a file is linked with: "" for the kernel, else its top folder (boot loaders count on their own)."""
    if path.startswith("arch/"):
        parts = path.split("/")
        return "/".join(parts[:3]) if len(parts) > 3 and parts[2] == "boot" and not path.endswith(".h") else ""
    for top in _WORLDS:
        if path.startswith(top):
            return top
    return ""


def include_paths(name: str, from_file: str) -> tuple[str, ...]:
    """Where ``#include`` of ``name`` in ``from_file`` may lead, best first: beside it, its arch, generic, global."""
    folder = from_file.rpartition("/")[0]
    paths = [f"{folder}/{name}" if folder else name]
    if from_file.startswith("arch/"):
        arch = "/".join(from_file.split("/")[:2])
        paths.append(f"{arch}/include/{name}")
    if name.startswith("asm/"):
        paths += [f"arch/x86/include/{name}", f"include/asm-generic/{name[4:]}"]
    paths += [f"include/{name}", f"include/uapi/{name}"]
    return tuple(_flat(path) for path in paths)


def _flat(path: str) -> str:
    """The path without ``..`` and ``.`` parts."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def choose(
    candidates: Iterable[Definition], from_file: str, includes: Callable[[str], frozenset[str]]
) -> tuple[Definition, ...]:
    """The definitions that ``from_file`` may mean; several when #if or the architecture decides.

    Its own come first, then those of the headers it includes, then what is global.  A static inline in a header that
    stands beside a global function of the same name is the stub of a configuration without it: the function counts.
    """
    pool = list(candidates)
    own = tuple(found for found in pool if found.file == from_file)
    if own:
        return own
    home = world(from_file)
    near = [found for found in pool if world(found.file) == home]
    shared = [found for found in near if not found.static]
    headers = [found for found in near if found.static and found.file.endswith(".h")]
    if shared:
        return _same_arch(shared, from_file)
    if len({found.file for found in headers}) < 2:
        return tuple(headers)
    included = includes(from_file)
    reached = tuple(found for found in headers if found.file in included)
    return reached or _same_arch(headers, from_file)


def _same_arch(found: list[Definition], from_file: str) -> tuple[Definition, ...]:
    """Those of the file's own architecture, else those of none, else all."""
    arch = _arch(from_file)
    for wanted in ((arch,) if arch else ()) + ("",):
        chosen = tuple(one for one in found if _arch(one.file) == wanted)
        if chosen:
            return chosen
    return tuple(found)


def _arch(path: str) -> str:
    return path.split("/")[1] if path.startswith("arch/") and path.count("/") > 1 else ""
