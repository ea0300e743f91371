from memory_store import index_of

from patchlint.callgraph import rcu_fields, static_keys, table_entries, writers


def test_functions_in_operation_tables() -> None:
    index = index_of(
        net_a_c="""
static int open_it(void)
{
}
static const struct box_ops ops = {
\t.owner = THIS_MODULE,
\t.inner = { .deep = open_it, },
\t.open = open_it,
};
void set(struct box *b)
{
\t*b = (struct other_ops){ .start = &open_it };
}
int open_it_too = 1;
"""
    )
    assert [(e.struct, e.field, e.line) for e in table_entries(index, "open_it")] == [
        ("", "deep", 7),
        ("box_ops", "open", 8),
        ("other_ops", "start", 12),
    ]


def test_places_of_static_keys() -> None:
    index = index_of(
        net_a_c="""
DEFINE_STATIC_KEY_FALSE(box_key);
void up(void)
{
\tstatic_branch_inc_cpuslocked(&box_key);
\tif (static_branch_unlikely(&box_key))
\t\tstatic_branch_disable(&other->key[i + 1]);
}
""",
        include_linux_jump_h="#define static_branch_inc(x) static_key_slow_inc(&(x)->key)\n",
        net_b_c="void down(void)\n{\n\tstatic_branch_slow_dec_deferred(&box_key);\n\tstatic_key_count(&box_key);\n}\n",
    )
    found = [(s.key, s.what, s.function) for s in static_keys(index) if s.file != "include/linux/jump.h"]
    assert found == [
        ("box_key", "define", ""),
        ("box_key", "inc", "up"),
        ("box_key", "test", "up"),
        ("other->key[i + 1]", "disable", "up"),
        ("box_key", "dec", "down"),
        ("box_key", "test", "down"),
    ]
    assert [s.what for s in static_keys(index, "key")] == ["inc", "disable"]


def test_writers_of_a_field() -> None:
    index = index_of(
        net_a_c="""
struct box one = { .state = 1 };
void f(struct box *b)
{
\tb->state = 2;
\tb->state |= 4;
\tb->state++;
\tif (b->state == 3 || b->other)
\t\trcu_assign_pointer(b->state, NULL);
\tWRITE_ONCE(b->in.state, 1);
\tuse(b->state, b->restate = 1);
}
"""
    )
    assert [(w.line, w.function) for w in writers(index, "state")] == [
        (2, ""), (5, "f"), (6, "f"), (7, "f"), (9, "f"), (10, "f"),
    ]  # fmt: skip


def test_members_declared_rcu() -> None:
    index = index_of(
        include_a_h="struct box {\n\tstruct dst __rcu *cache;\n\tvoid __rcu **slots[2];\n\tint plain;\n};\n",
        net_a_c="void f(void)\n{\n\tstruct dst __rcu *local;\n}\n",
    )
    assert [(f.struct, f.field, f.line) for f in rcu_fields(index)] == [("box", "cache", 2), ("box", "slots", 3)]
    assert [f.field for f in rcu_fields(index, "slots")] == ["slots"]
