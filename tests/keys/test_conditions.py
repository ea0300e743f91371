"""Conditions keep their truth when they are simplified."""

from itertools import combinations, product

from hypothesis import given as examples
from hypothesis import strategies as st

from patchlint.checkers.conditions import ALWAYS, NEVER, Condition, Lit, aged, agree, either, given, keep, tell

ATOMS = "abcd"


def lit(text: str) -> Lit:
    return Lit(text.lstrip("!"), not text.startswith("!"), "field", frozenset((text.lstrip("!"),)))


def when(*terms: str) -> Condition:
    return frozenset(frozenset(lit(word) for word in term.split()) for term in terms)


literals = st.builds(lambda atom, holds: Lit(atom, holds, "field"), st.sampled_from(ATOMS), st.booleans())


def consistent(term: frozenset[Lit]) -> bool:
    return len({known.atom for known in term}) == len(term)


terms = st.frozensets(literals, max_size=4).filter(consistent)
conditions = st.frozensets(terms, max_size=6)


def truth(condition: Condition, values: dict[str, bool]) -> bool:
    return any(all(values[known.atom] == known.holds for known in term) for term in condition)


@examples(conditions, conditions)
def test_joining_is_disjunction(one: Condition, other: Condition) -> None:
    joined = either(one, other)
    for row in product((False, True), repeat=len(ATOMS)):
        values = dict(zip(ATOMS, row, strict=True))
        assert truth(joined, values) == (truth(one, values) or truth(other, values))


@examples(conditions, literals)
def test_adding_a_literal_is_conjunction(condition: Condition, known: Lit) -> None:
    narrowed = given(condition, known)
    for row in product((False, True), repeat=len(ATOMS)):
        values = dict(zip(ATOMS, row, strict=True))
        assert truth(narrowed, values) == (truth(condition, values) and values[known.atom] == known.holds)


def test_both_arms_meet_in_nothing() -> None:
    assert either(when("a"), when("!a")) == ALWAYS


def test_disjunction_of_a_short_circuit() -> None:
    assert tell(either(when("a"), when("!a b"))) == "a || b"


def test_contradiction_is_never() -> None:
    assert given(when("a"), lit("!a")) == NEVER


def test_what_changed_since_contradicts_nothing() -> None:
    assert given(aged(when("a"), "a"), lit("!a")) != NEVER


def test_agreement_looks_at_lasting_state_only() -> None:
    asked = when("a")
    step = Lit("err", False, "progress")
    assert agree(given(asked, step), asked)
    assert not agree(asked, when("b"))


def test_keeping_no_kind_leaves_no_condition() -> None:
    assert keep(when("a", "b"), frozenset(("param",))) == ALWAYS


def test_of_two_tellings_of_one_test_always_the_same_stands_for_both() -> None:
    for first, second in combinations("pqrstuvw", 2):
        a, again = (Lit("a", True, "field", frozenset((root,))) for root in (first, second))
        joined = either(frozenset((frozenset((again, lit("b"))), frozenset((a, lit("!b"))))))
        assert joined == frozenset((frozenset((a,)),))
