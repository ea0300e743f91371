"""Does the tree hold together after each patch: names used while nothing defines them, calls with too few arguments.

Works on the scanned text of the files a series touches, in one state at a time; the review compares states.  Only names
whose definition the series adds, removes or changes are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from patchlint.callgraph import Definition, FileScan

SymbolKind = Literal["function", "macro", "constant", "variable", "field"]
Scans: TypeAlias = Mapping[str, Sequence[FileScan]]
"""The files of one state by path; several scans where only hunks are known, the newest first."""
Ranges: TypeAlias = Sequence[tuple[int, int]]
"""First and last lines."""

_MOST_SYMBOLS = 300
"""Names of one series that are followed; a series that moves more is a mass conversion."""

_DEFINE_CONSTANT = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?![\w(])", re.MULTILINE)
_ENUMERATOR = re.compile(rb"^[ \t]+([A-Z][A-Z0-9_]+)[ \t]*(?:=[^,;\n]*)?,?[ \t]*$", re.MULTILINE)
_KEY = re.compile(rb"^[^\n]*\bSTATIC_KEY\w*\([ \t]*(\w+)", re.MULTILINE)
_KEY_MACRO = re.compile(rb"^[^\n]*\b(?:DEFINE|DECLARE)_STATIC_KEY\w*\([ \t]*(\w+)", re.MULTILINE)
_VARIABLE = re.compile(
    rb"^(?:[A-Za-z_]\w*+[ *]++)++(\w++)(?:\[[^\]\n]*+\])*+[ \t]*+(?:=[^\n]*+|;)$", re.MULTILINE
)
_FIELD = re.compile(
    rb"^[ \t]++(?:[A-Za-z_]\w*+[ \t*]++)++(\w++)(?:\[[^\]\n]*+\])*+(?:[ \t]*+:[ \t]*+\w++)?+;[ \t]*+$", re.MULTILINE
)
_LINE_FORMS: tuple[tuple[SymbolKind, re.Pattern[bytes]], ...] = (
    ("constant", _DEFINE_CONSTANT),
    ("constant", _ENUMERATOR),
    ("variable", _KEY),
    ("variable", _KEY_MACRO),
    ("variable", _VARIABLE),
    ("field", _FIELD),
)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_COMMON_WORDS = frozenset(("int", "char", "long", "void", "return", "else", "struct", "union", "enum"))


class Symbol(NamedTuple):
    """A name whose definition a series adds, removes or changes."""

    name: str
    kind: SymbolKind


class Loose(NamedTuple):
    """A use that does not hold in one state. ``pos`` is a byte offset into the scan's source."""

    symbol: Symbol
    scan: FileScan
    pos: int
    function: str
    message: str
    lasting: bool = True
    """Worth telling also where no later patch mends it; a wrong count of arguments at the end of a series is
    what every compiler says, and a patch that was cut out of its series shows nothing else."""


class Surroundings(Protocol):
    """What is known of the tree outside the files of the series."""

    def defines(self, symbol: Symbol) -> bool:
        """Whether a file outside the series defines the symbol (or may: when in doubt, yes)."""

    def callers_of(self, symbol: Symbol) -> Sequence[FileScan]:
        """Files outside the series that call the function and have none of that name of their own."""


def moved_symbols(before: FileScan | None, after: FileScan | None, removed: Ranges, added: Ranges) -> set[Symbol]:
    """Symbols whose definition one patch adds, removes or changes in one file; the ranges are its touched lines."""
    old, new = _heads(before), _heads(after)
    names = [name for name in old.keys() | new.keys() if old.get(name) != new.get(name)]
    moved = {Symbol(name, _kind_of(old, new, name)) for name in names}
    for scan, ranges in ((before, removed), (after, added)):
        if scan is not None:
            moved.update(_line_symbols(scan, ranges))
    return moved


def loose_uses(scans: Scans, symbols: Iterable[Symbol], tree: Surroundings) -> Iterator[Loose]:
    """Uses of ``symbols`` in one state that nothing defines, and calls whose number of arguments does not fit."""
    files = [scan for group in scans.values() for scan in group]
    outside = {word for scan in files for word in _WORD.findall(_outside(scan))}
    for symbol in sorted(symbols)[:_MOST_SYMBOLS]:
        definitions = [found for scan in files for found in scan.defined(symbol.name)]
        if symbol.kind in ("function", "macro"):
            if definitions:
                yield from _wrong_arguments(symbol, definitions, files, tree.callers_of(symbol))
            elif not tree.defines(symbol):
                yield from _uses_of_function(symbol, (*files, *tree.callers_of(symbol)))
        elif symbol.name.encode() not in outside and not definitions and not tree.defines(symbol):
            yield from _uses_of_word(symbol, files)


# ----------------------------------------------------------------- definitions


def _heads(scan: FileScan | None) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Kind and numbers of parameters of each function and macro."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    for definition in scan.definitions if scan is not None else ():
        assert scan is not None
        _, counts = found.get(definition.name, ("", ()))
        found[definition.name] = definition.kind, (*counts, _parameters(scan, definition))
    return found


def _kind_of(
    old: Mapping[str, tuple[str, tuple[int, ...]]], new: Mapping[str, tuple[str, tuple[int, ...]]], name: str
) -> SymbolKind:
    kind = (new.get(name) or old[name])[0]
    return "macro" if kind == "macro" else "function"


