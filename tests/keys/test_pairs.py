"""How an increment and a decrement relate."""

import pytest
from small_tree import snapshot

from patchlint.checkers.static_key_pairs import pairings
from patchlint.checkers.static_key_sites import KeyReader, change_of, key_of
from patchlint.ir import Call
from patchlint.review import View
from patchlint.syntax import parse

UP = "void up(struct lamp *l, struct request *r)\n{{\n{}\n}}\n"
DOWN = "void down(struct lamp *l)\n{{\n{}\n}}\n"
INC = "static_branch_inc(&glow_key);"
DEC = "static_branch_dec(&glow_key);"


def relation(up: str, down: str) -> str:
    text = UP.format(up) + DOWN.format(down)
    facts = KeyReader().facts(snapshot({}, {"lamp.c": text}), "glow_key")
    (pair,) = pairings(facts)
    return pair.relation


@pytest.mark.parametrize(
    ("up", "down", "wanted"),
    [
        (INC, DEC, "same"),
        (f"if (l->glow) {INC}", f"if (!l->glow) return; {DEC}", "same"),
        (f"if (l->glow) {INC}", f"struct lamp *x = l; if (lamp_of(x)->glow) {DEC}", "same"),
        (f"if (l->glow) {INC}", f"if (l->hum) {DEC}", "differs"),
        (f"if (r->flags & GLOW) {{ l->lit = true; {INC} }}", f"if (l->lit) {DEC}", "remembered"),
        (f"if (r->flags & GLOW) {{ l->state |= LIT; {INC} }}", f"if (l->state & LIT) {DEC}", "remembered"),
        (f"l->beam = r->ray; if (r->ray) {INC}", f"if (l->beam) {DEC}", "remembered"),
        (f"if (test_and_set_bit(LIT, &l->state)) return; {INC}", f"if (test_bit(LIT, &l->state)) {DEC}", "remembered"),
        (f"if (l->glow) {INC}", f"l->glow = NULL; if (l->glow) {DEC}", "cleared"),
        (f"if (l->glow) {INC}", f"if (l->glow) {{ l->glow = NULL; {DEC} }}", "same"),
        (f"if (l->n < 4) {INC}", f"if (static_key_enabled(&glow_key)) {DEC}", "own state"),
        (f"if (lamp_can_glow(l)) {INC}", f"if (l->glow) {DEC}", "unknown"),
        (f"if (r->on) {INC} else {DEC}", "", "switch"),
        (f"if (r->new) {INC} if (l->old) {DEC}", "", "switch"),
        (f"{INC} if (heat(l) < 0) {DEC}", "", "undo"),
        (INC, "", "none"),
    ],
)
def test_relation(up: str, down: str, wanted: str) -> None:
    assert relation(up, down) == wanted


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("static_branch_inc", ("inc", False)),
        ("static_branch_dec_cpuslocked", ("dec", True)),
        ("static_key_slow_inc", ("inc", False)),
        ("static_branch_slow_dec_deferred", ("dec", False)),
        ("static_branch_deferred_inc", ("inc", False)),
        ("static_key_enable_cpuslocked", ("enable", True)),
        ("static_key_enabled", None),
        ("static_branch_unlikely", None),
    ],
)
def test_words(word: str, wanted: tuple[str, bool] | None) -> None:
    assert change_of(word) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("&glow_key", "glow_key"),
        ("&glow_key.key", "glow_key"),
        ("&glow_keys[at]", "glow_keys[]"),
        ("&glow_keys[row][at]", "glow_keys[]"),
        ("&lamp_state.glow", "lamp_state.glow"),
        ("&l->key", ""),
        ("key", ""),
    ],
)
def test_key_named(text: str, wanted: str) -> None:
    unit = parse(f"void f(void)\n{{\n\tstatic_branch_inc({text});\n}}\n".encode(), "lamp.c")
    function = unit.function(unit.heads[0])
    call = function.variants[0].body.body[0].expr  # type: ignore[union-attr]
    assert isinstance(call, Call)
    assert key_of(call.args[0]) == wanted


def test_definitions_and_defaults() -> None:
    text = "DEFINE_STATIC_KEY_TRUE(a_key);\nstatic __read_mostly DEFINE_STATIC_KEY_DEFERRED_FALSE(b_key, HZ);\n"
    view = snapshot({}, {"lamp.c": text})
    reader = KeyReader()
    found = [definition for key in ("a_key", "b_key") for definition in reader.facts(view, key).definitions]
    told = [(d.key, d.default, d.static, d.line) for d in found]
    assert told == [("a_key", True, False, 1), ("b_key", False, True, 2)]


def test_one_file_is_read_once() -> None:
    reader = KeyReader()
    piece = View("lamp.c", (UP.format(INC)).encode())
    assert reader.sites(piece) is reader.sites(piece)
