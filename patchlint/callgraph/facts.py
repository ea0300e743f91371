"""The facts of one body as values, and as text to be remembered between runs."""

from __future__ import annotations

import json
from typing import NamedTuple

from patchlint.effects import ANY

VERSION = 7
"""Raised when the meaning of the facts changes."""

Passing = tuple[str, int]
"""A call by name, and the number of the argument from 0."""


class ParamFlow(NamedTuple):
    """Where one parameter goes."""

    kept: str = ""
    """Why it may be kept whatever the callees do: "stored" before all others, "in a local", "indirect call", ..."""
    returned: bool = False
    unused: bool = False
    """The body does not speak of it: a macro that makes names of its argument, or does nothing."""
    passed: tuple[Passing, ...] = ()
    """Calls that get it."""
    stored_results: tuple[Passing, ...] = ()
    """Of these, calls whose result is kept: it is kept with it if they give the argument back."""
    returned_results: tuple[Passing, ...] = ()
    """Of these, calls whose result is returned."""


class SureCall(NamedTuple):
    """A call that every path makes. ``args`` are source texts; "arg2" for a parameter handed on as it is."""

    name: str
    args: tuple[str, ...]


class Result(NamedTuple):
    """What a function of a signed number may return."""

    mask: int = ANY
    """Classes, without those of ``calls``."""
    calls: tuple[str, ...] = ()
    """Calls whose results it may return."""


class Flow(NamedTuple):
    """The facts of one body."""

    params: tuple[ParamFlow, ...]
    returns_param: int = -1
    """The parameter that every return gives back, itself or as a pointer into it."""
    variadic: bool = False
    """The last parameter stands for all further arguments."""
    sure: tuple[SureCall, ...] = ()
    called: tuple[str, ...] = ()
    """Every name called anywhere; "" when there is a call through a pointer or unreadable text."""
    looks: bool = False
    """It writes nothing but its own variables: what it does not call for it only looks at."""
    result: Result = Result()


def encode(flow: Flow) -> str:
    """The facts as JSON."""
    return json.dumps(flow, separators=(",", ":"))


def decode(text: str) -> Flow:
    """Facts from JSON. Raises ValueError or TypeError for text that :func:`encode` did not make."""
    params, returns_param, variadic, sure, called, looks, result = json.loads(text)
    return Flow(
        tuple(
            ParamFlow(kept, returned, unused, *(tuple((name, at) for name, at in calls) for calls in lists))
            for kept, returned, unused, *lists in params
        ),
        returns_param,
        variadic,
        tuple(SureCall(name, tuple(args)) for name, args in sure),
        tuple(called),
        looks,
        Result(result[0], tuple(result[1])),
    )
