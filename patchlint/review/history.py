"""Every function that a patch changes, or makes wrong from afar, before and after each patch of a series."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from patchlint.checkers import Mode
from patchlint.effects import Summary
from patchlint.model import Finding, NotAnalysed
from patchlint.review.examine import Examiner, Knowledge
from patchlint.review.functions import Pair, Site, changed_functions
from patchlint.review.reworded import paired, renamed_words, reworded
from patchlint.review.timeline import Stage, State, View, Views
from patchlint.review.verdicts import Change, by_nameless_key, judge
from patchlint.source import TreeReader

_MOST_CALLERS = 200
"""Untouched callers looked at for one patch."""
_MOST_LEVELS = 3
"""How far a changed effect is followed from callee to caller."""


class _Past(NamedTuple):
    """A function before a change, not examined yet: its findings matter only when there are some later on."""

    at: int
    """Which of the changes it precedes."""
    site: Site
    state: State
    text: bytes
    """What the patch makes of it; empty when it removes it."""


@dataclass(slots=True)
class _Life:
    """One function over the series, under whatever name and path."""

    mode: Mode
    changes: list[Change] = field(default_factory=list)
    past: list[_Past] = field(default_factory=list)


class Verdicts(NamedTuple):
    """What the functions of a series came to."""

    findings: tuple[Finding, ...]
    not_analysed: tuple[NotAnalysed, ...]


class FunctionHistory:
    """Follows each function through the patches of one series.

    What a function looked like before a patch is examined only when there is something to compare with it, unless
    ``thorough`` asks for all that was there before as well.
    """

    def __init__(
        self, examiner: Examiner, knowledge: Knowledge, reader: TreeReader | None, views: Views, thorough: bool
    ) -> None:
        self._thorough = thorough
        self._examiner = examiner
        self._knowledge = knowledge
        self._reader = reader
        self._views = views
        self._lives: dict[tuple[str, str], _Life] = {}
        self._ended: list[_Life] = []
        self._skipped: list[NotAnalysed] = []

    def run(self, stages: Sequence[Stage]) -> Verdicts:
        """Findings with verdict and patch, and what was not followed."""
        for stage in stages:
            self._rename_files(stage)
            pairs = changed_functions(stage.changes)
            sound = [pair for pair in pairs if not self._changed(stage, pair)]
            self._untouched(stage, pairs, sound)
        lives = {id(life): life for life in (*self._ended, *self._lives.values())}
        findings = [finding for life in lives.values() for finding in judge(life.changes)]
        return Verdicts(tuple(findings), tuple(self._skipped))

    def _rename_files(self, stage: Stage) -> None:
        """Functions that a renamed file carries along unchanged keep their record."""
        for change in stage.changes:
            old = change.before.path if change.before is not None else ""
            if change.after is not None and old not in ("", change.after.path):
                for place in [place for place in self._lives if place[0] == old]:
                    self._lives[change.after.path, place[1]] = self._lives.pop(place)

    def _changed(self, stage: Stage, pair: Pair) -> bool:
        """Compare one changed function; whether the patch brings a fault into it."""
        return self._compare(stage, self._life(pair), pair)

    def _compare(self, stage: Stage, life: _Life, pair: Pair, elsewhere: bool = False) -> bool:
        """Add what the patch makes of a function to its record; whether it brings a fault into it."""
        after = self._examine(pair.after, stage.after, life.mode)
        if pair.before is not None:
            text = pair.after.text if pair.after is not None else b""
            life.past.append(_Past(len(life.changes), pair.before, stage.before, text))
        life.changes.append(Change(stage.order, stage.patch.n, {}, by_nameless_key(after), elsewhere))
        if self._thorough or any(change.after for change in life.changes):
            self._look_back(life)
        change = life.changes[-1]
        return bool(change.after.keys() - change.before.keys())

    def _look_back(self, life: _Life) -> None:
        """Examine what was put off."""
        for at, site, state, text in life.past:
            before = by_nameless_key(self._examine(site, state, life.mode))
            life.changes[at] = life.changes[at]._replace(before=before)
            if before.keys() - life.changes[at].after.keys():
                self._reword(life, at, renamed_words(site.text, text))
                change = life.changes[at]
                life.changes[at] = change._replace(before=paired(change.before, change.after))
        life.past.clear()

    def _reword(self, life: _Life, at: int, words: Mapping[str, str]) -> None:
        """Tell what the function had up to the change ``at`` by the names that it gives things."""
        if words:
            for index, change in enumerate(life.changes[: at + 1]):
                after = change.after if index == at else reworded(change.after, words)
                life.changes[index] = change._replace(before=reworded(change.before, words), after=after)

    def _life(self, pair: Pair) -> _Life:
        """The function's record, moved to its new place; a function without a past begins as new code."""
        life = None
        if pair.before is not None:
            path = pair.after.view.path if pair.after is not None else pair.before.view.path
            life = self._lives.pop(pair.before.place, None) or self._lives.pop((path, pair.before.head.name), None)
        if life is None:
            life = _Life("changed" if pair.before is not None else "new")
        if pair.after is not None:
            other = self._lives.get(pair.after.place)
            if other is not None and other is not life:
                self._ended.append(other)
            self._lives[pair.after.place] = life
        else:
            self._ended.append(life)
        return life

    def _examine(self, site: Site | None, state: State, mode: Mode) -> tuple[Finding, ...]:
        return () if site is None else self._examiner.examine(site, state, mode)

    # ------------------------------------------------------------- from afar

    def _untouched(self, stage: Stage, pairs: Sequence[Pair], sound: Sequence[Pair]) -> None:
        """Callers that the patch leaves alone although it changes what their callee does.

        A callee that the patch makes faulty is told as such; what follows from that in its callers is not told again.
        """
        done = {pair.after.place for pair in pairs if pair.after is not None}
        front = [site for pair in sound if (site := self._effect_changed(stage, pair)) is not None]
        looked_at = 0
        for _ in range(_MOST_LEVELS):
            callers = [caller for site in front for caller in self._callers(stage, site) if caller.place not in done]
            front = []
            for caller in callers:
                if caller.place in done:
                    continue
                done.add(caller.place)
                looked_at += 1
                if looked_at > _MOST_CALLERS:
                    self._too_many(stage, caller)
                    return
                if not self._from_afar(stage, caller) and self._effect_changed(stage, Pair(caller, caller)) is not None:
                    front.append(caller)

    def _from_afar(self, stage: Stage, caller: Site) -> bool:
        """Compare a function that is not changed itself; whether it is faulty now."""
        known = self._lives.get(caller.place)
        mode: Mode = known.mode if known is not None else "changed"
        life = known or _Life(mode)
        faulty = self._compare(stage, life, Pair(caller, caller), elsewhere=True)
        if any(change.before or change.after for change in life.changes):
            self._lives[caller.place] = life
        return faulty

    def _effect_changed(self, stage: Stage, pair: Pair) -> Site | None:
        """The function after the patch, when its body now does something else to its callers than before."""
        if pair.before is None or pair.after is None:
            return None
        old = self._effect(pair.before, stage.before)
        new = self._effect(pair.after, stage.after)
        return pair.after if old != new else None

    def _effect(self, site: Site, state: State) -> Summary | None:
        summary = self._knowledge.callees(site.view.path, state).summary(site.head.name)
        return None if summary is None else summary._replace(where="")

    def _callers(self, stage: Stage, site: Site) -> Iterator[Site]:
        name = site.head.name
        own = site.view.path if site.head.static and not site.view.path.endswith(".h") else None
        for path, views in stage.after.items():
            if own in (None, path):
                yield from _calling(views[:1], name)
        if own is None:
            yield from self._callers_in_tree(stage, name)

    def _callers_in_tree(self, stage: Stage, name: str) -> Iterator[Site]:
        by_file: dict[str, set[str]] = {}
        for path, function in self._knowledge.callers(name):
            if path not in stage.after:
                by_file.setdefault(path, set()).add(function)
        for path in sorted(by_file):
            source = self._reader.read(path) if self._reader is not None else None
            if source is not None:
                sites = _calling((self._views.view(path, source),), name)
                yield from (site for site in sites if site.head.name in by_file[path])

    def _too_many(self, stage: Stage, caller: Site) -> None:
        reason = f"more than {_MOST_CALLERS} callers of what patch {stage.patch.n} changes; this and the rest left out"
        line = caller.view.file_line(caller.head.start)
        self._skipped.append(NotAnalysed(caller.view.path, caller.head.name, reason, line))


def _calling(views: Iterable[View], name: str) -> Iterator[Site]:
    """The functions of these views that call ``name``."""
    needle = name.encode()
    for view in views:
        if needle not in view.source:
            continue
        for head in view.unit.heads:
            if head.name != name and name in view.unit.calls(head):
                yield Site(view, head)
