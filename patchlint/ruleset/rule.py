"""Rules as data: one file each, checked on reading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from patchlint.model import CONFIDENCES, SEVERITIES, Confidence, PatchlintError, Severity
from patchlint.ruleset.source import Row, RuleFile

Parameter: TypeAlias = str | int | bool | tuple[str, ...]

CHECKERS = ("pairing", "rcu", "context", "iterator", "static_key", "dst", "series")
"""The checkers a rule may name: the modules of the ``checkers`` room."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``checker`` finds its faults; ``faults`` are the checker's words for what this rule speaks of.

    ``kinds`` narrows it to families of these kinds, ``families`` to these themselves (() for any).  ``severity`` and
    ``confidence`` are the most that a finding of it gets; the checker lowers them where its evidence is weaker.
    """

    id: str
    name: str
    summary: str
    why: str
    bad: str
    good: str
    checker: str
    faults: tuple[str, ...]
    severity: Severity
    confidence: Confidence
    since: str
    kinds: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    """What it does not see, and what may look wrong to it and is right; for the documentation."""
    file: str = ""


_ID = re.compile(r"[A-Z]{3,5}[0-9]{3}")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TEXTS = ("id", "name", "summary", "why", "bad", "good", "checker", "severity", "confidence", "since")
_LISTS = ("faults", "kinds", "families", "references", "limits")
_KEYS = (*_TEXTS, *_LISTS, "parameters")


def read_rule(file: RuleFile, tables: Mapping[str, object]) -> Rule:
    """The rule that a file's TOML holds; raises PatchlintError naming file and line."""
    row = Row("rule", tables, file, 0)
    for key in row.values:
        if key not in _KEYS:
            raise _wrong(row, f"unknown key '{key}' (known: {', '.join(_KEYS)})", key)
    texts = {key: _text(row, key) for key in _TEXTS}
    lists = {key: _list(row, key) for key in _LISTS}
    _check_words(row, texts)
    if not lists["faults"]:
        raise _wrong(row, "no 'faults'", "faults")
    return rule_from({**texts, **lists, "parameters": _parameters(row), "file": file.name})


def rule_from(plain: Mapping[str, Any]) -> Rule:
    """A rule from its plain (JSON) form."""
    values = dict(plain)
    for key in _LISTS:
        values[key] = tuple(values.get(key, ()))
    values["parameters"] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values["parameters"].items()
    }
    return Rule(**values)


def plain_rule(rule: Rule) -> dict[str, Any]:
    """The JSON form of a rule; ``rule_from`` reads it back."""
    plain: dict[str, Any] = {key: getattr(rule, key) for key in (*_TEXTS, "file")}
    plain.update({key: list(getattr(rule, key)) for key in _LISTS})
    plain["parameters"] = {
        key: list(value) if isinstance(value, tuple) else value for key, value in rule.parameters.items()
    }
    return plain


def gather(rules: Iterable[tuple[Rule, bool]]) -> dict[str, Rule]:
    """Rules by id in order of id; a rule of the user's (True) replaces a built-in one, two of one sort are an error."""
    found: dict[str, tuple[Rule, bool]] = {}
    for rule, extra in rules:
        known = found.get(rule.id)
        if known is not None and known[1] == extra:
            raise PatchlintError(f"{rule.file}:1: rule {rule.id} is already in {known[0].file}")
        found[rule.id] = (rule, extra)
    return {key: found[key][0] for key in sorted(found)}


def _wrong(row: Row, what: str, key: str = "") -> PatchlintError:
    error = str(row.wrong(what, key))
    return PatchlintError(error.replace(": [rule]:", ":").replace(f"{row.file.name}:0:", f"{row.file.name}:1:"))


def _text(row: Row, key: str) -> str:
    value = row.values.get(key)
    if value is None:
        raise _wrong(row, f"no '{key}'")
    if not isinstance(value, str) or not value.strip():
        raise _wrong(row, f"{key} must be a string with something in it", key)
    return value.strip("\n")


def _list(row: Row, key: str) -> list[str]:
    value = row.values.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _wrong(row, f"{key} must be a list of strings", key)
    return list(value)


def _parameters(row: Row) -> dict[str, Any]:
    value = row.values.get("parameters", {})
    if not isinstance(value, dict):
        raise _wrong(row, "parameters must be a table", "parameters")
    for key, item in value.items():
        texts = isinstance(item, list) and all(isinstance(part, str) for part in item)
        if not texts and not isinstance(item, str | int | bool):
            raise _wrong(row, f"parameter {key} must be a string, a number, a boolean or a list of strings", key)
    return value


def _check_words(row: Row, texts: Mapping[str, str]) -> None:
    if not _ID.fullmatch(texts["id"]):
        raise _wrong(row, "id must be three to five capitals and three digits, like REF001", "id")
    if not _NAME.fullmatch(texts["name"]):
        raise _wrong(row, "name must be in kebab-case", "name")
    for key, choices in (("checker", CHECKERS), ("severity", SEVERITIES), ("confidence", CONFIDENCES)):
        if texts[key] not in choices:
            raise _wrong(row, f"{key} must be one of {', '.join(choices)}", key)
