"""Hunks without their file: what is whole in them, and how the pieces of cut functions are made readable.

A hunk shows some of: the end of an item that began above it, whole items, the beginning of an item that
goes on below it.  Whole functions are read like those of a file.  A cut one is wrapped: blocks that were
opened above are opened before it, open ones are closed behind it, and the marker :data:`CUT` stands
where text is missing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from patchlint.syntax.brackets import ARGS
from patchlint.syntax.conditions import Group, groups
from patchlint.syntax.lexical import BLANK, Directive, Lexed, lex

CUT = "__patchlint_cut__"
"""The word that stands for text which the hunk does not show."""

FragmentStart = tuple[int, int, str]
"""First image line, first file line and section heading of a hunk."""


class Hunks(NamedTuple):
    """All hunks of a file: the lexed image, in which the cut pieces are blanked, and those pieces."""

    lexed: Lexed
    shadow: bytes
    groups: tuple[Group, ...]
    pieces: tuple[Piece, ...]


class Piece(NamedTuple):
    """The shown part of a cut item.

    ``start`` is where the piece begins, ``open`` the bracket of its body (-1 where the body began above), ``end``
    the offset behind it.  ``above`` and ``below`` say on which sides of the body text is missing; ``headed``
    that the head is shown.
    """

    start: int
    open: int
    end: int
    above: bool
    below: bool
    headed: bool
    section: str


class Wrapped(NamedTuple):
    """A piece made readable: ``text`` has the piece's length; ``low`` and ``high`` bound what was kept of it."""

    before: str
    text: bytes
    after: str
    low: int
    high: int


MAX_OPEN = 50
"""Blocks that a cut piece may close or leave open."""

_TOKEN = re.compile(rb"[{}]")
_TOP = re.compile(rb"^(?!\w+\s*:(?!:))[A-Za-z_][\w \t*]*", re.MULTILINE)
_MACRO_CALL = re.compile(rb"\s*(?:\w+\s*" + ARGS + rb"\s*)*")
_ELSE = re.compile(rb"\s*else\b")
_WHILE = re.compile(rb"\s*while\b")
_CASE = re.compile(rb"\bcase\b|\bdefault\s*:")
_OUTER = re.compile(rb"\}|(?:case|default)\b|\w+:(?!:)")
_STOP = re.compile(rb"[;{}]")
_LINE_END = re.compile(rb"[^\n;]*;?[ \t]*\n?")
_COMMENT_END = re.compile(rb"\*/")
_COMMENT_LINE = re.compile(rb"[ \t]*\*(?:[ \t].*)?(?:\n|\Z)")
_CODE_LINE = re.compile(rb"^([ \t]*)[^\s#]", re.MULTILINE)


def read_hunks(source: bytes, starts: Sequence[FragmentStart], offsets: Sequence[int]) -> Hunks:
    """Lex every hunk by itself and find the cut pieces.  ``offsets`` are where the hunks begin."""
    ends = [*offsets[1:], len(source)]
    texts: list[bytes] = [b" " * offsets[0]] if offsets else [source]
    masked = list(texts)
    directives: list[Directive] = []
    pieces: list[Piece] = []
    conditional: list[Group] = []
    for (_, _, section), begin, end in zip(starts, offsets, ends, strict=True):
        lexed = lex(mend_edges(source[begin:end]))
        found, cut = _pieces(lexed.shadow, section)
        hidden = _hide(lexed.shadow, [*((piece.start, piece.end) for piece in found), *cut])
        texts.append(lexed.shadow)
        masked.append(hidden[:-1] + b";" if hidden[-1:] == b"\n" else hidden)
        moved = [item._replace(start=item.start + begin, end=item.end + begin) for item in lexed.directives]
        directives.extend(moved)
        conditional.extend(groups(moved, end, begin))
        pieces.extend(_moved(piece, begin) for piece in found)
    return Hunks(Lexed(b"".join(texts), tuple(directives)), b"".join(masked), tuple(conditional), tuple(pieces))


def file_line(starts: Sequence[FragmentStart], line: int) -> int:
    """The line of the file that an image line shows."""
    at = bisect_right(starts, line, key=lambda start: start[0]) - 1
    return line if at < 0 else starts[at][1] + line - starts[at][0]


