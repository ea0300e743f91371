"""Macros of the file that stand for statements or values."""

from shapes import function_of, shapes, unit_of

from patchlint import ir
from patchlint.syntax import defines_in, parse


def expanded(define: str, statements: str) -> list[str]:
    function = function_of(f"{define}\nvoid f(void)\n{{\n{statements}\n}}\n")
    return shapes(function.variants[0].body.body)


def test_hidden_goto() -> None:
    found = expanded("#define CHECK(x) do { if (x) goto out; } while (0)", "CHECK(g(a));")
    assert found == ["do {if g(a) goto out else -;} while 0"]


def test_hidden_return_over_lines() -> None:
    found = expanded("#define BAIL(e) \\\n\tif (e) \\\n\t\treturn (e) /* now */", "BAIL(-1);")
    assert found == ["if -1 return -1 else -"]


def test_release_in_a_value() -> None:
    found = expanded("#define PUT(p) kref_put(&(p)->ref, release)", "if (PUT(q->p))\n\ta();")
    assert found == ["if kref_put((&q->p->ref), release) a() else -"]


def test_macros_in_macros_and_a_bound_on_them() -> None:
    defines = "#define IN(x) g(x)\n#define OUT(x) IN(x + 1)\n#define SELF(x) SELF(x)"
    assert expanded(defines, "OUT(a);") == ["g((a + 1))"]
    assert expanded(defines, "SELF(a);") == ["SELF(a)"]


def test_own_variables_get_a_name_of_their_own() -> None:
    found = expanded("#define SWAP(a, b) do { int t = a; g(t, b); } while (0)", "SWAP(t, u);")
    assert found == ["do {int t__in_SWAP = t; g(t__in_SWAP, u);} while 0"]


def test_pasting_strings_and_variadic_arguments() -> None:
    defines = "#define CALL(name, ...) do_##name(#name, ##__VA_ARGS__)"
    assert expanded(defines, "CALL(open, a, b);") == ['do_open("open", a, b)']
    assert expanded(defines, "CALL(open);") == ['do_open("open")']


def test_every_node_stands_at_the_call() -> None:
    code = "#define GET(p) get(&(p)->ref)\nvoid f(void)\n{\n\tGET(q);\n}\n"
    (statement,) = function_of(code).variants[0].body.body
    assert isinstance(statement, ir.Evaluate)
    assert isinstance(statement.expr, ir.Call)
    assert (statement.pos, statement.expr.pos, statement.expr.args[0].pos) == (code.index("GET(q)"),) * 3


def test_loops_accessors_and_kept_names_stay() -> None:
    code = (
        "#define for_each_x(p) for (p = first(); p; p = next(p))\n"
        "#define FIELD(p) ((p)->field)\n#define KEEP(p) get(p)\n"
        "void f(void)\n{\n\tfor_each_x(p)\n\t\ta(FIELD(p));\n\tKEEP(p);\n}\n"
    )
    function = parse(code.encode(), "t.c", keep=frozenset({"KEEP"}))
    assert shapes(function.function(function.heads[0]).variants[0].body.body) == [
        "foreach for_each_x(p) a(FIELD(p))",
        "KEEP(p)",
    ]


def test_stand_in_of_another_configuration_does_not_count() -> None:
    code = "#ifdef CONFIG_X\n#define LOCK(a) lock(&(a)->l)\n#else\n#define LOCK(a) do { } while (0)\n#endif\n"
    assert expanded(code, "LOCK(p);") == ["lock((&p->l))"]


def test_name_that_changes_its_meaning_stays() -> None:
    code = "#define X(a) return a\nint g(int b)\n{\n\tX(b);\n}\n#undef X\n#define X(a) goto a\n"
    assert shapes(function_of(code).variants[0].body.body) == ["X(b)"]


def test_constants_stay() -> None:
    code = "#define FIELD(x) FIELD_PREP(GENMASK(3, 0), x)\nvoid f(void)\n{\n\twritel(FIELD(a), b);\n}\n"
    assert shapes(function_of(code).variants[0].body.body) == ["writel(FIELD(a), b)"]


def test_macros_of_headers_are_given() -> None:
    defines = defines_in(b"#ifndef H\n#define H\n#define LEAVE(x) return x\nint g(void);\n#endif\n")
    assert [(define.name, define.params, define.body) for define in defines] == [("LEAVE", ("x",), "return x")]
    unit = parse(b"void f(void)\n{\n\tLEAVE(a);\n}\n", "t.c", macros=defines)
    assert shapes(unit.function(unit.heads[0]).variants[0].body.body) == ["return a"]


def test_defines_and_includes_are_told() -> None:
    unit = unit_of('#include <linux/a.h>\n#include "b.h"\n#define F(a, b...) a /* c */ \\\n b\n#define G 1\n')
    assert unit.includes == ("linux/a.h", "b.h")
    (define,) = unit.defines
    assert (define.name, define.params, define.body.split()) == ("F", ("a", "b..."), ["a", "b"])
