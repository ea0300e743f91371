"""What calls do with cached routes, and with the skbs that carry them: the lists of the model table ``dst``."""

from __future__ import annotations

from dataclasses import dataclass

from patchlint.ruleset import Models


@dataclass(frozen=True, slots=True)
class DstWords:
    """Names of calls by what they do; ``looks`` and ``ends`` are beginnings of names.

    ``route_checks`` are given a route and its cookie, ``socket_checks`` a cookie for the socket's own cache,
    ``held_checks`` are those whose result is a reference of the caller's.
    """

    route_checks: frozenset[str]
    socket_checks: frozenset[str]
    held_checks: frozenset[str]
    attaches: frozenset[str]
    attaches_noref: frozenset[str]
    lends: frozenset[str]
    lending_fields: frozenset[str]
    holds: frozenset[str]
    drops: frozenset[str]
    uses: frozenset[str]
    queues: frozenset[str]
    settles: frozenset[str]
    looks: tuple[str, ...]
    ends: tuple[str, ...]


def dst_words(models: Models) -> DstWords:
    """The lists as the model files give them; a role that they leave out is empty."""
    table = models.table("dst")

    def role(name: str) -> frozenset[str]:
        return frozenset(table.get(name, ()))

    return DstWords(
        role("route_checks"), role("socket_checks"), role("held_checks"), role("attaches"), role("attaches_noref"),
        role("lends"), role("lending_fields"), role("holds"), role("drops"), role("uses"), role("queues"),
        role("settles"), table.get("looks", ()), table.get("ends", ()),
    )  # fmt: skip
