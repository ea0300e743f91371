"""Summaries as text, to be remembered between runs."""

from __future__ import annotations

import json
from typing import Any

from patchlint.effects import Effect, Place, Summary

VERSION = 33
"""Raised when what is inferred changes its meaning."""


def encode_summary(summary: Summary | None) -> str:
    """The summary as JSON."""
    if summary is None:
        return "null"
    effects = [[*effect[:9], sorted(effect.flags), effect.where] for effect in summary.effects]
    return json.dumps([summary.name, effects, *summary[2:]], separators=(",", ":"))


def decode_summary(text: str) -> Summary | None:
    """A summary from JSON. Raises ValueError or TypeError for text that :func:`encode_summary` did not make."""
    record = json.loads(text)
    if record is None:
        return None
    name, effects, args, *rest, may_end, unused, always = record
    found = Summary(name, tuple(_effect(*effect) for effect in effects), tuple(args), *rest)
    return found._replace(arranges=tuple(found.arranges), may_end=tuple(may_end), unused=tuple(unused), always=always)


def _effect(action: Any, resource: str, place: list[Any], *rest: Any) -> Effect:
    when, null_ok, err_ok, frees, context, key, flags, where = rest
    cookie = Place(*key) if key else None
    return Effect(
        action, resource, Place(*place), when, null_ok, err_ok, frees, context, cookie, frozenset(flags), where
    )
