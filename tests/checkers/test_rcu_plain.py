"""What a file tells of its RCU pointers and lists, and plain accesses to them."""

import pytest
from checker_samples import told

from patchlint.checkers import file_facts
from patchlint.checkers.file_facts import place_of

TABLE = """static struct y __rcu *tables[4];

void publish(int i, struct y *y)
{
	rcu_assign_pointer(tables[i], y);
}

int f(int i)
{
	struct y *tmp;
%s
	return 0;
}
"""


def plain(text: str) -> list[str]:
    return [t.rule for t in told(TABLE % text)]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("l->first", ("l", "first")),
        ("SLAVE(slave)->port.aggregator", ("port", "aggregator")),
        ("&x->lists[hash(n)]", ("x", "lists")),
        ("tables[i]", ("", "tables")),
        ("head", ("", "head")),
        ("", ("", "")),
    ],
)
def test_places(path: str, place: tuple[str, str]) -> None:
    assert place_of(path) == place


def test_facts() -> None:
    facts = file_facts(b"""struct x {
	struct y __rcu *first;
	struct y __rcu *twice;
};
struct z { /* struct y __rcu *told; */
	struct y *twice;
};
static struct x __rcu *all;
void f(struct x *x)
{
	list_for_each_entry_rcu(y, &x->ys, node)
		g(rcu_dereference(x->first));
	hlist_add_head_rcu(&y->link, &x->hash[h(a, b)]);
}
""")
    assert facts.fields == {"first"}
    assert facts.globals == {"all"}
    assert facts.lists == {(("x", "ys"), "node"), (("x", "hash"), "link")}
    assert dict(facts.pointers) == {("x", "first"): 1}


def test_no_facts_without_rcu() -> None:
    assert not any(file_facts(b"struct x { int n; };\n"))


def test_plain_table() -> None:
    assert plain("\ttables[i] = NULL;") == ["RCU006"]
    assert plain("\ttmp = tables[i];\n\tshow(tmp);") == ["RCU006"]


def test_table_by_its_macros_or_only_tested() -> None:
    assert not plain("\tRCU_INIT_POINTER(tables[i], NULL);")
    assert not plain("\tif (tables[i])\n\t\tshow(i);")
    assert not plain("\tstruct y *tables[4];\n\n\ttables[0] = NULL;")


def test_object_that_is_published_only_now() -> None:
    code = """struct y { struct y __rcu *next; int n; };
void push(struct x *x, struct y *y)
{
	y->next = x->head;
	rcu_assign_pointer(x->head, y);
}
"""
    assert not told(code)


WALKED = """void fill(struct x *x, struct y *y)
{
	list_add_tail_rcu(&y->node, &x->ys);
}

void f(struct x *x)
{
	struct y *y, *next;

	mutex_lock(&x->lock);
	list_for_each_entry_safe(y, next, &x->%s, node)
		list_del(&y->node);
	mutex_unlock(&x->lock);
}
"""


def test_plain_unlinking() -> None:
    assert [t.rule for t in told(WALKED % "ys")] == ["RCU006"]
    assert not told(WALKED % "others")


READER = """struct y *find(struct x *x, int key)
{
	struct y *y;

	hlist_for_each_entry_rcu(y, head, link)
		if (y->key == key)
			return y;
	return NULL;
}

int sum(struct x *x, struct hlist_head *head)
{
	int n = rcu_dereference(x->first)->n;
	struct y *y;
%s
	hlist_for_each_entry(y, head, link)
		n += y->n;
%s	return n;
}
"""


def test_reader_that_walks_plainly() -> None:
    assert [t.rule for t in told(READER % ("", ""))] == ["RCU006"]
    locked = told(READER % ("\n\tmutex_lock(&x->lock);", "\tmutex_unlock(&x->lock);\n"))
    assert "RCU006" not in [t.rule for t in locked]
