"""Macros that the engine looks through: each of ``Macro.acts`` is a method."""

from __future__ import annotations

from patchlint.cfg import render
from patchlint.dataflow.join import NEVER_FOLLOWED
from patchlint.dataflow.log import Log
from patchlint.dataflow.machine import Machine
from patchlint.dataflow.report import Event
from patchlint.dataflow.state import State
from patchlint.dataflow.values import Value
from patchlint.effects import NEG, ZERO, Macro
from patchlint.ir import Call, Name


class MacroActs:
    """What macros are worth and do to a state; the part of ``Calls`` that needs no summary."""

    machine: Machine
    log: Log
    stops: bool

    def macro(self, st: State, expr: Call, macro: Macro) -> Value | None:
        """The value of a macro that the engine understands by itself; None when it is to be taken for a call."""
        handler = getattr(self, f"_do_{macro.acts}", None)
        if handler is None or (macro.arg >= len(expr.args) and macro.acts not in ("never", "nothing", "assert_held")):
            return None
        value: Value | None = handler(st, expr, macro)
        if value is not None and macro.tag and not self._looked_at(st, macro, value):
            st.tags[value] = (macro.tag, expr.pos)
            if macro.family:
                text = self.machine.text(expr.args[macro.arg])
                self.log.event(Event("load", expr.pos, expr.name, macro.family, value, text, st.holds, st.trail))
        return value

    def _looked_at(self, st: State, macro: Macro, value: Value) -> bool:
        """A load that may not be followed is compared with the same pointer, loaded so that it may."""
        known = st.tags.get(value)
        return (
            macro.tag in NEVER_FOLLOWED and not self.machine.target_text and known is not None
            and known[0] not in NEVER_FOLLOWED
        )  # fmt: skip

    def _args(self, st: State, expr: Call) -> list[Value]:
        return [self.machine.value(st, arg) for arg in expr.args]

    def _do_value(self, st: State, expr: Call, macro: Macro) -> Value:
        for index, arg in enumerate(expr.args):
            if index != macro.arg:
                self.machine.value(st, arg)
        return self.machine.value(st, expr.args[macro.arg])

    def _do_load(self, st: State, expr: Call, macro: Macro) -> Value:
        value = self.machine.value(st, expr.args[macro.arg])
        return self.machine.load(st, value) if macro.through else value

    def _do_store(self, st: State, expr: Call, macro: Macro) -> Value:
        value = self.machine.value(st, expr.args[macro.value]) if macro.value < len(expr.args) else 0
        place = expr.args[macro.arg]
        if macro.through:
            self.machine.put(st, self.machine.value(st, place), value, expr.pos, self.machine.text(place))
        else:
            self.machine.store(st, place, value, expr.pos)
        return value

    def _do_exchange(self, st: State, expr: Call, macro: Macro) -> Value:
        place = expr.args[macro.arg]
        address = self.machine.value(st, place) if macro.through else self.machine.address(st, place)
        old = self.machine.load(st, address)
        value = self.machine.value(st, expr.args[macro.value]) if macro.value < len(expr.args) else 0
        self.machine.put(st, address, value, expr.pos, self.machine.text(place))
        return old

    def _do_steal(self, st: State, expr: Call, macro: Macro) -> Value:
        value = self.machine.value(st, expr.args[macro.arg])
        self.machine.store(st, expr.args[macro.arg], 0, expr.pos)
        return value

    def _do_is_err(self, st: State, expr: Call, macro: Macro) -> Value:
        values = self.machine.values
        value = self.machine.value(st, expr.args[macro.arg])
        mask = self.machine.facts.mask(st, value)
        if mask == NEG or not mask & NEG:
            return int(mask == NEG)
        return values.make("op", "<", value, 0)

    def _do_is_null(self, st: State, expr: Call, macro: Macro) -> Value:
        return self.machine.values.negation(self.machine.value(st, expr.args[macro.arg]))

    def _do_is_err_or_null(self, st: State, expr: Call, macro: Macro) -> Value:
        value = self.machine.value(st, expr.args[macro.arg])
        return self.machine.values.negation(self.machine.values.make("op", "<", 0, value))

    def _do_ptr_err(self, st: State, expr: Call, macro: Macro) -> Value:
        return self.machine.value(st, expr.args[macro.arg])

    def _do_err_ptr(self, st: State, expr: Call, macro: Macro) -> Value:
        """``ERR_PTR(err)``: an error whenever ``err`` is not 0, and never a thing."""
        value = self.machine.value(st, expr.args[macro.arg])
        self.machine.facts.narrow(st, value, NEG | ZERO if self.machine.facts.mask(st, value) & ZERO else NEG)
        return value

    def _do_ptr_err_or_zero(self, st: State, expr: Call, macro: Macro) -> Value:
        value = self.machine.value(st, expr.args[macro.arg])
        mask = self.machine.facts.mask(st, value)
        if mask == NEG:
            return value
        return self.machine.values.make("perr0", value) if mask & NEG else 0

    def _do_interior(self, st: State, expr: Call, macro: Macro) -> Value:
        values = self._args(st, expr)
        return self.machine.values.make("in", values[macro.arg], expr.name)

    def _do_constant(self, st: State, expr: Call, macro: Macro) -> Value:
        text = ",".join(render(arg) for arg in expr.args)
        return self.machine.values.make("n", f"{expr.name}({text})")

    def _do_nonzero_error(self, st: State, expr: Call, macro: Macro) -> Value:
        values = self._args(st, expr)
        value = values[macro.arg]
        if not self.machine.facts.narrow(st, value, NEG):
            value = self.machine.fresh(st, expr.pos)
            self.machine.facts.narrow(st, value, NEG)
        return value

    def _do_never(self, st: State, expr: Call, macro: Macro) -> Value:
        self._args(st, expr)
        self.stops = True
        return 0

    def _do_nothing(self, st: State, expr: Call, macro: Macro) -> Value:
        return 0

    def _do_assert(self, st: State, expr: Call, macro: Macro) -> Value:
        value = self.machine.value(st, expr.args[macro.arg])
        if not self.machine.facts.assume(st, value, macro.acts == "assert"):
            self.stops = True
        return value

    _do_assert_not = _do_assert

    def _do_assert_held(self, st: State, expr: Call, macro: Macro) -> Value:
        text = macro.family if macro.arg < 0 else render(expr.args[macro.arg]) if macro.arg < len(expr.args) else ""
        sites = (self.log.sites.get((hold.site, hold.family)) for hold in st.holds)
        if not any(site is not None and text in (site.family, site.subject) for site in sites):
            # What the function itself took it may say too; only what it did not take is its caller's.
            self.log.asserted.add(text)
        for arg in expr.args:
            if not isinstance(arg, Name):
                self.machine.value(st, arg)
        return 0
