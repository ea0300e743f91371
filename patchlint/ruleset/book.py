"""Model rows, checked and merged into one plain record per name: what :class:`Models` reads and a cache keeps.

Everything in a book is JSON (dicts, lists, strings, numbers, booleans), so that reading a kept one costs a few
milliseconds where parsing the TOML costs a few hundred.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from patchlint.effects import ANY, Place
from patchlint.ruleset import words
from patchlint.ruleset.schema import check_row
from patchlint.ruleset.source import Row

Record: TypeAlias = dict[str, Any]
"""JSON values under short keys; see the functions that write them."""
Book: TypeAlias = dict[str, dict[str, Any]]

SECTIONS = ("family", "call", "shape", "macro", "loop", "guard", "cleanup", "pattern", "table")
"""Sections of a book. ``call`` goes by exact name, ``shape`` by a name with one ``*`` (prefix or suffix rows)."""


def write_book(rows: Iterable[Row]) -> Book:
    """The book of these rows, earlier files first; raises PatchlintError at the first row that is wrong.

    Rows of the user's files (``extra``) replace what the built-in rows say about the same name.
    """
    book: Book = {section: {} for section in SECTIONS}
    kept = [(check_row(row), row) for row in rows]
    for kind, row in kept:
        if kind == "family":
            _add_family(book, row)
    owner: dict[tuple[str, str], bool] = {}
    for kind, row in kept:
        if kind != "family":
            _ADD[kind](book, row, owner)
    _check_families(book, kept)
    for section in ("call", "shape"):
        book[section] = {name: _slim(record) for name, record in book[section].items()}
    return book


RECORD: Mapping[str, Any] = {
    "effects": [], "take": [], "unknown": [], "rest": "borrow", "result": ANY, "returns": -1, "never": False,
    "sleeps": "unknown", "where": "", "arranges": [],
}  # fmt: skip
"""Keys of a call's record, and what those say that are left out of a book."""
EFFECT: Mapping[str, Any] = {
    "when": ANY, "null_ok": False, "err_ok": False, "frees": False, "context": "", "key": None, "flags": [],
}  # fmt: skip
"""Keys of an effect that may be left out, likewise."""


def _slim(record: Record) -> Record:
    """The record without what it says by default: books are read at every start."""
    slim = {key: value for key, value in record.items() if key in RECORD and value != RECORD[key]}
    if "effects" in slim:
        # What a call gives up, it gives up first: downgrade_write(), of_find_node_by_name(from, ...).
        slim["effects"] = [
            {key: value for key, value in effect.items() if key not in EFFECT or value != EFFECT[key]}
            for effect in sorted(slim["effects"], key=lambda effect: effect["do"] != "release")
        ]
    return slim


def as_names(value: object) -> list[str]:
    """A name or list of names as a list."""
    if isinstance(value, str):
        return [value]
    return [str(item) for item in value] if isinstance(value, list) else []


# ------------------------------------------------------------------- families


def _add_family(book: Book, row: Row) -> None:
    name = row.table.partition(".")[2]
    if not name:
        raise row.wrong("a family is written [family.NAME]")
    known = book["family"].get(name)
    if known is not None and not row.file.extra:
        raise row.wrong(f"family {name} is defined twice")
    v = row.values
    releases = as_names(v["release"])
    book["family"][name] = {
        "kind": v["kind"],
        "label": v.get("label", ""),
        "releases": releases,
        "compatible": as_names(v.get("compatible", [])),
        "context": v.get("context", ""),
        "sort": v.get("sort", ""),
        "group": v.get("group", ""),
        "nests": v.get("nests", v["kind"] == "ref"),
        "frees": v.get("frees", v["kind"] == "mem"),
        "handle": False,
        "parts": as_names(v.get("parts", [])),
    }
    for release in releases:
        record = _record(book, release, row)
        record["effects"].append(_release(book, name, v))
        _merge_common(record, row, v)