def _line_symbols(scan: FileScan, ranges: Ranges) -> Iterator[Symbol]:
    """Constants, variables and fields defined on the given lines, outside of functions."""
    outside = _outside(scan)
    for kind, form in _LINE_FORMS:
        for match in form.finditer(outside):
            line = scan.lines.line(match.start(1))
            name = match[1].decode("ascii")
            if name not in _COMMON_WORDS and any(first <= line <= last for first, last in ranges):
                yield Symbol(name, kind)


def _outside(scan: FileScan) -> bytes:
    """The code with function texts blanked: where types, variables and constants are defined."""
    parts, at = [], 0
    for found in scan.definitions:
        if found.kind == "function" and found.start >= at:
            parts += [scan.code[at : found.start], b"\n" * scan.code.count(b"\n", found.start, found.end)]
            parts.append(b" " * (found.end - found.start - len(parts[-1])))
            at = found.end
    return b"".join((*parts, scan.code[at:]))


# ------------------------------------------------------------------------ uses


def _uses_of_function(symbol: Symbol, files: Sequence[FileScan]) -> Iterator[Loose]:
    pattern = re.compile(rb"\b" + re.escape(symbol.name.encode()) + rb"\b(?![ \t]*\()")
    for scan in files:
        for site in scan.calls_of(symbol.name):
            if _in_function(scan, site.pos):
                yield _undefined(symbol, scan, site.pos, site.function)
        if symbol.kind == "function":
            for match in pattern.finditer(scan.code):
                if scan.around(match.start()) is None:
                    yield _undefined(symbol, scan, match.start(), "")


def _uses_of_word(symbol: Symbol, files: Sequence[FileScan]) -> Iterator[Loose]:
    name = re.escape(symbol.name.encode())
    access = rb"(?:->|\.)[ \t]*" if symbol.kind == "field" else rb"(?<![\w.>])"
    pattern = re.compile(access + name + rb"\b")
    local = re.compile(rb"[\w*][ \t]+\**" + name + rb"[ \t]*[;=,)\[]")
    for scan in files:
        for match in pattern.finditer(scan.code):
            owner = scan.around(match.start())
            if owner is None or owner.kind != "function":
                continue
            if symbol.kind == "field" or not local.search(scan.code, owner.start, owner.end):
                yield _undefined(symbol, scan, match.start(), owner.name)


def _undefined(symbol: Symbol, scan: FileScan, pos: int, function: str) -> Loose:
    return Loose(symbol, scan, pos, function, f"{symbol.kind} {symbol.name} is used here, but nothing defines it")


def _in_function(scan: FileScan, pos: int) -> bool:
    owner = scan.around(pos)
    return owner is not None and owner.kind == "function"


# ------------------------------------------------------------------- arguments


def _wrong_arguments(
    symbol: Symbol, definitions: Sequence[Definition], files: Sequence[FileScan], further: Sequence[FileScan]
) -> Iterator[Loose]:
    """Calls that no definition of the name fits; variadic definitions fit all."""
    counts = {_parameters(scan, found) for scan in files for found in scan.defined(symbol.name)}
    if -1 in counts:
        return
    everywhere = any(not found.static or found.file.endswith(".h") for found in definitions)
    for scan in (*files, *further) if everywhere else files:
        for site in scan.calls_of(symbol.name):
            given = _count_arguments(scan.code, site.pos)
            if _in_function(scan, site.pos) and given >= 0 and given not in counts:
                wanted = " or ".join(str(count) for count in sorted(counts))
                message = f"{symbol.name} is called with {given} arguments, but its definition has {wanted}"
                yield Loose(symbol, scan, site.pos, site.function, message, lasting=False)


def _parameters(scan: FileScan, definition: Definition) -> int:
    """Number of parameters; -1 when variadic, not to be told, or a macro without any."""
    start = scan.code.find(definition.name.encode() + b"(", definition.start, definition.end)
    if start < 0:
        return -1
    end = _closing(scan.code, start + len(definition.name))
    text = scan.code[start + len(definition.name) + 1 : end] if end >= 0 else b"..."
    if b"..." in text:
        return -1
    return 0 if text.strip() in (b"", b"void") else _count_arguments(scan.code, start)


def _count_arguments(code: bytes, pos: int) -> int:
    """Number of arguments of the call at ``pos``; -1 when the brackets do not close."""
    start = code.find(b"(", pos)
    end = _closing(code, start) if start >= 0 else -1
    if end < 0:
        return -1
    depth, commas = 0, 0
    for byte in code[start + 1 : end]:
        depth += (byte in b"([{") - (byte in b")]}")
        commas += byte == 44 and depth == 0
    # A string is blank in the scanned code, so "nothing but blanks" may be one argument: cannot be told.
    return commas + 1 if commas or code[start + 1 : end].strip() else (0 if end == start + 1 else -1)


def _closing(code: bytes, start: int) -> int:
    """Offset of the bracket that closes the one at ``start``; -1 when it is missing or far away."""
    depth = 0
    for at in range(start, min(len(code), start + 4000)):
        depth += (code[at] in b"(") - (code[at] in b")")
        if depth == 0:
            return at
    return -1
