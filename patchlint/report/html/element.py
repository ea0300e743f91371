"""HTML made of escaped parts: what is no :class:`Markup` is text, and text is always escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from patchlint.report.wording import printable


class Markup(str):
    """A string that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | int | None) -> Markup:
    """``<name attributes>children</name>``; children that are plain text are escaped.

    ``class_`` stands for ``class`` and ``data_step`` for ``data-step``; None leaves an attribute out.
    """
    start = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    return Markup(f"<{name}{start}>{''.join(map(inner, children))}</{name}>")


def joined(parts: Iterable[str]) -> Markup:
    """Parts one after the other."""
    return Markup("".join(map(inner, parts)))


def breakable(path: str) -> Markup:
    """A path that may be broken after its slashes."""
    return Markup(inner(path).replace("/", "/<wbr>"))


def inner(part: str) -> str:
    """``part`` as HTML."""
    return part if isinstance(part, Markup) else escape(printable(part))


def _attribute(key: str, value: str | int) -> str:
    return f' {key.rstrip("_").replace("_", "-")}="{escape(printable(str(value)))}"'
