"""Which keys each table of a model file may have, and what they may hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from patchlint.ruleset import words
from patchlint.ruleset.source import Row

Check = Callable[[object], str]
"""Tells what is wrong with a value, "" when nothing."""

KINDS = ("ref", "mem", "lock", "rcu", "pair")
SORTS = ("", "clk", "irq", "map", "misc", "net", "pm", "reg")
CONTEXTS = ("", "rcu", "rcu_bh", "rcu_sched", "srcu", "atomic", "irq", "bh", "preempt", "cpus")
"""What a hold makes of the context. Sleeping is wrong in all but "srcu" and "cpus"."""
ACTS = (
    "value", "store", "exchange", "load", "steal", "is_err", "is_err_or_null", "is_null", "ptr_err", "err_ptr",
    "ptr_err_or_zero", "interior", "constant", "nonzero_error", "never", "assert", "assert_not", "assert_held",
    "nothing",
)  # fmt: skip


class Key(NamedTuple):
    """One key of a table."""

    check: Check
    required: bool = False


def text(value: object) -> str:
    """Any string."""
    return "" if isinstance(value, str) else "must be a string"


def names(value: object) -> str:
    """A name or a list of names."""
    if isinstance(value, str) and value:
        return ""
    if isinstance(value, list) and value and all(isinstance(item, str) and item for item in value):
        return ""
    return "must be a name or a list of names"


def flag(value: object) -> str:
    """A boolean."""
    return "" if isinstance(value, bool) else "must be true or false"


def place(value: object) -> str:
    """A place word."""
    good = isinstance(value, str) and words.place(value) is not None
    return "" if good else "must be argN, *argN, argN->field, result or global"


def places(value: object) -> str:
    """A place or a list of places."""
    items = value if isinstance(value, list) else [value]
    return next(filter(None, map(place, items)), "")


def argument(value: object) -> str:
    """An argument word."""
    good = isinstance(value, str) and words.argument(value) is not None
    return "" if good else "must be argN, result, global or none"


def arguments(value: object) -> str:
    """An argument or a list of arguments."""
    items = value if isinstance(value, list) else [value]
    return next(filter(None, map(argument, items)), "")


def sleeping(value: object) -> str:
    """no, yes, unknown or the argument with the gfp flags."""
    if value in ("no", "yes", "unknown"):
        return ""
    index = words.argument(value) if isinstance(value, str) else None
    return "" if index is not None and index >= 0 else "must be no, yes, unknown or argN"


def one_of(*choices: str) -> Check:
    """One of the given words."""

    def check(value: object) -> str:
        return "" if value in choices else f"must be one of {', '.join(filter(None, choices))}"

    return check


def classes(value: object) -> str:
    """A list of result classes."""
    good = isinstance(value, list) and value and all(item in words.CLASSES for item in value)
    return "" if good else f"must be a list of {', '.join(words.CLASSES)}"


WHEN = one_of(*words.WHEN)
_CALL = {"sleeps": Key(sleeping), "where": Key(text), "note": Key(text), "rest": Key(one_of("borrow", "unknown"))}

TABLES: Mapping[str, Mapping[str, Key]] = {
    "family": {
        "kind": Key(one_of(*KINDS), True), "sort": Key(one_of(*SORTS)), "label": Key(text), "release": Key(names, True),
        "compatible": Key(names), "group": Key(text), "context": Key(one_of(*CONTEXTS)), "nests": Key(flag),
        "at": Key(place), "null_ok": Key(flag), "err_ok": Key(flag), "frees": Key(flag), "sleeps": Key(sleeping),
        "key": Key(place), "parts": Key(names), "where": Key(text), "note": Key(text),
    },
    "pair": {
        "family": Key(text, True), "acquire": Key(names, True), "held": Key(place), "when": Key(WHEN),
        "result": Key(classes), "null_ok": Key(flag), "eats": Key(place), "returns": Key(argument),
        "key": Key(place), "flags": Key(names), **_CALL,
    },
    "release": {
        "family": Key(text, True), "name": Key(names, True), "at": Key(place), "when": Key(WHEN),
        "result": Key(classes), "null_ok": Key(flag), "err_ok": Key(flag), "frees": Key(flag), "key": Key(place),
        "flags": Key(names), "returns": Key(argument), **_CALL,
    },
    "call": {
        "name": Key(names, True), "consumes": Key(places), "takes": Key(places), "sets": Key(places),
        "unknown": Key(arguments), "resource": Key(text), "when": Key(WHEN), "result": Key(classes),
        "returns": Key(argument), "never_returns": Key(flag), "tag": Key(text), "on": Key(place),
        "flags": Key(names), "arranges": Key(arguments), **_CALL,
    },
    "macro": {
        "name": Key(names, True), "acts": Key(one_of(*ACTS), True), "arg": Key(argument), "value": Key(argument),
        "through": Key(flag), "tag": Key(text), "family": Key(text), "note": Key(text), "where": Key(text),
    },
    "loop": {
        "name": Key(names, True), "assigns": Key(argument), "family": Key(text), "drops_itself": Key(flag),
        "context": Key(one_of(*CONTEXTS)), "held": Key(text), "non_null": Key(flag), "scratch": Key(arguments),
        "over": Key(argument), "tag": Key(text), "note": Key(text), "where": Key(text),
    },
    "guard": {
        "name": Key(text, True), "acquire": Key(text, True), "release": Key(text), "conditional": Key(flag),
        "where": Key(text),
    },
    "cleanup": {
        "name": Key(names, True), "release": Key(text, True), "null_ok": Key(flag), "err_ok": Key(flag),
        "where": Key(text),
    },
    "pattern": {"acquire": Key(names, True), "release": Key(names, True), "note": Key(text)},
}  # fmt: skip
"""Tables and their keys. ``[table.NAME]`` holds lists of names by role and is checked apart."""


def check_row(row: Row) -> str:
    """The kind of table (the first word of its name); raises PatchlintError where the row breaks the schema."""
    kind = row.table.partition(".")[0]
    if kind == "table":
        _check_lists(row)
        return kind
    keys = TABLES.get(kind)
    if keys is None:
        raise row.wrong(f"unknown table (known: {', '.join([*TABLES, 'table'])})")
    for key, value in row.values.items():
        if key not in keys:
            raise row.wrong(f"unknown key '{key}' (known: {', '.join(keys)})", key)
        what = keys[key].check(value)
        if what:
            raise row.wrong(f"{key} {what}", key)
    for key, about in keys.items():
        if about.required and key not in row.values:
            raise row.wrong(f"no '{key}'")
    return kind


def _check_lists(row: Row) -> None:
    for key, value in row.values.items():
        what = names(value)
        if what:
            raise row.wrong(f"{key} {what}", key)
