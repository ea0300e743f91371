"""Expressions, as the kernel writes them."""

import pytest
from shapes import body_of, expression_of, function_of

from patchlint import ir


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a->b.c[i + 1]", "a->b.c[(i + 1)]"),
        ("(*p)++", "(p++(*p))"),
        ("--p->n", "(--p->n)"),
        ("!a && ~b", "((!a) && (~b))"),
        ("a, b", "((x = a , b)"),
        ("a ? b : c", "(a ? b : c)"),
        ("f(a) ?: -ENOMEM", "(f(a) ? - : (-ENOMEM))"),
        ("(struct foo *)p", "(struct foo *)p"),
        ("(u32)(p)", "(u32)p"),
        ("(size_t)-1", "(size_t)-1"),
        ("(gfp_t) & mask", "(gfp_t)(&mask)"),
        ("(a) & b", "(a & b)"),
        ("(handler)(irq, dev)", "handler(irq, dev)"),
        ("ops->open(inode, file)", "(ops->open)(inode, file)"),
        ("sizeof(*p)", "[sizeof(*p)]"),
        ("sizeof(struct foo) * n", "([sizeof(struct foo)] * n)"),
        ("offsetof(struct foo, bar[2])", "[offsetof(struct foo, bar[2])]"),
        ("container_of(p, struct foo, member)", "container_of(p, <struct foo>, member)"),
        ("va_arg(ap, unsigned long)", "va_arg(ap, <unsigned long>)"),
        ("va_arg(ap, char *)", "va_arg(ap, <char *>)"),
        ("min_t(const struct foo *, a, b)", "min_t(<const struct foo *>, a, b)"),
        ("container_of(p, typeof(*q), m)", "container_of(p, <typeof(*q)>, m)"),
        ("({ int y = f(); y; })", "({int y = f(); y;})"),
        ('"a" "b\\n"', '"ab\\n"'),
        ("&&label", "(&&label)"),
        ("(struct foo){ .a = 1, .b.c = 2 }", "struct foo{.a=1, .b.c=2}"),
        ("NULL", "NULL"),
        ("check(a, <=, b)", "check(a, <=, b)"),
    ],
)
def test_shape(text: str, expected: str) -> None:
    if text == "a, b":
        assert body_of("x = a, b;") == ["(x = a , b)"]
    else:
        assert expression_of(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [("0x1fUL", 31), ("017", 15), ("0", 0), ("42", 42), ("'a'", 97), (r"'\n'", 10), (r"'\x41'", 65), ("1.5", None)],
)
def test_constant(text: str, value: int | None) -> None:
    (statement,) = function_of(f"int f(void) {{ return {text}; }}").variants[0].body.body
    assert isinstance(statement, ir.Return)
    assert isinstance(statement.value, ir.Num)
    assert statement.value.value == value


def test_positions_count_in_the_source() -> None:
    code = "/* é */\nint f(void)\n{\n\t/* comment */ return container_of(p, struct foo, m)->x;\n}\n"
    source = code.encode()
    (statement,) = function_of(code).variants[0].body.body
    assert isinstance(statement, ir.Return)
    assert isinstance(statement.value, ir.Member)
    call = statement.value.base
    assert isinstance(call, ir.Call)
    assert source[call.pos : call.end] == b"container_of(p, struct foo, m)"
    assert [source[arg.pos : arg.pos + 1] for arg in call.args] == [b"p", b"s", b"m"]


def test_comment_inside_a_call_is_no_argument() -> None:
    assert body_of("f(a, /* b, */ c); // d") == ["f(a, c)"]
