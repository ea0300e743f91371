"""One function at a time: cut its text out of the file and read only that."""

from __future__ import annotations

import re
from typing import NamedTuple

from patchlint.callgraph.scan import CallSite, Definition, FileScan
from patchlint.callgraph.words import NOT_CODE
from patchlint.ir import Function
from patchlint.syntax import parse

_MAX_TEXT = 120_000
"""Bytes of the longest function that is read as a callee."""
_MAX_MACROS = 40

_MACRO = re.compile(rb"#[ \t]*define[ \t]+(\w+)(?:\(([^()]*)\))?")
_SEVERAL = re.compile(rb"\\\n")
_PASTED = re.compile(rb"\w*(?:[ \t]*##[ \t]*\w+)+")
"""Words put together by the preprocessor: a name that nobody knows."""
_STATEMENTS = (b"do ", b"do{", b"{", b"if ", b"for ", b"while ")
_QUOTED = re.compile(rb"#[ \t]*\w+")
_NAME = re.compile(rb"[A-Za-z_]\w*")


class Body(NamedTuple):
    """The text of a definition with the macros of its own file that it uses, ready to be parsed."""

    text: bytes
    name: str
    alias: str = ""
    """For ``#define name other``: the other name; there is no text then."""


def cut(scan: FileScan, found: Definition) -> Body | None:
    """The text of a definition; None for one that cannot be read (too long, token pasting, no expression)."""
    if found.kind == "macro":
        return _cut_macro(scan, found)
    if found.end - found.start > _MAX_TEXT:
        return None
    macros = _macros_of(scan, scan.calls_in(found))
    return Body(macros + scan.source[found.start : found.end] + b"\n", found.name)


def read(body: Body, path: str) -> Function | None:
    """The function in a body's text, lowered; None when it has none that can be read."""
    unit = parse(body.text, path)
    head = next((head for head in unit.heads if head.name == body.name), None)
    if head is None:
        return None
    function = unit.function(head)
    return None if unit.not_analysed else function


def _macros_of(scan: FileScan, calls: tuple[CallSite, ...]) -> bytes:
    """Definitions of the file's own function-like macros among the calls, which the parser then expands."""
    texts: dict[str, bytes] = {}
    pending = [site.name for site in calls]
    while pending and len(texts) < _MAX_MACROS:
        name = pending.pop()
        found = scan.defined(name)
        if name in texts or len(found) != 1 or found[0].kind != "macro":
            continue
        texts[name] = scan.source[found[0].start : found[0].end] + b"\n"
        pending.extend(site.name for site in scan.calls_in(found[0]))
    return b"".join(texts.values())


def _uncommented(match: re.Match[bytes]) -> bytes:
    return b" " if match[0].startswith(b"/") else match[0]


def _cut_macro(scan: FileScan, found: Definition) -> Body | None:
    """A macro as a function of pointers: what it does with an argument is what the function does."""
    text = NOT_CODE.sub(_uncommented, scan.source[found.start : found.end])
    text = _SEVERAL.sub(b" ", text).strip()
    match = _MACRO.match(text)
    if match is None:
        return None
    rest = text[match.end() :].strip()
    if match[2] is None:
        return Body(b"", found.name, rest.decode("ascii")) if _NAME.fullmatch(rest) else None
    params = [param.strip() for param in match[2].split(b",") if param.strip()]
    if params and params[-1].endswith(b"..."):
        named = params[-1][:-3].strip() or b"__VA_ARGS__"
        params[-1] = b"__VA_ARGS__"
        rest = re.sub(rb"(?:##[ \t]*)?\b" + named + rb"\b", b"__VA_ARGS__", rest)
    rest = _QUOTED.sub(b'""', _PASTED.sub(b"_pasted_", rest))
    if b"#" in rest or not all(_NAME.fullmatch(param) for param in params):
        return None
    statement = rest if not rest or rest.startswith(_STATEMENTS) else b"return " + rest
    arguments = b", ".join(b"void *" + param for param in params) or b"void"
    text = b"static void *%s(%s)\n{\n\t%s;\n}\n" % (match[1], arguments, statement)
    return Body(text, found.name)
