"""What a file declares besides functions."""

from shapes import unit_of

from patchlint.syntax import Entry, Unit

CODE = """\
EXPORT_SYMBOL(early)
DEFINE_STATIC_KEY_FALSE(my_key);
static DEFINE_PER_CPU(struct foo *, cache) = NULL;
extern struct static_key_false a_key, *b_key;
static struct foo __rcu *table[4] __read_mostly;
int plain = 3;
int prototype(struct foo *p, int n);
static const struct file_operations my_ops __ro_after_init = {
	.open = my_open, .release = (void *)my_release, .owner = THIS_MODULE, .mode = 0644,
#ifdef CONFIG_COMPAT
	.compat_ioctl = my_compat,
#else
	.compat_ioctl = my_other,
#endif
	.inner = { .read = &my_read },
};
struct sock {
	struct dst __rcu *dst;
	int (*fn)(struct sock *sk, int n);
	struct { void __iomem *regs; } in;
	int n;
} __aligned(8);
typedef struct { int __percpu *count; } counter_t;
MODULE_LICENSE("GPL /* no comment */")
"""


def unit() -> Unit:
    return unit_of(CODE)


def test_macros() -> None:
    found = [(macro.name, macro.args, macro.static) for macro in unit().macros]
    assert found == [
        ("EXPORT_SYMBOL", ("early",), False),
        ("DEFINE_STATIC_KEY_FALSE", ("my_key",), False),
        ("DEFINE_PER_CPU", ("struct foo *", "cache"), True),
        ("MODULE_LICENSE", ('"GPL /* no comment */"',), False),
    ]
    assert [CODE[macro.pos :].startswith(macro.name) for macro in unit().macros] == [True] * 4


def test_macro_without_semicolon_before_a_function() -> None:
    found = unit_of("EXPORT_SYMBOL(a)\nint f(void)\n{\n}\n")
    assert [macro.args for macro in found.macros] == [("a",)]
    assert [head.name for head in found.heads] == ["f"]


def test_globals() -> None:
    found = {item.name: item for item in unit().globals}
    assert set(found) == {"a_key", "b_key", "table", "plain", "my_ops"}
    assert (found["b_key"].type, found["b_key"].extern, found["b_key"].pointer) == ("struct static_key_false", True, 1)
    assert (found["table"].type, found["table"].static, found["table"].array) == ("struct foo", True, True)
    assert found["table"].attributes == ("__rcu",)
    assert found["plain"].initialised


def test_tables_name_functions_of_all_branches() -> None:
    (table,) = unit().tables
    assert (table.type, table.name) == ("struct file_operations", "my_ops")
    assert [(entry.field, entry.function) for entry in table.entries] == [
        ("open", "my_open"),
        ("release", "my_release"),
        ("compat_ioctl", "my_compat"),
        ("compat_ioctl", "my_other"),
        ("read", "my_read"),
    ]
    assert table.entries[0] == Entry("open", "my_open", CODE.index("my_open"))


def test_members_with_attributes() -> None:
    assert [(item.struct, item.field, item.attributes) for item in unit().fields] == [
        ("sock", "dst", ("__rcu",)),
        ("sock", "regs", ("__iomem",)),
        ("", "count", ("__percpu",)),
    ]


def test_elements_made_by_macros_bring_their_commas() -> None:
    found = unit_of("static const struct pm_ops ops = {\n\tSLEEP_OPS(a, b)\n\tRUNTIME_OPS(c, d)\n\t.prepare = e,\n};\n")
    assert [entry.function for table in found.tables for entry in table.entries] == ["e"]
    assert found.unread == ()