def _check_families(book: Book, kept: Iterable[tuple[str, Row]]) -> None:
    families = book["family"]
    for _, row in kept:
        for key in ("family", "compatible", "parts"):
            for name in as_names(row.values.get(key, [])):
                if name and name not in families:
                    raise row.wrong(f"no family called {name}", key)


# ---------------------------------------------------------------------- calls


def _record(book: Book, name: str, row: Row) -> Record:
    if name.count("*") > 1:
        raise row.wrong(f"{name} must not have more than one *")
    section = book["shape" if "*" in name else "call"]
    record: Record | None = section.get(name)
    if record is None or (row.file.extra and not record["extra"]):
        record = {**RECORD, "effects": [], "take": [], "unknown": [], "arranges": [], "extra": row.file.extra}
        section[name] = record
    return record


def _merge_common(record: Record, row: Row, v: Mapping[str, Any]) -> None:
    if "sleeps" in v:
        record["sleeps"] = _sleeps(v["sleeps"])
    if "rest" in v:
        record["rest"] = v["rest"]
    if "returns" in v:
        record["returns"] = words.argument(v["returns"])
    if v.get("where") and not record["where"]:
        record["where"] = v["where"]
    record["result"] &= _result(v)
    if not record["result"]:
        raise row.wrong("the result cannot be what this row and an earlier one of the same name say", "when")


def _sleeps(word: str) -> str:
    index = words.argument(word)
    return word if index is None else f"arg{index}"


def _result(v: Mapping[str, Any]) -> int:
    if "result" in v:
        return sum(words.CLASSES[name] for name in set(v["result"]))
    return words.WHEN[v.get("when", "always")].result


def _effect(action: str, resource: str, where: str, v: Mapping[str, Any], **more: object) -> Record:
    found = words.place(where)
    key = words.place(v["key"]) if "key" in v else None
    return {
        "do": action,
        "of": resource,
        "at": list(found or Place("global")),
        "when": words.WHEN[v.get("when", "always")].holds,
        "key": list(key) if key else None,
        "flags": as_names(v.get("flags", [])),
        **more,
    }


def _release(book: Book, family: str, v: Mapping[str, Any]) -> Record:
    about = book["family"][family]
    flags = sorted({*as_names(v.get("flags", [])), *(["maybe-last"] if about["nests"] else [])})
    return _effect(
        "release", family, v.get("at", "arg1"), v, null_ok=v.get("null_ok", False), err_ok=v.get("err_ok", False),
        frees=v.get("frees", about["frees"]), flags=flags,
    )  # fmt: skip


def _add_pair(book: Book, row: Row, owner: dict[tuple[str, str], bool]) -> None:
    v = row.values
    family = str(v["family"])
    about = book["family"].get(family)
    if about is None:
        raise row.wrong(f"no family called {family}", "family")
    about["handle"] |= about["kind"] == "pair" and str(v.get("held", "result")) == "result"
    for name in as_names(v["acquire"]):
        record = _record(book, name, row)
        if "eats" in v:
            eaten = _effect("release", family, str(v["eats"]), {}, null_ok=True, flags=["eats", "maybe-last"])
            record["effects"].append(eaten)
        held = _effect("acquire", family, str(v.get("held", "result")), v, null_ok=v.get("null_ok", False))
        held["context"] = about["context"]
        record["effects"].append(held)
        _merge_common(record, row, v)


def _add_release(book: Book, row: Row, owner: dict[tuple[str, str], bool]) -> None:
    v = row.values
    family = str(v["family"])
    if family not in book["family"]:
        raise row.wrong(f"no family called {family}", "family")
    for name in as_names(v["name"]):
        record = _record(book, name, row)
        record["effects"].append(_release(book, family, v))
        _merge_common(record, row, v)
        if name not in book["family"][family]["releases"]:
            book["family"][family]["releases"].append(name)


