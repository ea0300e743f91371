"""A fault under another name of a variable is the same fault."""

from __future__ import annotations

import pytest

from patchlint.model import Finding
from patchlint.review.reworded import paired, renamed_words, reworded

_BEFORE = b"int f(void)\n{\n\tchar *p = kmalloc(4, GFP_KERNEL);\n\n\tif (!p)\n\t\treturn -1;\n\treturn g(p);\n}\n"


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (_BEFORE.replace(b"*p", b"*buf").replace(b"!p", b"!buf").replace(b"(p)", b"(buf)"), {"p": "buf"}),
        (_BEFORE.replace(b"kmalloc", b"kzalloc"), {"kmalloc": "kzalloc"}),
        (_BEFORE.replace(b"*p", b"*buf"), {}),
        (_BEFORE.replace(b"g(p)", b"g(p, 1)"), {}),
    ],
)
def test_words_are_renamed_where_they_all_went_and_the_new_one_is_new(after: bytes, words: dict[str, str]) -> None:
    assert renamed_words(_BEFORE, after) == words


def test_swapped_variables_are_no_renaming() -> None:
    before, after = b"int f(int a, int b) { return a - b; }", b"int f(int a, int b) { return b - a; }"
    assert renamed_words(before, after) == {}


def test_keys_follow_the_new_names_and_nothing_else() -> None:
    finding = Finding("MEM001", "", "warning", "high", "", "f.c", 1, 1, "f", "p")
    found = {("MEM001", "p|leak|kmalloc|p_size|err"): finding}
    assert reworded(found, {"p": "buf"}) == {("MEM001", "buf|leak|kmalloc|p_size|err"): finding}


def test_a_member_of_the_name_is_another_word() -> None:
    before, after = b"int f(struct d *q) { dev = q->dev; g(dev); }", b"int f(struct d *q) { one = q->dev; g(one); }"
    assert renamed_words(before, after) == {"dev": "one"}
    finding = Finding("MEM001", "", "warning", "high", "", "f.c", 1, 1, "f", "p")
    assert reworded({("MEM001", "q->dev|dev"): finding}, {"dev": "one"}) == {("MEM001", "q->dev|one"): finding}


def test_a_fault_of_what_a_helper_takes_now_is_the_same_one() -> None:
    finding = Finding("MEM001", "", "warning", "high", "", "f.c", 1, 1, "f", "p")
    old, new = ("MEM001", "MEM001|p|leak|mem|kmalloc|-1|a=True"), ("MEM001", "MEM001|p|leak|mem|helper|-1|a=True")
    assert paired({old: finding}, {new: finding}) == {new: finding}
    assert paired({old: finding}, {("MEM001", "MEM001|q|leak|mem|kmalloc|-1|a=True"): finding}) == {old: finding}
    assert paired({old: finding}, {("MEM001", "MEM001|p|leak|mem|kmalloc|-1|b=True"): finding}) == {old: finding}
    assert paired({old: finding}, {old: finding, new: finding}) == {old: finding}
