"""Configurations: what ``#if`` makes of a function."""

import pytest
from shapes import function_of, shapes, unit_of

from patchlint.syntax.conditions import atoms as atoms_of
from patchlint.syntax.conditions import parse_condition


def variants_of(body: str) -> dict[tuple[str, ...], list[str]]:
    function = function_of(f"int f(void)\n{{\n{body}\n}}\n")
    return {variant.config: shapes(variant.body.body) for variant in function.variants}


def test_else_branch_is_another_variant() -> None:
    assert variants_of("a();\n#ifdef CONFIG_X\nb();\n#else\nc();\n#endif\n") == {
        ("CONFIG_X=y",): ["a()", "b()"],
        ("CONFIG_X=n",): ["a()", "c()"],
    }


def test_equal_conditions_go_together() -> None:
    found = variants_of("#ifdef CONFIG_X\nlock();\n#endif\na();\n#if IS_ENABLED(CONFIG_X)\nunlock();\n#endif\n")
    assert found == {("CONFIG_X=y",): ["lock()", "a()", "unlock()"], ("CONFIG_X=n",): ["a()"]}


def test_is_enabled_in_code_goes_with_the_directive() -> None:
    found = variants_of("if (IS_ENABLED(CONFIG_X))\n\tlock();\n#ifdef CONFIG_X\nunlock();\n#endif\n")
    assert found == {
        ("CONFIG_X=y",): ["if IS_ENABLED(CONFIG_X) lock() else -", "unlock()"],
        ("CONFIG_X=n",): ["if IS_ENABLED(CONFIG_X) lock() else -"],
    }


def test_is_enabled_is_a_number_in_each_variant() -> None:
    function = function_of("int f(void)\n{\n\treturn IS_ENABLED(CONFIG_X);\n}\n")
    values = {variant.config: variant.body.body[0].value.value for variant in function.variants}  # type: ignore[union-attr]
    assert values == {("CONFIG_X=y",): 1, ("CONFIG_X=n",): 0}


def test_if_0_is_dead_and_if_1_is_not() -> None:
    assert variants_of("#if 0\na(;\n#else\nb();\n#endif\n#if 1\nc();\n#else\nd(;\n#endif") == {(): ["b()", "c()"]}


def test_directive_that_splits_a_statement() -> None:
    found = variants_of("if (a\n#ifdef CONFIG_X\n    && b\n#endif\n   )\n\tc();")
    assert found == {("CONFIG_X=y",): ["if (a && b) c() else -"], ("CONFIG_X=n",): ["if a c() else -"]}


def test_directive_that_splits_a_block() -> None:
    found = variants_of("#ifdef MODULE\nif (a) {\n#else\nif (b) {\n#endif\n\tc();\n}\nd();")
    assert found == {
        ("defined(MODULE)",): ["if a {c();} else -", "d()"],
        ("!defined(MODULE)",): ["if b {c();} else -", "d()"],
    }


def test_case_and_label_inside_directives() -> None:
    found = variants_of(
        "switch (a) {\n#ifdef CONFIG_X\ncase 1:\n\tb();\n#endif\ndefault:\n\tc();\n}\n"
        "out:\n#ifdef CONFIG_X\nd();\n#endif\n"
    )
    assert found[("CONFIG_X=y",)] == ["switch a {case 1:; b(); default:; c();}", "out:", "d()"]
    assert found[("CONFIG_X=n",)] == ["switch a {default:; c();}", "out:"]


def test_declarations_alone_make_no_variant() -> None:
    assert variants_of("#ifdef CONFIG_X\nint a;\n#endif\nb();") == {(): ["int a", "b()"]}


def test_elif_chain() -> None:
    found = variants_of("#if defined(CONFIG_A)\na();\n#elif BITS_PER_LONG == 64\nb();\n#else\nc();\n#endif")
    assert found == {
        ("CONFIG_A=y",): ["a()"],
        ("CONFIG_A=n", "BITS_PER_LONG == 64"): ["b()"],
        ("CONFIG_A=n", "!(BITS_PER_LONG == 64)"): ["c()"],
    }


def test_tests_of_which_one_holds() -> None:
    found = variants_of("#if BITS_PER_LONG == 32\na();\n#elif BITS_PER_LONG == 64\nb();\n#endif")
    assert list(found.values()) == [["a()"], ["b()"]]


def test_branch_that_does_not_compile() -> None:
    found = variants_of("#ifdef CONFIG_A\na();\n#elif defined(B)\nb();\n#else\n#error neither\n#endif")
    assert list(found.values()) == [["a()"], ["b()"]]
    assert variants_of("#ifdef CONFIG_A\na();\n#error no\n#else\n#error never\n#endif") == {(): ["a()"]}


def test_bound_is_told() -> None:
    parts = "".join(f"#ifdef CONFIG_{name}\n{name}();\n#endif\n" for name in "ABCDEF")
    unit = unit_of(f"int f(void)\n{{\n{parts}}}\n")
    function = unit.function(unit.heads[0])
    assert function.bound_hit
    assert len(function.variants) == 16
    assert "arrangements" in unit.not_analysed[0].reason


def test_enclosing_condition_is_decided() -> None:
    unit = unit_of(
        "#ifdef CONFIG_X\nint f(void)\n{\n#ifdef CONFIG_X\n\ta();\n#endif\n}\n"
        "#else\nint f(void)\n{\n\tb();\n}\n#endif\n"
    )
    assert [(head.name, head.config) for head in unit.heads] == [("f", ("CONFIG_X=y",)), ("f", ("CONFIG_X=n",))]
    first, second = (unit.function(head) for head in unit.heads)
    assert [(variant.config, shapes(variant.body.body)) for variant in first.variants] == [((), ["a()"])]
    assert shapes(second.variants[0].body.body) == ["b()"]


def test_head_in_two_arrangements_has_one_body() -> None:
    unit = unit_of(
        "#ifdef CONFIG_X\nint f(int a)\n#else\nint f(void)\n#endif\n{\n\tb();\n}\nenum { A };\nint g(void) { }\n"
    )
    assert [head.name for head in unit.heads] == ["f", "g"]
    assert len(unit.function(unit.heads[0]).params) == 1


def test_head_with_a_body_in_each_branch() -> None:
    unit = unit_of("int f(int a)\n#ifdef CONFIG_X\n{\n\tb();\n}\n#else\n{\n\tc();\n}\n#endif\nint g(void)\n{\n}\n")
    assert [head.name for head in unit.heads] == ["f", "g"]
    assert shapes(unit.function(unit.heads[0]).variants[0].body.body) == ["b()"]


@pytest.mark.parametrize(
    ("text", "atoms"),
    [
        ("defined(CONFIG_A) && !defined CONFIG_B", ["CONFIG_A=y", "CONFIG_B=y"]),
        ("IS_ENABLED(CONFIG_A) || X > 3", ["CONFIG_A=y", "X > 3"]),
        ("(A + 1) > (B)", ["(A + 1) > (B)"]),
        ("defined(", ["defined("]),
        ("((((", ["(((("]),
        ("(" * 119, ["(" * 119]),
        ("(" * 5000, ["(" * 5000]),
        ("", [""]),
    ],
)
def test_condition(text: str, atoms: list[str]) -> None:
    assert [atom.yes for atom in atoms_of(parse_condition(text))] == atoms
