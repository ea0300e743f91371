"""Functions whose words show that nothing can be found in them are not read; all others are."""

import pytest

from patchlint.checkers import Relevance, expanded, mentioned
from patchlint.checkers.file_facts import FileFacts
from patchlint.host.rulefiles import load_ruleset
from patchlint.syntax import parse

MODELS = load_ruleset().models
RELEVANCE = Relevance(MODELS)


@pytest.mark.parametrize("words", [
    {"kmalloc"}, {"kfree"}, {"mutex_lock"}, {"rcu_dereference"}, {"for_each_child_of_node"}, {"scoped_guard"},
    {"rcu_assign_pointer"}, {"frob_map", "frob_unmap"}, {"consume_skb"},
])  # fmt: skip
def test_words_that_matter(words: set[str]) -> None:
    assert RELEVANCE.speaks_of(words, MODELS)


@pytest.mark.parametrize("words", [set(), {"frob"}, {"min", "memcpy", "pr_info"}, {"frob_map", "other_unmap"}])
def test_words_that_do_not(words: set[str]) -> None:
    assert not RELEVANCE.speaks_of(words, MODELS)


def test_macros_of_the_file_are_looked_into() -> None:
    unit = parse(b"#define outer(x) inner(x)\n#define inner(x) kfree(x)\nvoid f(void *p)\n{\n\touter(p);\n}\n", "a.c")
    bodies = {define.name: define.body for define in unit.defines}
    assert expanded(unit.calls(unit.heads[0]), bodies) >= {"outer", "inner", "kfree"}


def test_places_that_others_of_the_file_protect() -> None:
    facts = FileFacts(fields=frozenset(("table",)))
    assert mentioned(facts, b"return x->table;")
    assert not mentioned(facts, b"return x->name;")
    assert not mentioned(FileFacts(), b"return x->table;")
