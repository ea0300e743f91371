"""Under which condition a call stands."""

import pytest

from patchlint.checkers.conditions import tell
from patchlint.checkers.standing import Standing, standing
from patchlint.syntax import parse


def placed(body: str, head: str = "int f(struct lamp *l, bool on)") -> Standing:
    unit = parse(f"{head}\n{{\n{body}\n}}\n".encode(), "lamp.c")
    function = unit.function(unit.heads[0])
    return standing(function, function.variants[0])


def condition(body: str) -> str:
    return next(tell(stand.condition) for stand in placed(body).stands if stand.call.name == "mark")


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("mark();", "always"),
        ("if (l->lit) mark();", ".lit"),
        ("if (!l->lit) return 0; mark();", ".lit"),
        ("if (l->lit) return 0; else dim(); mark();", "!.lit"),
        ("if (l->lit && on) mark();", ".lit && on"),
        ("if (l->lit || l->hot) mark();", ".hot || .lit"),
        ("if (l->lit) goto out; return 0; out: mark();", ".lit"),
        ("if (l->lit) dim(); mark();", "always"),
        ("if (l->watts == 0) mark();", "!.watts"),
        ("if (l->watts != 7) mark();", "!(.watts==7)"),
        ("if (l->watts <= 7) mark();", "!(7<.watts)"),
        ("struct bulb *b = bulb_of(l); if (b->red.on) mark();", ".red.on"),
        ("if (bulb_of(l)->red.on) mark();", ".red.on"),
        ("switch (l->mode) { case DIM: return 0; case LIT: mark(); }", ".mode==LIT"),
        ("if (unlikely(READ_ONCE(l->lit))) mark();", ".lit"),
        ("if (test_bit(LAMP_ON, &l->flags)) mark();", "bit LAMP_ON"),
        ("if (lamp_is_hot(l, LAMP_RED)) mark();", "lamp_is_hot(_,LAMP_RED)"),
        ("while (l->lit) dim(l); mark();", "!.lit"),
    ],
)
def test_condition(body: str, wanted: str) -> None:
    assert condition(body) == wanted


def test_a_flag_stands_for_the_test_that_made_it() -> None:
    stand = next(s for s in placed("bool hot = l->heat && l->lit; if (hot) mark();").stands if s.call.name == "mark")
    assert tell(stand.condition, frozenset(("field",))) == ".heat && .lit"


def test_old_value_does_not_deny_the_new_one() -> None:
    body = "bool was = l->lit; l->lit = false; if (!l->lit) { if (was) mark(); }"
    assert condition(body) != "never"


def test_a_call_may_change_what_was_asked() -> None:
    assert condition("if (l->lit) return 0; light(l); if (l->lit) mark();") != "never"


def test_result_of_a_call_is_a_step_not_a_state() -> None:
    stand = next(s for s in placed("int err = heat(l); if (err) return err; mark();").stands if s.call.name == "mark")
    assert {lit.kind for term in stand.condition for lit in term} == {"progress"}


def test_stores_know_their_condition() -> None:
    (store,) = placed("if (on) l->flags |= LAMP_ON;").stores
    assert (store.place, store.op, tell(store.condition)) == (".flags", "|=", "on")


def test_unused_result() -> None:
    stands = {s.call.name: s.unused for s in placed("ask(l); l->x = want(l); if (need(l)) return 1;").stands}
    assert stands == {"ask": True, "want": False, "need": False}
