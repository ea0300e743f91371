"""What the model files say about a name, as values of ``effects``, made when first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from patchlint.effects import Cleanup, Effect, Family, GuardClass, Loop, Macro, Place, Summary
from patchlint.ruleset.book import EFFECT, RECORD, Book, Record

_START: Final = 2
"""First letters of names by which shapes are looked up."""


class Models:
    """API knowledge by name. Answers are memoised; the object is otherwise immutable."""

    def __init__(self, book: Book) -> None:
        self.book = book
        """The plain records behind it; what a cache keeps. Not to be changed."""
        self._summaries: dict[str, Summary | None] = {}
        self._families: dict[str, Family | None] = {}
        self._macros: dict[str, Macro | None] = {}
        self._loops: dict[str, Loop | None] = {}
        self._guards: dict[str, GuardClass | None] = {}
        self._undone_by: dict[str, tuple[str, ...]] = {}
        self._call_shapes = _Shapes(book["shape"])
        self._loop_shapes = _Shapes({name: row for name, row in book["loop"].items() if "*" in name})
        self._macro_shapes = _Shapes({name: row for name, row in book["macro"].items() if "*" in name})
        self._patterns = _Patterns(book["pattern"])

    def summary(self, name: str) -> Summary | None:
        """What a call of ``name`` does: its own rows, else those of the longest fitting shape (``of_property_*``)."""
        if name not in self._summaries:
            self._summaries[name] = self._make_summary(name)
        return self._summaries[name]

    def family(self, resource: str) -> Family | None:
        """The family called ``resource``."""
        if resource not in self._families:
            record = self.book["family"].get(resource)
            self._families[resource] = _family(resource, record) if record else None
        return self._families[resource]

    def macro(self, name: str) -> Macro | None:
        """A macro that the engine looks through."""
        if name not in self._macros:
            record = self.book["macro"].get(name) or self._macro_shapes.find(name)
            self._macros[name] = Macro(name, **record) if record else None
        return self._macros[name]

    def loop(self, name: str) -> Loop | None:
        """A loop macro: its own row, else the shape of its name (``list_for_each_entry*``)."""
        if name not in self._loops:
            record = self.book["loop"].get(name) or self._loop_shapes.find(name)
            self._loops[name] = _loop(name, record) if record else None
        return self._loops[name]

    def guard(self, name: str) -> GuardClass | None:
        """The class of ``guard(name)``, ``scoped_guard(name)`` or ``CLASS(name, v)``."""
        if name not in self._guards:
            record = self.book["guard"].get(name)
            self._guards[name] = self._make_guard(name, record) if record else None
        return self._guards[name]

    def scope_release(self, name: str) -> Cleanup | None:
        """What ``__free(name)`` or ``__cleanup(name)`` calls: a row's word, else the function ``name`` itself."""
        record = self.book["cleanup"].get(name)
        release = str(record["release"]) if record else name
        families = self._released_by(release)
        if record is None:
            return Cleanup(name, release, families) if families else None
        return Cleanup(name, release, families, record["null_ok"], record["err_ok"])

    def cleanup(self, name: str) -> tuple[str, ...]:
        """Families that ``__free(name)`` or ``__cleanup(name)`` releases; () when unknown."""
        found = self.scope_release(name)
        return tuple(sorted(found.families)) if found else ()

    def counterpart(self, name: str) -> tuple[str, ...]:
        """Names that by the regular forms would undo ``name``, the likeliest first.

        Evidence for an unmodelled acquire only where the same function's own unwinding calls one of them.
        """
        if name not in self._undone_by:
            self._undone_by[name] = self._patterns.releases(name)
        return self._undone_by[name]

    def table(self, name: str) -> Mapping[str, tuple[str, ...]]:
        """A table of names by role, e.g. ``table("static_key")["inc"]``; empty when there is none of that name."""
        return {role: tuple(names) for role, names in self.book["table"].get(name, {}).items()}

    def names(self) -> tuple[str, ...]:
        """Every name with rows of its own, shapes included, in order."""
        return tuple(sorted({*self.book["call"], *self.book["shape"]}))

    def families(self) -> tuple[str, ...]:
        """The names of all families, in order."""
        return tuple(sorted(self.book["family"]))

    def _make_summary(self, name: str) -> Summary | None:
        record = self.book["call"].get(name)
        if record is not None:
            return _summary(name, record, shape=False)
        record = self._call_shapes.find(name)
        return _summary(name, record, shape=True) if record is not None else None

    def _make_guard(self, name: str, record: Record) -> GuardClass:
        acquire, release = str(record["acquire"]), str(record["release"])
        summary = self.summary(acquire)
        held = next((effect for effect in summary.effects if effect.action == "acquire"), None) if summary else None
        if held is None:
            return GuardClass(name, "", -1, "", record["conditional"], acquire, release)
        arg = {"arg": held.place.index, "global": -1, "result": -2}[held.place.root]
        return GuardClass(name, held.resource, arg, held.context, record["conditional"], acquire, release)

    def _released_by(self, release: str) -> frozenset[str]:
        summary = self.summary(release)
        if summary is None:
            return frozenset()
        return frozenset(effect.resource for effect in summary.effects if effect.action == "release")


