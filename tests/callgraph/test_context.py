"""What callers hold."""

from __future__ import annotations

import pytest
from memory_store import MemoryStore

from patchlint.callgraph import Contexts, TreeCallees, TreeIndex
from patchlint.host.rulefiles import load_ruleset
from patchlint.ruleset import Models

FILE = "drivers/a.c"


@pytest.fixture(scope="module")
def models() -> Models:
    return load_ruleset(()).models


def held(models: Models, source: str, function: str = "leaf", file: str = FILE, **others: str) -> set[str]:
    files = {FILE: source} | {f"{path.replace('__', '/')}.c": text for path, text in others.items()}
    return set(Contexts(TreeCallees(models, TreeIndex(MemoryStore(files)))).held(function, file))


LEAF = "static void leaf(struct box *b)\n{\n\tb->n = 1;\n}\n"


def caller(body: str, name: str = "caller") -> str:
    return f"static void {name}(struct box *b)\n{{\n\t{body}\n}}\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("rcu_read_lock(); leaf(b); rcu_read_unlock();", {"rcu"}),
        ("rcu_read_lock(); rcu_read_unlock(); leaf(b);", set()),
        ("rcu_read_lock(); rcu_read_lock(); rcu_read_unlock(); leaf(b); rcu_read_unlock();", {"rcu"}),
        ("if (b->n) rcu_read_lock(); leaf(b);", set()),
        ("mutex_lock(&b->lock); while (b->n) leaf(b); mutex_unlock(&b->lock);", {"mutex"}),
        ("mutex_lock(&b->lock); while (b->n) { leaf(b); mutex_unlock(&b->lock); }", set()),
        ("guard(mutex)(&b->lock); leaf(b);", {"mutex"}),
        ("{ guard(mutex)(&b->lock); } leaf(b);", set()),
        ("mutex_lock(&b->lock); if (b->n) goto out; leaf(b); out: mutex_unlock(&b->lock);", {"mutex"}),
    ],
)
def test_one_caller(models: Models, body: str, expected: set[str]) -> None:
    assert held(models, LEAF + caller(body)) == expected


def test_all_callers_must_agree(models: Models) -> None:
    inside = caller("rcu_read_lock(); leaf(b); rcu_read_unlock();", "inside")
    assert held(models, LEAF + inside + caller("leaf(b);", "outside")) == set()
    assert held(models, LEAF + inside + caller("guard(rcu)(); leaf(b);", "guarded")) == {"rcu"}


def test_the_context_of_callers_counts(models: Models) -> None:
    chain = LEAF + caller("leaf(b);", "middle") + caller("rcu_read_lock(); middle(b); rcu_read_unlock();", "top")
    assert held(models, chain) == {"rcu"}


def test_a_lock_wrapper_of_the_tree(models: Models) -> None:
    wrappers = caller("mutex_lock(&b->lock);", "box_lock") + caller("mutex_unlock(&b->lock);", "box_unlock")
    assert held(models, wrappers + LEAF + caller("box_lock(b); leaf(b); box_unlock(b);")) == {"mutex"}


def test_who_may_be_called_through_a_pointer_has_unknown_callers(models: Models) -> None:
    one = LEAF + caller("rcu_read_lock(); leaf(b); rcu_read_unlock();")
    assert held(models, one + "struct ops ops = { .go = leaf };\n") == set()
    assert held(models, one + "EXPORT_SYMBOL_GPL(leaf);\n") == {"rcu"}


def test_a_function_without_callers_is_in_no_context(models: Models) -> None:
    assert held(models, LEAF) == set()


def test_recursion_ends(models: Models) -> None:
    assert held(models, caller("rcu_read_lock(); leaf(b); rcu_read_unlock();", "leaf")) == {"rcu"}


def test_callers_in_other_files(models: Models) -> None:
    shared = "void leaf(struct box *b)\n{\n\tb->n = 1;\n}\n"
    away = caller("spin_lock(&b->lock); leaf(b); spin_unlock(&b->lock);")
    assert held(models, shared, net__b=away) == {"spin"}
