"""Which classes of result a body's returns tell."""

from __future__ import annotations

import pytest
from memory_store import MemoryStore

from patchlint.callgraph import TreeCallees, TreeIndex
from patchlint.effects import ANY, NEG, POS, ZERO
from patchlint.host.rulefiles import load_ruleset
from patchlint.ruleset import Models

FILE = "drivers/a.c"


@pytest.fixture(scope="module")
def models() -> Models:
    return load_ruleset(()).models


def result(models: Models, body: str) -> int:
    text = f"static int fails(int n)\n{{\n\treturn n ? -EIO : 0;\n}}\n\nint f(struct lamp *l, int n)\n{{\n{body}\n}}\n"
    found = TreeCallees(models, TreeIndex(MemoryStore({FILE: text}))).summary("f", FILE)
    assert found is not None
    return found.result


TOLD = {
    "0 or an error": ("if (!l->n)\n\treturn -ENODEV;\nreturn 0;", NEG | ZERO),
    "a variable": ("int err = 0;\nif (n)\n\terr = -EINVAL;\nreturn err;", NEG | ZERO),
    "a truth": ("return l->n == n;", ZERO | POS),
    "a choice": ("return l->n ? -EBUSY : 0;", NEG | ZERO),
    "another function's": ("int err = fails(n);\nif (err)\n\treturn err;\nreturn 1;", ANY),
    "another function's error": ("return fails(l->n);", NEG | ZERO),
}
OPEN = {
    "a stub's": "return 0;",
    "0 only, today": "l->n = n;\nreturn 0;",
    "a parameter": "return n;",
    "a member": "return l->n;",
    "counted with": "int i = 0;\nwhile (l->n)\n\ti++;\nreturn i;",
    "written by a callee": "int i = 0;\nmeasure(&i);\nreturn i;",
    "an unknown call": "return measure(n);",
    "a call through a pointer": "return l->ops->measure(n);",
}


@pytest.mark.parametrize(("body", "mask"), TOLD.values(), ids=TOLD)
def test_told(models: Models, body: str, mask: int) -> None:
    assert result(models, body) == mask


@pytest.mark.parametrize("body", OPEN.values(), ids=OPEN)
def test_open(models: Models, body: str) -> None:
    assert result(models, body) == ANY