class _Shapes:
    """Records under names with one ``*``, found by the longest literal part."""

    def __init__(self, rows: Mapping[str, Any]) -> None:
        self._rows: list[tuple[str, str, Any]] = []
        for shape, record in rows.items():
            before, _, after = shape.partition("*")
            self._rows.append((before, after, record))
        self._rows.sort(key=lambda row: -len(row[0]) - len(row[1]))
        self._by_start: dict[str, list[tuple[str, str, Any]]] = {}
        """Rows that fit names with these first letters: every new name of a file asks."""

    def find(self, name: str) -> Any:
        """The record of the most literal shape that fits; None when none does."""
        start = name[:_START]
        rows = self._by_start.get(start)
        if rows is None:
            rows = self._by_start[start] = [row for row in self._rows if start.startswith(row[0][:_START])]
        for before, after, record in rows:
            if _fits(name, before, after):
                return record
        return None


class _Patterns:
    """Regular names: shapes with one ``*`` or two, and the shapes of what undoes them."""

    def __init__(self, rows: Mapping[str, Sequence[str]]) -> None:
        self._rows = [(max(shape.split("*"), key=len), shape.split("*"), shapes) for shape, shapes in rows.items()]

    def releases(self, name: str) -> tuple[str, ...]:
        """All names made by putting what the stars stood for into the shapes, in order of the rows."""
        made: dict[str, None] = {}
        for word, shape, releases in self._rows:
            if word in name and (stars := _stars(name, shape)):
                made.update(dict.fromkeys(_put_stars(release, stars) for release in releases))
        made.pop(name, None)
        return tuple(made)


def _stars(name: str, shape: Sequence[str]) -> tuple[str, ...]:
    """What the stars between the literal parts of ``shape`` stand for in ``name``; () when it does not fit."""
    before, *middle, after = shape
    if not _fits(name, before, after):
        return ()
    inner = name[len(before) : len(name) - len(after)]
    if not middle:
        return (inner,)
    at = inner.rfind(middle[0], 1, len(inner) - 1)
    return (inner[:at], inner[at + len(middle[0]) :]) if at > 0 else ()


def _put_stars(shape: str, stars: Sequence[str]) -> str:
    for star in stars[: shape.count("*")]:
        shape = shape.replace("*", star, 1)
    return shape


def _fits(name: str, before: str, after: str) -> bool:
    return len(name) > len(before) + len(after) - 1 and name.startswith(before) and name.endswith(after)


def _place(record: Any) -> Place:
    return Place(*record)


def _effect(record: Record) -> Effect:
    full = {**EFFECT, **record}
    key = _place(full["key"]) if full["key"] else None
    return Effect(
        full["do"], full["of"], _place(full["at"]), full["when"], full["null_ok"], full["err_ok"], full["frees"],
        full["context"], key, frozenset(full["flags"]),
    )  # fmt: skip


def _summary(name: str, record: Record, *, shape: bool) -> Summary:
    full = {**RECORD, **record}
    rest = str(full["rest"])
    special = dict.fromkeys(full["take"], "take") | dict.fromkeys(full["unknown"], "unknown")
    args = tuple(special.get(index, rest) for index in range(max(special, default=-1) + 1))
    return Summary(
        name, tuple(map(_effect, full["effects"])), args, rest, full["result"], full["returns"], full["never"],
        full["sleeps"], "pattern" if shape else "model", full["where"], tuple(full["arranges"]),
    )  # fmt: skip


def _family(name: str, record: Record) -> Family:
    return Family(
        name, record["kind"], record["label"], tuple(record["releases"]), frozenset(record["compatible"]),
        record["context"], record["sort"], record["group"], record["nests"],
        record["handle"], tuple(record["parts"]),
    )  # fmt: skip


def _loop(name: str, record: Record) -> Loop:
    return Loop(**{**record, "name": name, "scratch": tuple(record["scratch"])})
