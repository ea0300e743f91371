"""What a call does: models first, then the callee's body, as far as every definition that may be meant agrees."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from patchlint.callgraph.addresses import pointers
from patchlint.callgraph.affected import affected
from patchlint.callgraph.borrowing import Borrowing
from patchlint.callgraph.callees import Bodies, Callee
from patchlint.callgraph.codec import VERSION, decode_summary, encode_summary
from patchlint.callgraph.index import TreeIndex
from patchlint.callgraph.inference import NOTHING, Inferred, agreed, infer
from patchlint.callgraph.results import answers, on_success
from patchlint.callgraph.scan import Definition
from patchlint.callgraph.sleeping import Sleeping
from patchlint.effects import ANY, ZERO, Cleanup, Effect, Family, GuardClass, Loop, Macro, Place, Summary
from patchlint.ir import Function
from patchlint.ruleset import Models

MAX_LEVELS = 3
"""How deep effects are looked for: a wrapper of a wrapper of a wrapper of an API."""
_MOST_CALLS = 40
"""Names called in a body that is explored path by path: wrappers are small."""
_PARTNERS = 6
"""Functions of the same file that are looked at for the other half of a lock wrapper."""
_MAX_ALIASES = 4
_UNPAIRED = frozenset(("unpaired",))


class TreeCallees:
    """Summaries for one state of a tree. Memoises; ask :meth:`within` for the port of one file."""

    def __init__(self, models: Models, index: TreeIndex, digest: str = "", base: TreeCallees | None = None) -> None:
        self.models = models
        self.index = index
        self._base = base
        """The tree without the overlay of ``index``: it knows all that the overlay does not change."""
        self.bodies: Bodies = Bodies(models, index, digest, base.bodies if base is not None else None)
        self.borrowing: Borrowing = Borrowing(
            self.bodies, self._pays, base.borrowing if base is not None else None, self._untouched
        )
        self.sleeping = Sleeping(self.bodies)
        self._pointers = pointers(models)
        self._summaries: dict[tuple[object, ...], Summary | None] = {}
        self._inferred: dict[tuple[str, int, int], Inferred] = {}
        self._shapes: dict[tuple[str, int], Summary] = {}
        self._heights: dict[tuple[str, int, int], int] = {}
        self._paying = False
        """Whether a body is explored to answer the same question about another: that would have no end."""

    def with_overlay(self, files: Mapping[str, bytes | None]) -> TreeCallees:
        """The same tree with other files before it."""
        base = self._base or self
        return TreeCallees(self.models, base.index.with_overlay(files), self.bodies.digest, base)

    def within(self, file: str) -> FileCallees:
        """What names mean in ``file``."""
        return FileCallees(self, file, MAX_LEVELS)

    def summary(self, name: str, file: str, levels: int = MAX_LEVELS) -> Summary | None:
        """What a call of ``name`` in ``file`` does; None when neither a model nor a body tells.

        With no ``levels`` left, effects are not looked for.
        """
        found = self.models.summary(name)
        if found is not None and not self._own(found, file):
            return self._shaped(found, file, levels) if found.origin == "pattern" else found
        definitions = self.index.resolve(name, file)
        return self._of(name, definitions, levels) if definitions else None

    def _shaped(self, shape: Summary, file: str, levels: int) -> Summary:
        """What the regular form of a name says, and what the body ends all the same."""
        key = (shape.name, levels)
        if key not in self._shapes:
            self._shapes[key] = shape
            if self.borrowing.gives_up(shape.name, file):
                body = self._of(shape.name, self.index.resolve(shape.name, file), levels)
                ends = (e for e in body.effects if e.action == "release") if body is not None else ()
                self._shapes[key] = shape._replace(effects=(*shape.effects, *ends))
        return self._shapes[key]

    def _own(self, api: Summary, file: str) -> bool:
        """Whether a file has a static function of an API's name, which then is what it calls."""
        scan = self.index.scan(file) if file.endswith(".c") and not api.where.startswith(file) else None
        return scan is not None and any(one.static and one.kind == "function" for one in scan.defined(api.name))

    def _of(self, name: str, definitions: tuple[Definition, ...], levels: int) -> Summary | None:
        """What a call of one of the definitions does."""
        if self._base is not None and not any(self._changed(found) for found in definitions):
            return self._base._of(name, definitions, levels)
        key = (name, levels, *((found.file, found.start) for found in definitions))
        if key not in self._summaries:
            self._summaries[key] = None  # what recursion sees of itself
            self._summaries[key] = self._remembered(name, definitions, levels)
        return self._summaries[key]

    def _remembered(self, name: str, definitions: tuple[Definition, ...], levels: int) -> Summary | None:
        """From an earlier run where nothing but the tree's state matters, else inferred now."""
        state = self.index.store.state
        if self._base is not None or not state:
            return self._infer(name, definitions, levels)
        places = (f"{found.file}:{found.start}" for found in definitions)
        key = self.bodies.key(str(VERSION), state, name, str(levels), *places)
        text = self.index.store.remembered("summary", key)
        if text is not None:
            try:
                return decode_summary(text)
            except (ValueError, TypeError):
                pass  # a row of another version: inferred and written again
        summary = self._infer(name, definitions, levels)
        self.index.store.remember("summary", key, encode_summary(summary))
        return summary

    def _untouched(self, callee: Callee) -> bool:
        return not self._changed(callee.definition)

    def _changed(self, found: Definition) -> bool:
        """Whether the overlay has a say in what a definition does."""
        return found.file in self.index.overlay or (found.file, found.name) in self._affected

    @cached_property
    def _affected(self) -> frozenset[tuple[str, str]]:
        return affected(self.index, self._base.index, MAX_LEVELS) if self._base is not None else frozenset()

    # -------------------------------------------------------------- inference

    def _infer(self, name: str, definitions: tuple[Definition, ...], levels: int, aliases: int = 0) -> Summary | None:
        found = tuple(self.bodies.callee(definition) for definition in definitions)
        if len(found) == 1 and found[0].alias:
            return self._aliased(name, found[0], levels, aliases)
        flows = [callee.flow for callee in found if callee.flow is not None]
        if not found or len(flows) != len(found):
            return None
        inferred = agreed(self._effects(callee, levels) for callee in found)
        returns = {flow.returns_param for flow in flows}
        given_back = returns.pop() if len(returns) == 1 else -1
        count = min(len(flow.params) for flow in flows)
        args = tuple(self._argument(found, at, inferred, given_back) for at in range(count))
        results = inferred.result & self._results(found)
        return Summary(
            name=name,
            effects=tuple(map(on_success, inferred.effects)) if results == ZERO else inferred.effects,
            args=args,
            rest=args[-1] if args and all(flow.variadic for flow in flows) else "unknown",
            result=answers(results),
            returns_arg=given_back,
            never_returns=inferred.never_returns or all(callee.never_returns for callee in found),
            sleeps=self.sleeping.agreed(found),
            origin="body",
            where=f"{definitions[0].file}:{definitions[0].line}",
            looks=all(self._looks(callee) for callee in found),
            tries=all(map(self.borrowing.tries, found)),
            may_end=tuple(sorted({*self._may_end(found), *inferred.let_go})),
            unused=tuple(at for at in range(count) if all(flow.params[at].unused for flow in flows)),
            always=results if results != answers(results) else 0,
        )

    def _looks(self, callee: Callee, depth: int = 0) -> bool:
        """Whether nothing that a call reaches is written, by itself or by what it calls."""
        flow, file = callee.flow, callee.definition.file
        if flow is None or not flow.looks or depth > _MAX_ALIASES:
            return False
        return all(self._only_looks(name, file, depth) for name in flow.called)

    def _only_looks(self, name: str, file: str, depth: int) -> bool:
        modelled = self.models.summary(name)
        if modelled is not None:
            return not modelled.effects and modelled.rest == "borrow" and all(one == "borrow" for one in modelled.args)
        if self.models.macro(name) is not None:
            return True
        found = self.bodies.find(name, file)
        return bool(found) and all(self._looks(callee, depth + 1) for callee in found)

    def _may_end(self, callees: tuple[Callee, ...]) -> tuple[str, ...]:
        """Families of locks and sections some body leaves by an API and, unless one says that it does, none enters."""
        acts: dict[str, set[str]] = {"acquire": set(), "release": set()}
        names = {name for callee in callees if callee.flow is not None for name in callee.flow.called if name}
        for summary in filter(None, map(self.models.summary, names)):
            for effect in summary.effects:
                acts.setdefault(effect.action, set()).add(effect.resource)
        entered = set() if any(callee.releases for callee in callees) else acts["acquire"]
        left = ((name, self.models.family(name)) for name in sorted(acts["release"] - entered))
        return tuple(name for name, family in left if family is not None and family.kind in ("lock", "rcu"))

    def _results(self, callees: tuple[Callee, ...], depth: int = 0) -> int:
        """Classes that the result of a call of one of ``callees`` may be in."""
        mask = 0
        for callee in callees:
            if callee.flow is None or depth > MAX_LEVELS:
                return ANY
            mask |= callee.flow.result.mask
            for name in callee.flow.result.calls:
                modelled = self.models.summary(name)
                found = () if modelled is not None else self.bodies.find(name, callee.definition.file)
                mask |= modelled.result if modelled is not None else self._results(found, depth + 1)
        return mask or ANY

    def _aliased(self, name: str, callee: Callee, levels: int, aliases: int) -> Summary | None:
        found = self.models.summary(callee.alias)
        if found is None and aliases < _MAX_ALIASES:
            found = self._infer(name, self.index.resolve(callee.alias, callee.definition.file), levels, aliases + 1)
        return found._replace(name=name) if found is not None else None

    def _argument(self, callees: tuple[Callee, ...], at: int, inferred: Inferred, given_back: int) -> str:
        what = inferred.args[at] if at < len(inferred.args) else ""
        if what == "released":
            return "unknown" if any(self._handed_on(callee, at, inferred) for callee in callees) else "borrow"
        if what in ("take", "some"):
            # That it is taken on some path excuses whoever has not dropped it; nobody is accused by it.
            return "take"
        if what == "open":
            return "unknown"
        if what == "paid":
            return "borrow"
        # A result that points into the argument would be taken for another thing: leave it open what becomes of it.
        if at != given_back and any(self.borrowing.gives_back(callee, at) for callee in callees):
            return "unknown"
        return "borrow" if all(self.borrowing.borrows(callee, at) for callee in callees) else "unknown"

    def _handed_on(self, callee: Callee, at: int, inferred: Inferred) -> bool:
        """Whether what is released with some results goes on with the others to what may keep it."""
        param = callee.parameter(at)
        if param is None or any(one.place == Place("arg", at) and one.when == ANY for one in inferred.effects):
            return False
        file = callee.definition.file
        return param.kept == "indirect call" or any(
            not self.borrowing.lends(name, arg, file) and not self._ends(name, arg, file) for name, arg in param.passed
        )

    def _ends(self, name: str, at: int, file: str) -> bool:
        """Whether a call is known to release its argument: the paths of who calls it tell when."""
        summary = self.summary(name, file, 1)
        return summary is not None and any(
            effect.action in ("release", "take") and effect.place == Place("arg", at) for effect in summary.effects
        )

    def _pays(self, callee: Callee, at: int) -> bool:
        """Whether a body takes a reference for what it keeps of a parameter; asked of those that take some only."""
        if self._paying or callee.flow is None or not any(map(self._counts, callee.flow.called)):
            return False
        self._paying = True
        try:
            args = self._raw_effects(callee, MAX_LEVELS - 1).args
        finally:
            self._paying = False
        return at < len(args) and args[at] == "paid"

    def _counts(self, name: str) -> bool:
        """Whether a call of an API takes a reference to its argument."""
        modelled = self.models.summary(name)
        return modelled is not None and any(
            effect.action == "acquire" and effect.resource in self._pointers.owned and effect.place.root == "arg"
            and not effect.place.deref for effect in modelled.effects
        )  # fmt: skip

    # ---------------------------------------------------------------- effects

    def _effects(self, callee: Callee, levels: int) -> Inferred:
        """The effects of a body, its lock effects marked where the other half was not found."""
        inferred = self._raw_effects(callee, levels)
        effects = tuple(
            effect if self._paired(callee, effect) else effect._replace(flags=effect.flags | _UNPAIRED)
            for effect in inferred.effects
        )  # fmt: skip
        return inferred._replace(effects=effects)

    def _raw_effects(self, callee: Callee, levels: int) -> Inferred:
        if callee.flow is None or len(callee.flow.called) > _MOST_CALLS:
            return NOTHING
        # Its own height, not the levels asked for: most bodies call APIs only and need exploring once.
        height = self._height(callee, levels)
        key = (*callee.place, height)
        if key not in self._inferred:
            self._inferred[key] = NOTHING  # what recursion sees of itself
            self._inferred[key] = self._explored(callee, height) if height else NOTHING
        return self._inferred[key]

    def _explored(self, callee: Callee, levels: int) -> Inferred:
        function = self.bodies.function(callee)
        if function is None:
            return NOTHING
        params = callee.flow.params if callee.flow is not None else ()
        stored = frozenset(at for at, param in enumerate(params) if param.kept == "stored")
        inferred = infer(function, FileCallees(self, callee.definition.file, levels - 1), self._pointers, stored)
        effects = tuple(
            effect._replace(where=self._place(callee, function, effect.where)) for effect in inferred.effects
        )
        return inferred._replace(effects=effects)

    def _place(self, callee: Callee, function: Function, where: str) -> str:
        """file:line of an offset into the text that was cut out of the file for a function."""
        found = callee.definition
        scan = self.index.scan(found.file)
        if not where.isdigit() or scan is None or found.kind == "macro":
            return where if not where.isdigit() else f"{found.file}:{found.line}"
        offset = found.start + int(where) - function.start
        line = scan.source.count(b"\n", 0, offset) + 1
        return f"{found.file}:{line}"

    def _height(self, callee: Callee, levels: int) -> int:
        """How many levels of bodies, at most ``levels``, the effects of one come from; 0 when it can have none."""
        flow = callee.flow
        if flow is None or levels <= 0:
            return 0
        key = (*callee.place, levels)
        if key not in self._heights:
            stores = any(param.kept == "stored" for param in flow.params)
            file = callee.definition.file
            below = [self._name_height(name, file, levels - 1) for name in flow.called if name]
            self._heights[key] = max([int(stores), *(height + 1 for height in below if height >= 0)])
        return self._heights[key]

    def _name_height(self, name: str, file: str, levels: int) -> int:
        """The height of what ``name`` means: 0 for an API with effects, -1 for what has none."""
        modelled = self.models.summary(name)
        if modelled is not None:
            return 0 if modelled.effects or "take" in modelled.args or modelled.never_returns else -1
        if self.models.macro(name) is not None or levels <= 0:
            return -1
        return max((self._height(one, levels) for one in self.bodies.find(name, file)), default=0) or -1

    def _paired(self, callee: Callee, effect: Effect) -> bool:
        """Whether a function of the same file surely does the opposite: a lock and an unlock wrapper."""
        family = self.models.family(effect.resource)
        if family is None or family.kind not in ("lock", "rcu"):
            return True
        opposite = "release" if effect.action == "acquire" else "acquire"
        scan = self.index.scan(callee.definition.file)
        if scan is None:
            return False
        near = sorted(scan.definitions, key=lambda one: abs(one.start - callee.definition.start))
        tried = 0
        for definition in near:
            if tried >= _PARTNERS:
                break
            partner = self.bodies.callee(definition) if definition.start != callee.definition.start else None
            if partner is None or partner.flow is None or not self._mentions(partner, effect.resource, opposite):
                continue
            tried += 1
            if any(_opposes(one, effect, opposite) for one in self._raw_effects(partner, 1).effects):
                return True
        return False

    def _mentions(self, callee: Callee, resource: str, action: str) -> bool:
        """Whether a body calls an API that has such an effect."""
        for name in callee.flow.called if callee.flow is not None else ():
            modelled = self.models.summary(name)
            if modelled is not None and any(
                one.resource == resource and one.action == action for one in modelled.effects
            ):
                return True
        return False


