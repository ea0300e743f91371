"""Reads kernel C: dialect, ``#if`` variants, functions, fragments.  The only importer of tree_sitter."""

from patchlint.syntax.dialect import Dialect, default_dialect
from patchlint.syntax.expand import defines_in
from patchlint.syntax.unit import Unit, parse
from patchlint.syntax.values import Define, Entry, Field, Global, Head, Table, TopMacro

__all__ = [
    "Define",
    "Dialect",
    "Entry",
    "Field",
    "Global",
    "Head",
    "Table",
    "TopMacro",
    "Unit",
    "default_dialect",
    "defines_in",
    "parse",
]
