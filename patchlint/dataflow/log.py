"""What happened on the paths of one exploration, each thing once."""

from __future__ import annotations

from patchlint.dataflow.report import Event, Released, Site
from patchlint.dataflow.values import Value


class Log:
    """Events, places of acquisition and releases of all paths; one entry each."""

    __slots__ = ("_events", "asserted", "block", "blocks", "kept", "passed", "pos", "releases", "sites",
                 "taken", "undos")  # fmt: skip

    def __init__(self) -> None:
        self._events: dict[tuple[str, int, str, str, str, Value], Event] = {}
        self.sites: dict[tuple[int, str], Site] = {}
        self.releases: dict[tuple[str, Value, int, bool, int], Released] = {}
        self.asserted: set[str] = set()
        self.block = 0
        """Block of the flow graph that is being executed."""
        self.blocks: dict[int, int] = {}
        """Place of a taking, of a release, or of a call that by its name undoes something -> its block."""
        self.undos: set[int] = set()
        self.pos = 0
        """Where the store or call is that is looked at."""
        self.kept: set[tuple[int, int]] = set()
        """Where a hold began, and where what is held was put or given to stay."""
        self.taken: set[Value] = set()
        """What some call has kept or consumed, whether it was held or not."""
        self.passed: dict[int, set[Value]] = {}
        """Place of a call that no model tells of, and what its arguments are derived from, while something was held."""

    def event(self, event: Event) -> None:
        """Keep the first path to each event; what is dropped without being held may be one thing or another."""
        which = event.obj if event.kind == "underflow" else -1
        key = (event.kind, event.pos, event.name, event.family, event.detail, which)
        old = self._events.get(key)
        if old is None or (not event.holds and old.holds):
            self._events[key] = event

    def events(self) -> tuple[Event, ...]:
        """All events, by place."""
        return tuple(sorted(self._events.values(), key=lambda e: (e.pos, e.kind, e.name)))