def _add_call(book: Book, row: Row, owner: dict[tuple[str, str], bool]) -> None:
    v = row.values
    resource = str(v.get("resource", ""))
    for name in as_names(v["name"]):
        record = _record(book, name, row)
        for where in as_names(v.get("consumes", [])):
            record["effects"].append(_effect("take", resource, where, v, frees=True))
        _add_takes(record, v, resource)
        for where in as_names(v.get("sets", [])):
            record["effects"].append(_effect("set", "", where, v))
        if "tag" in v:
            record["effects"].append(_effect("tag", str(v["tag"]), str(v.get("on", "result")), v))
        record["unknown"] += [words.argument(word) for word in as_names(v.get("unknown", []))]
        record["arranges"] += [words.argument(word) for word in as_names(v.get("arranges", []))]
        record["never"] = record["never"] or bool(v.get("never_returns", False))
        _merge_common(record, row, v)


def _add_takes(record: Record, v: Mapping[str, Any], resource: str) -> None:
    """What is kept whatever the result is a disposition of the argument; what depends on it is an effect."""
    for where in as_names(v.get("takes", [])):
        found = words.place(where)
        if found and found.root == "arg" and not found.deref and v.get("when", "always") == "always":
            record["take"].append(found.index)
        else:
            record["effects"].append(_effect("take", resource, where, v))


# ---------------------------------------------------------------- other tables


def _named(book: Book, section: str, name: str, row: Row, owner: dict[tuple[str, str], bool], record: Record) -> None:
    key = (section, name)
    if key in owner and owner[key] == row.file.extra:
        raise row.wrong(f"{section} {name} is defined twice")
    owner[key] = row.file.extra
    book[section][name] = record


def _add_macro(book: Book, row: Row, owner: dict[tuple[str, str], bool]) -> None:
    v = row.values
    for name in as_names(v["name"]):
        _named(book, "macro", name, row, owner, {
            "acts": v["acts"], "arg": words.argument(str(v.get("arg", "arg1"))),
            "value": words.argument(str(v.get("value", "arg2"))), "through": v.get("through", False),
            "tag": v.get("tag", ""), "family": v.get("family", ""),
        })  # fmt: skip


def _add_loop(book: Book, row: Row, owner: dict[tuple[str, str], bool]) -> None:
    v = row.values
    for name in as_names(v["name"]):
        _named(book, "loop", name, row, owner, {
            "assigns": words.argument(str(v.get("assigns", "arg1"))), "family": v.get("family", ""),
            "drops_itself": v.get("drops_itself", False), "context": v.get("context", ""), "held": v.get("held", ""),
            "non_null": v.get("non_null", True), "tag": v.get("tag", ""),
            "scratch": [words.argument(word) for word in as_names(v.get("scratch", []))],
            "over": words.argument(str(v.get("over", "none"))),
        })  # fmt: skip


def _add_guard(book: Book, row: Row, owner: dict[tuple[str, str], bool]) -> None:
    v = row.values
    _named(book, "guard", str(v["name"]), row, owner, {
        "acquire": v["acquire"], "release": v.get("release", ""), "conditional": v.get("conditional", False),
    })  # fmt: skip


def _add_cleanup(book: Book, row: Row, owner: dict[tuple[str, str], bool]) -> None:
    v = row.values
    for name in as_names(v["name"]):
        _named(book, "cleanup", name, row, owner, {
            "release": v["release"], "null_ok": v.get("null_ok", True), "err_ok": v.get("err_ok", False),
        })  # fmt: skip


def _add_pattern(book: Book, row: Row, owner: dict[tuple[str, str], bool]) -> None:
    v = row.values
    for name in as_names(v["acquire"]):
        if name.count("*") not in (1, 2):
            raise row.wrong(f"{name} must have one * or two", "acquire")
        book["pattern"].setdefault(name, []).extend(as_names(v["release"]))


def _add_table(book: Book, row: Row, owner: dict[tuple[str, str], bool]) -> None:
    name = row.table.partition(".")[2]
    roles = book["table"].setdefault(name, {})
    for role, value in row.values.items():
        roles.setdefault(role, []).extend(as_names(value))


_ADD = {
    "pair": _add_pair, "release": _add_release, "call": _add_call, "macro": _add_macro, "loop": _add_loop,
    "guard": _add_guard, "cleanup": _add_cleanup, "pattern": _add_pattern, "table": _add_table,
}  # fmt: skip
