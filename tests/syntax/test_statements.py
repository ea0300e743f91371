"""Statements: what C has, and what the kernel adds by macros."""

import pytest
from shapes import body_of, function_of, shapes, unit_of

from patchlint import ir


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if (a) b(); else if (c) d();", ["if a b() else if c d() else -"]),
        ("while (a) b();", ["while a b()"]),
        ("do { a(); } while (--n > 0);", ["do {a();} while ((--n) > 0)"]),
        ("for (i = 0, j = 1; i < n; i++) a();", ["for ((i = 0 , j = 1); (i < n); (p++i)) a()"]),
        ("for (int i = 0; ; ) a();", ["for (int i = 0; -; -) a()"]),
        ("for (;;) break;", ["for (; -; -) break"]),
        ("switch (a) { case 1: b(); break; default: c(); }", ["switch a {case 1:; b(); break; default:; c();}"]),
        ("switch (a) { case 'a' ... 'z': case 1: b(); }", ["switch a {case 'a' ... 'z':; case 1:; b();}"]),
        ("switch (a) { case 1: default: }", ["switch a {case 1:; default:;}"]),
        ("goto out;\nout:", ["goto out", "out:"]),
        ("out: a();", ["out:", "a()"]),
        ("goto *table[i];", ["goto "]),
        (";;", []),
        ("if (a) ;", ["if a {} else -"]),
        ("fallthrough;", ["fallthrough"]),
        ("__attribute__((fallthrough));", []),
        ("return;", ["return -"]),
    ],
)
def test_plain(text: str, expected: list[str]) -> None:
    assert body_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int a, *b = x;", ["int a", "int *b = x"]),
        ('static const char *const s[] = { "a" };', ['static const char *s[] = {"a"}']),
        ("struct foo *p __free(kfree) = g(), *q;", ["struct foo *p cleanup(kfree) = g()", "struct foo *q"]),
        ("char *p __maybe_unused;", ["char *p"]),
        ("void (*fn)(int, struct foo *) = g;", ["void *fn = g"]),
        ("extern int g(struct foo *);", []),
        ("typeof(a) b = a;", ["typeof(a) b = a"]),
        ("typeof_member(struct a, b) c = d;", ["typeof_member(struct a, b) c = d"]),
        ("int a[3] = { [0 ... 1] = 2, };", ["int a[] = {[0 ... 1]=2}"]),
        ("__label__ out;", []),
        ("CLASS(fd, f)(n);", ["CLASS:fd f cleanup(CLASS:fd) = class_fd_constructor(n)"]),
        ("DECLARE_BITMAP(map, 8) = { 0 };", ["DECLARE_BITMAP map = {0}"]),
        ("static DEFINE_MUTEX(lock);", ["DEFINE_MUTEX(lock)"]),
    ],
)
def test_declaration(text: str, expected: list[str]) -> None:
    assert body_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("list_for_each_entry(p, &h, n) g(p);", ["foreach list_for_each_entry(p, (&h), n) g(p)"]),
        ("list_for_each_entry(p, &h, n) {\n\tcontinue;\n}", ["foreach list_for_each_entry(p, (&h), n) {continue;}"]),
        ("for_each_online_cpu(i)\n\tif (a)\n\t\tbreak;", ["foreach for_each_online_cpu(i) if a break else -"]),
        ("if (a)\n\tfor_each_x(i)\n\t\tg();", ["if a foreach for_each_x(i) g() else -"]),
        ("if (a) b(); else for_each_x(i) g();", ["if a b() else foreach for_each_x(i) g()"]),
        ("for_each_x() { g(); }", ["foreach for_each_x() {g();}"]),
        ("for_each_x(p, (a + b)) { g(); }", ["foreach for_each_x(p, (a + b)) {g();}"]),
        ("walk_unheard_of(p, &h) {\n\tg();\n}", ["foreach walk_unheard_of(p, (&h)) {g();}"]),
        ("__for_each_thing(p)\n\t(*p)++;", ["foreach __for_each_thing(p) (p++(*p))"]),
        ("do {\n\tg();\n} while_each_thread(a, b);", ["do {g();} while while_each_thread(a, b)"]),
        (
            "do_each_thread(a, b) {\n\tg();\n} while_each_thread(a, b);",
            ["foreach do_each_thread(a, b) {g();}", "while_each_thread(a, b)"],
        ),
        ("iterate_fd(files, 0, f, p);", ["iterate_fd(files, 0, f, p)"]),
    ],
)
def test_loop_macro(text: str, expected: list[str]) -> None:
    assert body_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("guard(mutex)(&a->lock);\ng();", ["guard mutex((&a->lock))", "g()"]),
        ("guard(rcu)();", ["guard rcu()"]),
        ("scoped_guard(spinlock, &l) { g(); }", ["scope scoped_guard spinlock((&l)) {g();}"]),
        ("scoped_guard(rcu)\n\tg();", ["scope scoped_guard rcu() g()"]),
        (
            "with_intel_runtime_pm(rpm, wakeref)\n\tg();",
            ["scope with_intel_runtime_pm with_intel_runtime_pm(rpm, wakeref) g()"],
        ),
        ("unsafe_get_user(x, p, Efault);", ["unsafe_get_user(x, p, Efault) or goto Efault"]),
        ('asm_volatile_goto("x" : : "r" (a) : : l_yes, l_no);', ["?(a) or goto l_yes,l_no"]),
        ('asm volatile("x" : "=r" (a) : "0" (b + 1) : "memory");', ["?(a, (b + 1))"]),
        ("wait_event_interruptible(q, a || b);", ["wait_event_interruptible(q, (a || b))"]),
        ("WITHOUT_SEMICOLON(a)\n\tg();", ["WITHOUT_SEMICOLON(a)", "g()"]),
        ("g();\n\tLAST_ONE(a)", ["g()", "LAST_ONE(a)"]),
    ],
)
def test_kernel_statement(text: str, expected: list[str]) -> None:
    assert body_of(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        'seq_puts(m, "a" __stringify(B) "c");',
        'printk(KERN_ERR PREFIX "a" "b");',
        "struct NAME(a, b) x;",
        "timeout = timeout SCALE;",
        "int __unheard_of x;",
        'register long r asm("r0") = a;',
        'asm volatile(TEMPLATE("a", "b") : : CONSTRAINT : "memory");',
        "g(a, );",
        "OPTS(kind, name, .field = 1);",
        'static const struct foo t = { NAME("x") KIND, 1 };',
    ],
)
def test_repaired(text: str) -> None:
    assert len(body_of(f"g();\n{text}\nh();")) >= 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DEBUG(if (a) g(););", ["{if a g() else -;}"]),
        ("ASSERT(a, return -1);", ["foreach ASSERT(a) return -1"]),
        ("POLL(dev, 10, if (done(dev)) break;);", ["foreach POLL(dev, 10) if done(dev) break else -"]),
    ],
)
def test_statement_as_argument(text: str, expected: list[str]) -> None:
    assert body_of(f"{text}\nh();")[:-1] == expected