def mend_edges(text: bytes) -> bytes:
    """Blank what is left of a comment or of a macro definition that began above the hunk."""
    close = _COMMENT_END.search(text)
    if close is not None and b"/*" not in text[: close.start()]:
        text = text[: close.end()].translate(BLANK) + text[close.end() :]
    else:
        at = 0
        while (line := _COMMENT_LINE.match(text, at)) is not None and line.end() > at:
            at = line.end()
        text = text[:at].translate(BLANK) + text[at:]
    at, seen = 0, False
    while (end := text.find(b"\n", at)) >= 0:
        line_text = text[at:end].rstrip()
        if line_text.lstrip()[:1] == b"#" or not (line_text.endswith(b"\\") or seen):
            break
        seen = line_text.endswith(b"\\")
        text = text[:at] + text[at:end].translate(BLANK) + text[end:]
        at = end + 1
        if not seen:
            break
    return text


def _moved(piece: Piece, by: int) -> Piece:
    return piece._replace(start=piece.start + by, end=piece.end + by, open=piece.open + by if piece.open >= 0 else -1)


def _hide(text: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
    out = bytearray(text)
    for start, end in spans:
        out[start:end] = text[start:end].translate(BLANK)
    return bytes(out)


def _pieces(shadow: bytes, section: str) -> tuple[list[Piece], list[tuple[int, int]]]:
    """The cut pieces of one hunk, and the extents of cut items that have no body to read.

    At most one piece stands at the hunk's beginning and one at its end.
    """
    found: list[Piece] = []
    cut: list[tuple[int, int]] = []
    opened = _cut_head(shadow)
    if opened >= 0:
        end = _closed(shadow, opened)
        top = end if end >= 0 else len(shadow)
        found.append(Piece(0, opened, top, False, end < 0, False, section))
    elif (top := _ended(shadow)) >= 0:
        found.append(Piece(0, -1, top, True, False, False, section))
    elif (top := _top_level(shadow)) >= 0:
        cut.append((0, top))
    else:
        top = len(shadow)
        found.append(Piece(0, -1, top, True, True, False, section))
    opened = _unclosed(shadow, top)
    start = _item_start(shadow, top, opened if opened >= 0 else len(shadow))
    if opened >= 0:
        found.append(Piece(start, opened, len(shadow), False, True, True, section))
    elif not _MACRO_CALL.fullmatch(shadow, start):
        cut.append((start, len(shadow)))
    return [piece for piece in found if shadow[piece.start : piece.end].strip()], cut


def _closed(shadow: bytes, opened: int) -> int:
    """Offset behind the bracket that closes the one at ``opened``, -1 for none."""
    depth = 0
    for match in _TOKEN.finditer(shadow, opened):
        depth += 1 if match[0] == b"{" else -1
        if not depth:
            return match.end()
    return -1


def _ended(shadow: bytes) -> int:
    """Offset behind the line that ends an item begun above: a ``}`` in column 1 with nothing open.  -1 for none."""
    depth = 0
    for match in _TOKEN.finditer(shadow):
        depth += 1 if match[0] == b"{" else -1
        if depth < 0:
            at = match.start()
            if (at == 0 or shadow[at - 1] == 10) and shadow[at + 1 : at + 2] not in (b",", b")"):
                return _LINE_END.match(shadow, at).end()  # type: ignore[union-attr]
            depth = 0
    return -1


def _top_level(shadow: bytes) -> int:
    """Offset of the first line that begins an item in column 1, -1 for none."""
    first = _TOP.search(shadow)
    return first.start() if first is not None else -1


def _unclosed(shadow: bytes, top: int) -> int:
    """The first bracket that is opened at file level behind ``top`` and not closed, -1 for none."""
    depth, opened = 0, -1
    for match in _TOKEN.finditer(shadow, top):
        if match[0] == b"{":
            opened = match.start() if not depth else opened
            depth += 1
        elif depth:
            depth -= 1
    return opened if depth else -1


def _item_start(shadow: bytes, top: int, opened: int) -> int:
    before = max(top - 1, *(shadow.rfind(mark, top, opened) for mark in (b";", b"}")))
    return opened - len(shadow[before + 1 : opened].lstrip())


def _cut_head(text: bytes) -> int:
    """Offset of the body's bracket where the text begins with the last lines of a head, -1 where it does not."""
    opened = text.find(b"\n{")
    before = text[: max(0, opened)]
    if opened < 0 or b";" in before or b"}" in before or before.count(b")") <= before.count(b"("):
        return -1
    return opened + 1


# ------------------------------------------------------------------ wrapping


def wrappings(text: bytes, above: bool, below: bool) -> Iterator[Wrapped]:
    """Ways to read a piece as the body of a function, the likeliest first.

    ``text`` begins inside the body (``above``) or with its opening bracket.  None for one nested without end.
    """
    openers, _, opened = _openers(text)
    if len(openers) + opened > MAX_OPEN:
        return
    lows = _lows(text) if above else [0]
    highs = _highs(text) if below else [len(text)]
    for high in highs:
        for low in lows:
            if text[low:high].strip() or not text.strip():
                kept = text[:low].translate(BLANK) + text[low:high] + text[high:].translate(BLANK)
                yield _wrap(kept, above, below, low, high)


def _lows(text: bytes) -> list[int]:
    """Where to begin: at once, or behind the first, second, third statement end."""
    stops = [match.start() if match[0] == b"{" else match.end() for match in _first_stops(text, 4)]
    lines = list(_CODE_LINE.finditer(text))
    deeper = len(lines) > 1 and len(lines[0][1].expandtabs(8)) > len(lines[1][1].expandtabs(8))
    outer = len(lines) > 1 and _OUTER.match(text, lines[1].end() - 1) is not None
    return [*stops[:1], 0, *stops[1:]] if deeper and not outer and stops else [0, *stops]


def _first_stops(text: bytes, count: int) -> list[re.Match[bytes]]:
    found: list[re.Match[bytes]] = []
    for match in _STOP.finditer(text):
        found.append(match)
        if len(found) == count:
            break
    return found


def _highs(text: bytes) -> list[int]:
    """Where to end: at the end, or behind the last, last but one ... statement end."""
    highs = [len(text)]
    at = len(text)
    while len(highs) < 5 and at > 0:
        at = max(text.rfind(mark, 0, at) for mark in (b";", b"{", b"}", b":"))
        if at >= 0:
            highs.append(at + 1)
    return highs


def _wrap(text: bytes, above: bool, below: bool, low: int, high: int) -> Wrapped:
    openers, cases, opened = _openers(text)
    before, after = "", ""
    if above:
        if openers and not below:
            openers[0] = "{"
        else:
            openers.insert(0, "{")
            after = "}"
            if cases:
                openers.insert(1, f"switch({CUT}){{")
                after = "}}"
        before = "".join(openers) + f"{CUT};"
        if _ELSE.match(text):
            before += f"if({CUT}){CUT};"
        elif low and text.lstrip()[:1] == b"{":
            before += f"if({CUT})"
    if below:
        after = f"{CUT};" + "}" * opened + after
    return Wrapped(before, text, after, low, high)


def _openers(text: bytes) -> tuple[list[str], bool, int]:
    """What opens the blocks that the text closes, outermost first; cases behind them; blocks left open."""
    openers: list[str] = []
    depth, at, cases = 0, 0, False
    for match in _TOKEN.finditer(text):
        cases = cases or (not depth and _CASE.search(text, at, match.start()) is not None)
        at = match.end()
        if match[0] == b"{":
            depth += 1
        elif depth:
            depth -= 1
        else:
            openers.append(_opener(text, match.end(), cases))
            cases = False
    cases = cases or (not depth and _CASE.search(text, at) is not None)
    return openers[::-1], cases, depth


def _opener(text: bytes, end: int, cases: bool) -> str:
    if cases:
        return f"switch({CUT}){{"
    if _ELSE.match(text, end):
        return f"if({CUT}){{"
    return "do{" if _WHILE.match(text, end) else "{"


_OTHERS = ((b"", b""), (b"struct s{", b"};"), (b"enum e{", b"};"), (b"int a[]={", b"};"))
"""What a piece may be part of when it is no function: nothing, a structure, an enumeration, an initialiser."""


def other_wrappings(text: bytes, above: bool, below: bool) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Ways to read a piece that is no function: what comes before it, the piece, what comes behind it."""
    openers, _, opened = _openers(text)
    if len(openers) + opened > MAX_OPEN:
        return
    for low in _lows_of_list(text) if above else [0]:
        for high in [len(text), text.rfind(b",") + 1, text.rfind(b";") + 1] if below else [len(text)]:
            if not text[low:high].strip() or 2 * (high - low) < len(text):
                continue
            kept = text[:low].translate(BLANK) + text[low:high] + text[high:].translate(BLANK)
            for before, after in _OTHERS:
                inner = len(openers) - (1 if before and not below else 0)
                closed = b"}" * opened + (after if below else b"")
                yield before + b"{" * max(0, inner), kept, closed


def _lows_of_list(text: bytes) -> list[int]:
    """Where a list of members or elements may begin: at once, or behind the first ``,`` or ``;``."""
    ends = sorted(at + 1 for at in (text.find(b","), text.find(b";"), text.find(b"}")) if at >= 0)
    return [0, *ends]
