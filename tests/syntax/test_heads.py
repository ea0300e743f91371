"""Function heads: names, parameters, what stands around them, where they begin and end."""

import pytest
from shapes import function_of, unit_of

from patchlint.ir import Param


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("int f(void)", "f"),
        ("static inline struct foo *f(void)", "f"),
        ("static noinline int f(void)", "f"),
        ("STATIC_WORD int f(void)", "f"),
        ("static void __head(int a)", "__head"),
        ("asmlinkage __visible void __init f(void)", "f"),
        ("static __printf(1, 2) void f(const char *fmt, ...)", "f"),
        ("__attribute__((noreturn)) void f(void)", "f"),
        ("int f(void) __must_hold(&l)", "f"),
        ("int f(void)\n\t__acquires(RCU)\n\t__releases(b)", "f"),
        ("int f(void) SOME_ANNOTATION(b)", "f"),
        ("void (*f(int a))(int)", "f"),
        ("EXPORT_SYMBOL(g)\nint f(void)", "f"),
        ("EXPORT_SYMBOL(g);\n\n/* says */\nint\nf(void)", "f"),
        ("SYSCALL_DEFINE0(getpid)", "sys_getpid"),
        ("SYSCALL_DEFINE2(dup2, unsigned int, a, unsigned int, b)", "sys_dup2"),
        ("COMPAT_SYSCALL_DEFINE1(x, int, a)", "compat_sys_x"),
        ("BPF_CALL_1(bpf_x, struct sk_buff *, skb)", "bpf_x"),
        ("static UNHEARD_OF(g, int)", "g"),
        ("static int NAME(show)(struct foo *p)", "NAME(show)"),
    ],
)
def test_name(head: str, name: str) -> None:
    unit = unit_of(f"int before(void);\n{head}\n{{\n\treturn 0;\n}}\nint after;\n")
    assert [found.name for found in unit.heads] == [name]
    assert unit.source[unit.heads[0].end - 1 : unit.heads[0].end] == b"}"


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ("void", []),
        ("", []),
        ("int a, struct foo **b", [Param("a", "int", 0), Param("b", "struct foo", 2)]),
        ("const char __user *p, ...", [Param("p", "const char", 1)]),
        ("struct foo *", [Param("", "struct foo", 1)]),
        ("unsigned long, u8 a[4]", [Param("", "unsigned long", 0), Param("a", "u8", 1)]),
        ("int (*cb)(int, void *), void *data", [Param("cb", "int (*)(int, void *)", 1), Param("data", "void", 1)]),
        ("struct foo *p __maybe_unused", [Param("p", "struct foo", 1)]),
    ],
)
def test_params(params: str, expected: list[Param]) -> None:
    assert list(function_of(f"int f({params})\n{{\n}}\n").params) == expected


def test_params_of_a_system_call() -> None:
    function = function_of("SYSCALL_DEFINE3(read, unsigned int, fd, char __user *, buf, size_t, count)\n{\n}\n")
    assert function.params == (Param("fd", "unsigned int", 0), Param("buf", "char", 1), Param("count", "size_t", 0))
    assert function.return_type == "long"


def test_what_stands_around_a_head() -> None:
    function = function_of("static inline struct foo __rcu *f(struct bar *b)\n\t__must_hold(&b->lock)\n{\n}\n")
    assert (function.static, function.inline) == (True, True)
    assert (function.return_type, function.return_pointer) == ("struct foo", 1)
    assert ("__must_hold", "&b->lock") in function.annotations
    assert (function.line, function.end_line) == (1, 4)


@pytest.mark.parametrize(
    "code",
    [
        "struct foo {\n\tint (*f)(int);\n};\n",
        "static const struct ops o = {\n\t.f = g(1),\n};\n",
        "enum foo { A = B(1) };\n",
        "DEFINE_THING(x) = {\n\t1,\n};\n",
        "define_machine(x) {\n\t.name = 1,\n};\n",
        "DECLARE_X(a, b)\n\nstruct foo {\n\tint a;\n};\n",
        "typedef struct { int a; } __aligned(8) foo_t;\n",
    ],
)
def test_no_function(code: str) -> None:
    unit = unit_of(code + "int last(void)\n{\n}\n")
    assert [head.name for head in unit.heads] == ["last"]


def test_bracket_that_never_closes_does_not_swallow_the_next_function() -> None:
    unit = unit_of("int f(void)\n{\n\tif (a) {\n\tb();\n}\n\nint g(void)\n{\n\tc();\n}\n")
    assert [(head.name, head.line, head.end_line) for head in unit.heads] == [("f", 1, 5), ("g", 7, 10)]


def test_calls_are_words_before_a_bracket() -> None:
    unit = unit_of("int f(void)\n{\n\tif (a(b(1)) || sizeof(c)) /* d() */\n\t\tp->e(2);\n}\n")
    assert unit.calls(unit.heads[0]) == {"a", "b", "e"}


def test_huge_file_is_refused_and_told() -> None:
    unit = unit_of("int x;" + " " * (9 << 20))
    assert unit.heads == ()
    assert "larger" in unit.not_analysed[0].reason