def test_what_cannot_be_read_is_broken_and_told() -> None:
    unit = unit_of("void f(void)\n{\n\tg();\n\ta b c d +;\n\th();\n}\n\nvoid k(void)\n{\n\tg();\n}\n")
    first, second = (unit.function(head) for head in unit.heads)
    assert shapes(first.variants[0].body.body)[0] == "g()"
    assert shapes(first.variants[0].body.body)[-1] == "h()"
    assert "BROKEN" in shapes(first.variants[0].body.body)
    assert shapes(second.variants[0].body.body) == ["g()"]
    (entry,) = unit.not_analysed
    assert (entry.function, entry.line) == ("f", 4)


def test_error_in_a_case_leaves_the_others() -> None:
    code = "void f(void)\n{\n\tswitch (a) {\n\tcase 1:\n\t\tb c d e +;\n\t\tbreak;\n\tcase 2:\n\t\tg();\n\t}\n}\n"
    unit = unit_of(code)
    (found,) = shapes(unit.function(unit.heads[0]).variants[0].body.body)
    assert "BROKEN" in found
    assert found.endswith("break; case 2:; g();}")


def test_nesting_without_end_is_cut() -> None:
    deep = "if (a) " * 500 + "b();"
    unit = unit_of(f"void f(void) {{ g(); {deep} }}")
    function = unit.function(unit.heads[0])
    assert shapes(function.variants[0].body.body)[0] == "g()"
    assert [entry.function for entry in unit.not_analysed] == ["f"]


def test_loop_macro_keeps_its_place() -> None:
    code = "void f(void)\n{\n\tlist_for_each_entry(p, &head, node)\n\t\tg(p);\n}\n"
    (loop,) = function_of(code).variants[0].body.body
    assert isinstance(loop, ir.ForEach)
    assert code[loop.macro.pos : loop.macro.end] == "list_for_each_entry(p, &head, node)"
