"""What the front end tells about a file besides its functions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Head:
    """A function definition as far as it is known without reading its body.

    ``start`` and ``end`` are byte offsets of its first word and behind its last bracket; the lines are
    file lines.  ``config`` says under which enclosing ``#if`` it stands, e.g. ("CONFIG_SMP=y",).
    """

    name: str
    line: int
    end_line: int
    start: int
    end: int
    static: bool
    whole: bool
    config: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Define:
    """A function-like macro: parameters (``...`` last for a variadic one), body text, offset of its directive."""

    name: str
    params: tuple[str, ...]
    body: str
    pos: int


@dataclass(frozen=True, slots=True)
class TopMacro:
    """A macro invocation at file level: ``EXPORT_SYMBOL_GPL(x)``, ``static DEFINE_MUTEX(m)``; arguments as text."""

    name: str
    args: tuple[str, ...]
    pos: int
    static: bool = False


@dataclass(frozen=True, slots=True)
class Global:
    """A file-level variable or declaration of one; ``attributes`` are the words kept by the dialect."""

    name: str
    type: str
    static: bool
    extern: bool
    attributes: tuple[str, ...]
    pos: int
    pointer: int = 0
    array: bool = False
    initialised: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One function of an operations table: ``.field = function``."""

    field: str
    function: str
    pos: int


@dataclass(frozen=True, slots=True)
class Table:
    """An initialised structure (or array of them) that names functions; ``name`` is the variable."""

    type: str
    name: str
    entries: tuple[Entry, ...]
    pos: int


@dataclass(frozen=True, slots=True)
class Field:
    """A structure member that carries attributes (``__rcu``)."""

    struct: str
    field: str
    attributes: tuple[str, ...]
    pos: int
