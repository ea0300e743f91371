"""The rule set: rules and models of all files, in one value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from patchlint.model import PatchlintError
from patchlint.ruleset.book import SECTIONS, Book, write_book
from patchlint.ruleset.models import Models
from patchlint.ruleset.rule import Rule, gather, plain_rule, read_rule, rule_from
from patchlint.ruleset.source import RuleFile, read_tables, rows_of

FORMAT = 5
"""Counts up whenever the kept form of a rule set changes its meaning."""


@dataclass(frozen=True, slots=True)
class Ruleset:
    """All rules by id (in order), the API models, and the digest of the files they came from."""

    rules: Mapping[str, Rule]
    models: Models
    digest: str

    def speaking_of(self, checker: str, fault: str, kind: str = "", family: str = "") -> Rule | None:
        """The rule that reports ``fault`` of ``checker`` on ``family``, which is of ``kind``; None where none wants it.

        A rule that names the family goes before one that speaks of the whole kind.
        """
        fitting = [
            rule
            for rule in self.rules.values()
            if rule.checker == checker
            and fault in rule.faults
            and (not rule.kinds or kind in rule.kinds)
            and (not rule.families or family in rule.families)
        ]
        return min(fitting, key=lambda rule: not rule.families, default=None)


def digest_of(files: Iterable[RuleFile]) -> str:
    """SHA-256 over names and bytes of the files in order, and over the format of the kept form."""
    total = hashlib.sha256(f"patchlint rules {FORMAT}\n".encode())
    for file in files:
        total.update(f"{file.name}\0{len(file.data)}\0{int(file.extra)}\n".encode())
        total.update(file.data)
    return total.hexdigest()


def load(files: Sequence[RuleFile]) -> Ruleset:
    """Read and check all files; raises PatchlintError with file and line at the first thing that is wrong.

    A file that holds tables only is a model file, any other holds one rule.  The user's files go last: what they say
    of a rule id, a family or a name replaces what the built-in files say.
    """
    ordered = sorted((file for file in files if not _is_foreign(file)), key=lambda file: file.extra)
    read = [(file, read_tables(file)) for file in ordered]
    models = [(file, tables) for file, tables in read if _is_model(tables)]
    rules = gather((read_rule(file, tables), file.extra) for file, tables in read if not _is_model(tables))
    rows = (row for file, tables in models for row in rows_of(file, tables))
    book = write_book(rows)
    _check_families(rules, book)
    return Ruleset(MappingProxyType(rules), Models(book), digest_of(files))


def _check_families(rules: Mapping[str, Rule], book: Book) -> None:
    for rule in rules.values():
        for name in rule.families:
            if name not in book["family"]:
                raise PatchlintError(f"{rule.file}:1: families: no model file has a family '{name}'")


def _is_model(tables: Mapping[str, object]) -> bool:
    return all(isinstance(value, dict | list) for value in tables.values())


def _is_foreign(file: RuleFile) -> bool:
    """The C dialect lies among the models but is the syntax room's to read."""
    return file.name.endswith("models/dialect.toml")


def keep(ruleset: Ruleset) -> bytes:
    """The rule set as bytes that ``restore`` reads in a few milliseconds; keep them under ``ruleset.digest``."""
    plain = {
        "format": FORMAT,
        "digest": ruleset.digest,
        "rules": [plain_rule(rule) for rule in ruleset.rules.values()],
        "book": ruleset.models.book,
    }
    return json.dumps(plain, separators=(",", ":")).encode()


def restore(kept: bytes, digest: str) -> Ruleset | None:
    """What ``keep`` wrote; None when the bytes are damaged, of another format or of files other than ``digest``."""
    try:
        plain = json.loads(kept)
        if plain["format"] != FORMAT or plain["digest"] != digest or set(plain["book"]) != set(SECTIONS):
            return None
        rules = {rule.id: rule for rule in map(rule_from, plain["rules"])}
    except (ValueError, KeyError, TypeError):
        return None
    book: Book = plain["book"]
    return Ruleset(MappingProxyType(rules), Models(book), digest)
