"""Hunks without their file."""

import pytest
from shapes import shapes

from patchlint.syntax import Unit, parse


def hunk(text: str, section: str = "", line: int = 100) -> Unit:
    return parse(text.encode(), "t.c", fragments=[(1, line, section)])


def bodies(unit: Unit) -> dict[str, list[str]]:
    found = {head.name: shapes(unit.function(head).variants[0].body.body) for head in unit.heads}
    assert unit.not_analysed == ()
    return found


def test_whole_function_between_cut_ones() -> None:
    unit = hunk(
        "\ta();\n}\n\nstatic int whole(struct foo *p)\n{\n\tb(p);\n}\n\nint begun(int n)\n{\n\tif (n) {\n\t\tc();\n",
        "int ended(void)",
    )
    assert bodies(unit) == {
        "ended": ["BROKEN", "BROKEN", "a()"],
        "whole": ["b(p)"],
        "begun": ["if n {c(); BROKEN;} else -"],
    }
    assert [(head.name, head.line, head.end_line, head.whole) for head in unit.heads] == [
        ("ended", 100, 101, False),
        ("whole", 103, 106, True),
        ("begun", 108, 111, False),
    ]
    assert [len(unit.function(head).params) for head in unit.heads] == [0, 1, 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\ta();\n\tb();\n", ["BROKEN", "BROKEN", "a()", "b()", "BROKEN"]),
        ("\t\ta();\n\t} else {\n\t\tb();\n\t}\n", ["BROKEN", "if ?() {BROKEN; a();} else {b();}", "BROKEN"]),
        ("\t\ta();\n\t} while (b);\n", ["BROKEN", "do {BROKEN; a();} while b", "BROKEN"]),
        ("\tcase 1:\n\t\ta();\n\t}\n", ["BROKEN", "switch ?() {BROKEN; case 1:; a();}", "BROKEN"]),
        ("\t\tbreak;\n\tcase 2:\n", ["BROKEN", "switch ?() {BROKEN; break; case 2:; BROKEN;}"]),
        ("\t      b, c);\n\ta();\n", ["BROKEN", "BROKEN", "a()", "BROKEN"]),
        ("\ta();\n\tb(c,\n", ["BROKEN", "BROKEN", "a()", "BROKEN"]),
        ("\ta();\n\tif (b)\n", ["BROKEN", "BROKEN", "a()", "if b BROKEN else -"]),
        ("\telse\n\t\ta();\n\tb();\n", ["BROKEN", "BROKEN", "if ?() BROKEN else a()", "b()", "BROKEN"]),
        ("\t\ta();\n\tb();\n", ["BROKEN", "BROKEN", "b()", "BROKEN"]),
        (" * of a comment\n */\n\ta();\n", ["BROKEN", "BROKEN", "a()", "BROKEN"]),
        ("\ta();\n\t/* a comment\n\t * that goes on\n", ["BROKEN", "BROKEN", "a()", "BROKEN"]),
    ],
)
def test_middle_of_a_function(text: str, expected: list[str]) -> None:
    assert bodies(hunk(text, "static int f(int a,")) == {"f": expected}


def test_head_cut_in_its_parameters() -> None:
    unit = hunk("\t     int b)\n{\n\ta();\n\treturn 0;\n}\n", "static int f(int a,")
    assert bodies(unit) == {"f": ["a()", "return 0"]}
    assert [head.whole for head in unit.heads] == [False]


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("\tint a;\n\tstruct foo *b;\n};\n", "struct bar {"),
        ("\tFIRST,\n\tSECOND = 3,\n", "enum bar {"),
        ("\t.open = my_open,\n\t.release = my_release,\n};\n", "static const struct file_operations ops = {"),
        ('\t{ .compatible = "a" },\n\t{ }\n};\nMODULE_DEVICE_TABLE(of, ids);\n', ""),
        ("#define A 1\n#define B(x) \\\n\tc(x)\n", ""),
        ("int a(void);\nint b(void);\n", ""),
    ],
)
def test_no_function(text: str, section: str) -> None:
    assert bodies(hunk(text, section)) == {}


def test_definition_that_began_above() -> None:
    assert bodies(hunk("\tdo { \\\n\t\ta(); \\\n\t} while (0)\n\nint f(void)\n{\n\tb();\n}\n")) == {"f": ["b()"]}


def test_lines_are_those_of_the_file() -> None:
    first = "int f(void)\n{\n\ta();\n}\n"
    second = "int g(void)\n{\n\tb();\n}\n"
    unit = parse((first + second).encode(), "t.c", fragments=[(1, 10, ""), (5, 700, "")])
    assert [(head.name, head.line, head.end_line, head.whole) for head in unit.heads] == [
        ("f", 10, 13, True),
        ("g", 700, 703, True),
    ]
    (statement,) = unit.function(unit.heads[1]).variants[0].body.body
    assert unit.file_line(statement.pos) == 702


def test_positions_of_a_cut_function_count_in_the_image() -> None:
    text = "\t} else {\n\t\tput(p);\n\t}\n"
    unit = hunk(text, "int f(void)")
    variant = unit.function(unit.heads[0]).variants[0]
    choice = variant.body.body[1]
    call = choice.orelse.body[0].expr  # type: ignore[union-attr]
    assert text[call.pos : call.end] == "put(p)"


def test_hunks_without_text() -> None:
    code = b"int f(void)\n{\n\ta();\n}"
    unit = parse(code, "t.c", fragments=[(1, 10, ""), (5, 50, ""), (5, 70, "int g(void)")])
    assert [(head.name, head.line) for head in unit.heads] == [("f", 10)]
    assert parse(b"", "t.c", fragments=[(1, 10, ""), (1, 20, "")]).heads == ()


def test_if_of_another_hunk_is_not_closed_here() -> None:
    first = "#ifdef CONFIG_X\nint f(void)\n{\n}\n"
    second = "#endif\nint g(void)\n{\n}\n"
    unit = parse((first + second).encode(), "t.c", fragments=[(1, 10, ""), (5, 50, "")])
    assert [(head.name, head.config) for head in unit.heads] == [("f", ("CONFIG_X=y",)), ("g", ())]


def test_else_whose_if_is_above() -> None:
    unit = hunk("\ta();\n#else\n\tb();\n#endif\n\tc();\n", "int f(void)")
    variants = unit.function(unit.heads[0]).variants
    assert [shapes(variant.body.body)[2:-1] for variant in variants] == [["a()", "c()"], ["b()", "c()"]]