def _opposes(one: Effect, effect: Effect, action: str) -> bool:
    same = (one.place.root, one.place.path) == (effect.place.root, effect.place.path)
    return one.action == action and one.resource == effect.resource and same


class FileCallees:
    """:class:`patchlint.dataflow.Callees` of one file."""

    def __init__(self, tree: TreeCallees, file: str, levels: int) -> None:
        self._tree = tree
        self._levels = levels
        self.file = file

    def summary(self, name: str) -> Summary | None:
        """See the port."""
        return self._tree.summary(name, self.file, self._levels)

    def macro(self, name: str) -> Macro | None:
        """See the port."""
        return self._tree.models.macro(name)

    def loop(self, name: str) -> Loop | None:
        """See the port."""
        return self._tree.models.loop(name)

    def guard(self, name: str) -> GuardClass | None:
        """See the port."""
        return self._tree.models.guard(name)

    def scope_release(self, name: str) -> Cleanup | None:
        """See the port."""
        return self._tree.models.scope_release(name)

    def family(self, resource: str) -> Family | None:
        """See the port."""
        return self._tree.models.family(resource)


def _on_success(effect: Effect) -> Effect:
    """What a body that always returns 0 takes, it takes when it succeeds."""
    return effect._replace(when=ZERO) if effect.action == "acquire" and effect.when == ANY else effect
