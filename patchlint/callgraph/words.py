"""The word scan: what the index knows of a file without parsing it.

One pass of byte expressions over the text gives the set of *tokens* of a file, some 20 MB a second and core.  A token
is a word of the code (comments and strings are no code) with at most one mark behind it: the bare word says that it
stands somewhere, ``word(`` that it is called or declared, ``word{`` that a function of this name begins in column 0 or
a macro is defined, ``word!`` that it is exported.  Answers made of tokens name candidates only; what is
asked for is then looked at in the files themselves (:mod:`patchlint.callgraph.scan`).
"""

from __future__ import annotations

import re

CALLED = b"("
DEFINED = b"{"
EXPORTED = b"!"

NOT_CODE = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
"""Comments, strings and character constants."""

_PLAIN = rb"[^;{}()]*+"
_ARGUMENTS = rb"\(%s(?:\(%s(?:\(%s\)%s)*+\)%s)*+\)" % ((_PLAIN,) * 5)

HEAD = re.compile(
    rb"\n(?=[A-Za-z_])"
    rb"(?P<before>(?:(?:[A-Za-z_][\w ]*[ ])?__\w++\([\w, ]*+\)\s++)?(?:[A-Za-z_][^;(){}=\n#]*[\s*])?)"
    rb"(?P<name>[A-Za-z_]\w*+)[ \t]*+(?P<arguments>" + _ARGUMENTS + rb")"
    rb"(?P<after>\s*+(?:(?:__|no)\w++(?:" + _ARGUMENTS + rb")?+\s*+)*+)\{"
)
"""A function head that starts in column 0, up to and with the brace that opens the body.

It wants a newline in front, so a text whose first line is a head needs one put before it: an alternative for the start
of the text makes the search five times as slow."""

DEFINE = re.compile(rb"#[ \t]*define[ \t]+([A-Za-z_]\w*)(?:\(|(?:[ \t]|\\\n)+[A-Za-z_]\w*[ \t]*(?=\n|\Z))")
"""A macro that may stand for a call: one with parameters, or another name for a single word."""

EXPORT = re.compile(rb"\bEXPORT_\w*SYMBOL\w*\([ \t\n]*(\w+)")

_WORDS = bytes(c if chr(c).isascii() and (chr(c).isalnum() or chr(c) in "_(") else 32 for c in range(256))


def token(word: str, mark: bytes = b"") -> bytes:
    """The token to look up for a word."""
    return word.encode("utf-8", "replace") + mark


def tokens(source: bytes) -> set[bytes]:
    """All tokens of one file. Numbers may be among them; they are harmless."""
    code = NOT_CODE.sub(b" ", source)
    found = set(code.replace(b" (", b"(").translate(_WORDS).replace(b"(", b"( ").split())
    found.update(name + DEFINED for _, name, _, _ in HEAD.findall(b"\n" + code))
    found.update(name + DEFINED for name in DEFINE.findall(code))
    found.update(name + EXPORTED for name in EXPORT.findall(code))
    return found
