"""What is inferred of callees, on a small tree with the built-in API models."""

from __future__ import annotations

import pytest
from memory_store import MemoryStore

from patchlint.callgraph import TreeCallees, TreeIndex
from patchlint.callgraph.codec import decode_summary, encode_summary
from patchlint.effects import ANY, NEG, POS, ZERO, Effect, Place, Summary
from patchlint.host.rulefiles import load_ruleset
from patchlint.ruleset import Models

FILE = "drivers/a.c"


@pytest.fixture(scope="module")
def models() -> Models:
    return load_ruleset(()).models


def infer(models: Models, source: str, name: str, **others: str) -> Summary:
    files = {FILE: source} | {f"{path.replace('__', '/')}.c": text for path, text in others.items()}
    found = TreeCallees(models, TreeIndex(MemoryStore(files))).summary(name, FILE)
    assert found is not None
    return found


def effects(summary: Summary) -> list[tuple[str, str, Place, int]]:
    return [(one.action, one.resource, one.place, one.when) for one in summary.effects]


# ------------------------------------------------------------------- arguments

BORROWERS = {
    "reads it": "return p->n + p->next->n;",
    "compares it": "return p == other;",
    "changes a field": "p->n = 3; p->n++; return 0;",
    "locks a member": "mutex_lock(&p->lock); p->n = 1; mutex_unlock(&p->lock); return 0;",
    "copies into a variable": "struct box *q = p; return q->n;",
    "hands it to a borrower": "return peek(p);",
    "calls itself": "return n ? f(p, n - 1) : p->n;",
    "wrapper macro": "return PEEK(p);",
    "a member's address handed on": "return peek(&p->in);",
}

KEEPERS = {
    "stores it": "other->next = p; return 0;",
    "stores it in a global": "cached = p; return 0;",
    "stores a pointer into it": "other->link = &p->in; return 0;",
    "stores a copy": "struct box *q = p; other->next = q; return 0;",
    "stores what gives it back": "other->next = same(p); return 0;",
    "in a structure": "struct pair both = { .one = p }; return use(&both);",
    "unknown function": "return mystery(p);",
    "through a pointer": "return other->ops->eat(p);",
    "its address": "return change(&p);",
    "a keeper two calls deep": "return deep(p);",
    "a list": "list_add(&p->in, &boxes); return 0;",
    "releases it on one path": "if (n) kfree(p); return 0;",
}

HELPERS = """
#define PEEK(b) peek(b)
static int peek(struct box *b)
{
\treturn b->n;
}
static struct box *same(struct box *b)
{
\treturn b;
}
static int hide(struct box *b)
{
\tcached = b;
\treturn 0;
}
static int deep(struct box *b)
{
\treturn hide(b);
}
static int f(struct box *p, int n)
{
\t%s
}
"""


@pytest.mark.parametrize("body", BORROWERS.values(), ids=BORROWERS.keys())
def test_borrowers(models: Models, body: str) -> None:
    assert infer(models, HELPERS % body, "f").args[0] == "borrow"


@pytest.mark.parametrize("body", KEEPERS.values(), ids=KEEPERS.keys())
def test_keepers(models: Models, body: str) -> None:
    assert infer(models, HELPERS % body, "f").args[0] != "borrow"


def test_what_every_path_stores_is_taken(models: Models) -> None:
    source = "static void f(struct box *p)\n{\n\tif (p->n)\n\t\tfirst = p;\n\telse\n\t\tsecond = p;\n}\n"
    assert infer(models, source, "f").args == ("take",)


def test_what_a_local_structure_holds_is_not_taken(models: Models) -> None:
    source = """
static int f(struct box *p)
{
\tstruct job job = { .n = 1 };

\tjob.box = p;
\tlist_add_tail(&job.link, &jobs);
\twait_for(&job);
\tlist_del(&job.link);
\tmutex_lock(&lock);
\tmutex_unlock(&lock);
\treturn job.result;
}
"""
    assert infer(models, source, "f").args == ("unknown",)


def test_what_is_stored_with_a_reference_of_its_own_is_borrowed(models: Models) -> None:
    source = "static void f(struct holder *h, struct device_node *np)\n{\n\th->np = of_node_get(np);\n}\n"
    assert infer(models, source, "f").args[1] != "take"


def test_recursion_of_two_functions(models: Models) -> None:
    source = """
static int odd(struct box *p, int n);
static int even(struct box *p, int n)
{
\treturn n ? odd(p, n - 1) : 1;
}
static int odd(struct box *p, int n)
{
\treturn n ? even(p, n - 1) : 0;
}
"""
    assert infer(models, source, "even").args[0] == "borrow"
    assert infer(models, source.replace(": 0", ": keep(p)"), "even").args[0] == "unknown"


def test_a_result_that_points_into_the_argument_leaves_it_open(models: Models) -> None:
    source = "struct in *f(struct box *p)\n{\n\treturn p->n ? &p->in : NULL;\n}\n"
    assert infer(models, source, "f").args == ("unknown",)


def test_a_function_that_gives_its_argument_back(models: Models) -> None:
    source = "struct in *f(int n, struct box *p)\n{\n\tp->n = n;\n\treturn &p->in;\n}\n"
    assert infer(models, source, "f").returns_arg == 1


def test_alternatives_must_agree(models: Models) -> None:
    one = "int f(struct box *p)\n{\n\treturn %s;\n}\n"
    source = f"#ifdef A\n{one % 'p->n'}#else\n{one % 'keep(p)'}#endif\n"
    assert infer(models, source, "f").args == ("unknown",)


# --------------------------------------------------------------------- effects


def test_release_wrappers(models: Models) -> None:
    source = """
static void drop(struct device_node *np)
{
\tif (!np)
\t\treturn;
\tof_node_put(np);
}
static void drop_deep(struct device_node *np)
{
\ttrace(1);
\tdrop(np);
}
static void destroy(struct box *b)
{
\tkfree(b->name);
\tkfree(b);
}
"""
    for name in ("drop", "drop_deep"):
        found = infer(models, source, name)
        assert effects(found) == [("release", "of_node", Place("arg", 0), 7)]
        assert found.effects[0].null_ok
        assert found.args == ("borrow",)
    destroy = infer(models, source, "destroy")
    name, whole = destroy.effects
    assert (name.resource, name.place, name.frees) == ("kmalloc", Place("arg", 0, path="name"), False)
    assert (whole.resource, whole.place, whole.frees) == ("kmalloc", Place("arg", 0), True)


def test_released_on_failure_only(models: Models) -> None:
    source = """
static int f(struct device_node *np)
{
\tint ret = setup(1);

\tif (ret < 0) {
\t\tof_node_put(np);
\t\treturn ret;
\t}
\treturn 0;
}
"""
    assert effects(infer(models, source, "f")) == [("release", "of_node", Place("arg", 0), NEG)]


def test_taken_on_success_only(models: Models) -> None:
    source = """
static int f(struct holder *h, struct box *b)
{
\tif (h->full)
\t\treturn -ENOSPC;
\th->box = b;
\treturn 0;
}
"""
    found = infer(models, source, "f")
    assert effects(found) == [("take", "", Place("arg", 1), ZERO)]
    assert found.args[1] == "borrow"


def test_acquire_wrappers(models: Models) -> None:
    source = """
static struct device_node *find(struct box *b)
{
\treturn of_find_node_by_name(NULL, b->name);
}
static struct device_node *find_deep(struct box *b)
{
\tstruct device_node *np;

\tnp = find(b);
\tif (!np)
\t\treturn NULL;
\treturn np;
}
static struct device_node *borrowed(struct box *b)
{
\treturn b->np;
}
"""
    for name in ("find", "find_deep"):
        found = infer(models, source, name)
        (effect,) = found.effects
        assert effect[:3] == ("acquire", "of_node", Place("result"))
        assert effect.when & POS
        assert not effect.when & ZERO
        assert "inferred" in effect.flags
    assert infer(models, source, "borrowed").effects == ()


def test_what_an_unknown_call_may_keep_is_not_surely_the_callers(models: Models) -> None:
    source = """
static struct device_node *f(struct box *b)
{
\tstruct device_node *np = of_find_node_by_name(NULL, b->name);

\tif (np)
\t\t%s(b, np);
\treturn np;
}
static void look(struct box *b, struct device_node *np)
{
\tb->n = np->n;
}
"""
    assert infer(models, source % "register_it", "f").effects == ()
    assert [effect.resource for effect in infer(models, source % "look", "f").effects] == ["of_node"]


def test_what_is_found_and_kept_is_not_the_callers(models: Models) -> None:
    source = """
static struct device_node *f(struct box *b)
{
\tstruct device_node *np = of_find_node_by_name(NULL, b->name);

\tb->np = np;
\treturn np;
}
"""
    assert infer(models, source, "f").effects == ()


def test_a_get_of_the_argument(models: Models) -> None:
    source = "static void hold(struct box *b)\n{\n\tget_device(&b->dev);\n}\n"
    assert effects(infer(models, source, "hold")) == [("acquire", "device", Place("arg", 0, path="&dev"), 7)]


def test_an_out_parameter(models: Models) -> None:
    source = """
static int f(struct box *b, struct device_node **out)
{
\t*out = of_find_node_by_name(NULL, b->name);
\treturn 0;
}
"""
    found = [one for one in infer(models, source, "f").effects if one.action == "acquire"]
    assert [(one.resource, one.place) for one in found] in ([], [("of_node", Place("arg", 1, deref=True))])


def test_a_part_that_is_returned_as_what_it_is_a_part_of(models: Models) -> None:
    source = """
static struct box *find(const char *name)
{
\tstruct device *dev = class_find_device_by_name(&boxes, name);

\treturn dev ? container_of(dev, struct box, dev) : NULL;
}
"""
    assert effects(infer(models, source, "find")) == [("acquire", "device", Place("result"), POS)]


def filled(models: Models, body: str) -> list[tuple[int, bool]]:
    """When a structure that ``f`` fills holds memory, and whether it may have been left as it was."""
    lines = body.replace("\n", "\n\t")
    found = infer(models, f"static int f(struct box *b, int n)\n{{\n\t{lines}\n}}\n", "f").effects
    assert all((one.resource, one.place) == ("kmalloc", Place("arg", 0, True, "in.data")) for one in found)
    return [(one.when, "or-untouched" in one.flags) for one in found]


ALLOCATES = "b->in.data = kmalloc(n, GFP_KERNEL);\nif (!b->in.data)\n\treturn -ENOMEM;\n"


def test_a_failure_half_way_leaves_what_there_is(models: Models) -> None:
    assert filled(models, f"{ALLOCATES}if (n > 9)\n\treturn -EINVAL;\nreturn 0;") == [(ANY, False)]
    cleans = "if (n > 9) {\n\tkfree(b->in.data);\n\treturn -EINVAL;\n}\nreturn 0;"
    assert filled(models, ALLOCATES + cleans) == [(ZERO, False)]


def test_success_that_may_leave_a_place_as_it_was(models: Models) -> None:
    assert filled(models, f"if (!n)\n\treturn 0;\n{ALLOCATES}return 0;") == [(ZERO, True)]
    sometimes = "b->in.data = n ? kmalloc(n, GFP_KERNEL) : NULL;\nreturn 0;"
    assert filled(models, sometimes) == []


def test_what_is_kept_with_a_reference_of_its_own(models: Models) -> None:
    source = """
static void start(struct box *b)
{
\tget_device(&b->dev);
\tmystery(b);
}
static void maybe(struct box *b)
{
\tif (b->ready)
\t\tstart(b);
}
"""
    assert infer(models, source, "start").args == ("borrow",)
    assert infer(models, source, "maybe").args == ("borrow",)
    assert infer(models, source.replace("get_device(&b->dev);", ""), "maybe").args == ("unknown",)


@pytest.mark.parametrize(
    ("body", "looks"),
    [
        ("return b->n + b->next->n;", True),
        ("struct box *next = b->next; return peek(next);", True),
        ("b->n = 1; return 0;", False),
        ("return mystery(b);", False),
        ("return b->ops->size(b);", False),
        ("kfree(b->data); return 0;", False),
    ],
)
def test_what_only_looks(models: Models, body: str, looks: bool) -> None:
    source = f"static int f(struct box *b)\n{{\n\t{body}\n}}\nint peek(struct box *b)\n{{\n\treturn b->n;\n}}\n"
    assert infer(models, source, "f").looks is looks


LOCKS = """
static void box_lock(struct box *b)
{
\tmutex_lock(&b->lock);
}
static void box_unlock(struct box *b)
{
\tmutex_unlock(&b->lock);
}
static void enter(void)
{
\trcu_read_lock();
}
"""


def test_lock_wrappers_and_their_other_half(models: Models) -> None:
    lock, unlock = infer(models, LOCKS, "box_lock"), infer(models, LOCKS, "box_unlock")
    assert effects(lock) == [("acquire", "mutex", Place("arg", 0, path="lock"), 7)]
    assert effects(unlock) == [("release", "mutex", Place("arg", 0, path="lock"), 7)]
    assert not (lock.effects[0].flags | unlock.effects[0].flags) & {"unpaired"}


def test_a_section_without_the_other_half_is_marked(models: Models) -> None:
    enter = infer(models, LOCKS, "enter")
    assert effects(enter) == [("acquire", "rcu", Place("global"), 7)]
    assert "unpaired" in enter.effects[0].flags


def test_a_lock_left_on_some_paths_only_is_no_effect(models: Models) -> None:
    source = "static void f(struct box *b)\n{\n\tif (b->n)\n\t\tmutex_unlock(&b->lock);\n}\n"
    assert infer(models, source, "f").effects == ()


# ---------------------------------------------------------- sleep, end, result


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("msleep(3);", "yes"),
        ("struct box *b = kzalloc(8, GFP_KERNEL); use(b);", "yes"),
        ("struct box *b = kzalloc(8, gfp); use(b);", "arg0"),
        ("if (gfp) msleep(3);", "unknown"),
        ("x = 1;", "no"),
        ("inner();", "yes"),
        ("spin_lock(&gate); x = 1; spin_unlock(&gate); msleep(3);", "yes"),
        ("x = 1; spin_unlock(&gate); msleep(3);", "unknown"),
    ],
)
def test_sleeping(models: Models, body: str, expected: str) -> None:
    source = f"static void inner(void)\n{{\n\tmsleep(1);\n}}\nstatic void f(gfp_t gfp)\n{{\n\t{body}\n}}\n"
    assert infer(models, source, "f").sleeps == expected


def test_never_returns(models: Models) -> None:
    assert infer(models, 'static void f(void)\n{\n\tpanic("x");\n}\n', "f").never_returns
    assert infer(models, "static void __noreturn f(void)\n{\n\twork();\n}\n", "f").never_returns
    assert not infer(models, 'static void f(int n)\n{\n\tif (n)\n\t\tpanic("x");\n}\n', "f").never_returns


def test_classes_of_the_result(models: Models) -> None:
    source = "static int f(struct device_node *np)\n{\n\tof_node_put(np);\n\treturn np->n ? -EINVAL : 0;\n}\n"
    assert infer(models, source, "f").result == NEG | ZERO


# ------------------------------------------------------------ names and states


def test_models_come_before_bodies(models: Models) -> None:
    found = infer(models, "void kfree(const void *p)\n{\n\tkeep(p);\n}\n", "kfree")
    assert found.origin == "model"


def test_an_alias_is_what_it_stands_for(models: Models) -> None:
    found = infer(models, "#define box_put of_node_put\nvoid f(void)\n{\n}\n", "box_put")
    assert effects(found) == [("release", "of_node", Place("arg", 0), 7)]
    assert found.name == "box_put"


def test_a_macro_of_a_header_is_read_like_a_function(models: Models) -> None:
    files = {
        "include/linux/box.h": "#define drop_it(b, ...) do { note(1, ##__VA_ARGS__); of_node_put(b); } while (0)\n"
        "#define put_it(np) of_node_put(np)\n",
        FILE: "#include <linux/box.h>\n",
    }
    callees = TreeCallees(models, TreeIndex(MemoryStore(files)))
    found = callees.summary("put_it", FILE)
    assert found is not None
    assert effects(found) == [("release", "of_node", Place("arg", 0), 7)]
    assert callees.summary("drop_it", FILE) is not None


def test_an_unknown_name(models: Models) -> None:
    assert TreeCallees(models, TreeIndex(MemoryStore({FILE: ""}))).summary("nowhere", FILE) is None


WRAPPER = "void outer(struct device_node *np)\n{\n\tinner(np);\n}\n"
INNER = "void inner(struct device_node *np)\n{\n\t%s(np);\n}\n"


def test_the_overlay_changes_what_unchanged_callers_do(models: Models) -> None:
    base = TreeCallees(models, TreeIndex(MemoryStore({"lib/o.c": WRAPPER, "lib/i.c": INNER % "of_node_get"})))
    after = base.with_overlay({"lib/i.c": (INNER % "of_node_put").encode()})
    before, now = base.summary("outer", FILE), after.summary("outer", FILE)
    assert before is not None
    assert now is not None
    assert [effect.action for effect in before.effects] == ["acquire"]
    assert [effect.action for effect in now.effects] == ["release"]


def test_what_is_remembered_is_what_was_inferred(models: Models) -> None:
    store = MemoryStore({"lib/o.c": WRAPPER, "lib/i.c": INNER % "of_node_put"})
    first = TreeCallees(models, TreeIndex(store), "digest").summary("outer", FILE)
    assert {kind for kind, _ in store.memory} == {"flow", "summary", "defined"}
    assert TreeCallees(models, TreeIndex(store), "digest").summary("outer", FILE) == first
    store.memory = dict.fromkeys(store.memory, "[1, damaged")
    assert TreeCallees(models, TreeIndex(store), "digest").summary("outer", FILE) == first


def test_summaries_survive_as_text() -> None:
    place, key = Place("arg", 1, True, "a.b"), Place("result")
    effect = Effect("release", "x", place, 5, True, False, True, "rcu", key, frozenset("ab"))
    summary = Summary("f", (effect,), ("borrow", "take"), "borrow", 3, 1, True, "arg1", "body", "a.c:1")
    assert decode_summary(encode_summary(summary)) == summary
    assert decode_summary(encode_summary(None)) is None


TWO_LOOKUPS = """
static struct lamp *find_locked(struct lantern *l)
{
	mutex_lock(&l->lock);
	if (l->lamp)
		return l->lamp;
	mutex_unlock(&l->lock);
	return NULL;
}
struct lamp *find_or_load(struct lantern *l)
{
	struct lamp *lamp = find_locked(l);
	return load_and_try(lamp, l->name);
}
"""


def test_a_lock_that_depends_on_another_result_is_not_told(models: Models) -> None:
    effects_of = [("acquire", "mutex", Place("arg", 0, path="lock"), NEG | POS)]
    assert effects(infer(models, TWO_LOOKUPS, "find_locked")) == effects_of
    assert effects(infer(models, TWO_LOOKUPS, "find_or_load")) == []


COUNTED_RESULT = """
struct lamp *lamp_of(struct lantern *l)
{
	struct lamp *lamp = l->lamp;

	if (lamp && !refcount_inc_not_zero(&lamp->refs))
		lamp = NULL;
	return lamp;
}
void lamp_shared(struct lamp *lamp)
{
	refcount_inc(&lamp->refs);
}
"""


def test_a_count_goes_with_the_result_and_is_no_debt_of_who_only_adds_one(models: Models) -> None:
    assert effects(infer(models, COUNTED_RESULT, "lamp_of")) == [("acquire", "refcount", Place("result"), NEG | POS)]
    assert effects(infer(models, COUNTED_RESULT, "lamp_shared")) == []


SHAPES = """
int skb_lose_datagram(struct sock *sk, struct sk_buff *skb)
{
	int err = lantern_unlink(sk, skb);

	kfree_skb(skb);
	return err;
}
int skb_measure(struct sk_buff *skb)
{
	return skb->len;
}
"""


def test_a_body_that_frees_is_believed_where_only_a_shape_of_names_speaks(models: Models) -> None:
    lost = infer(models, SHAPES, "skb_lose_datagram")
    assert effects(lost) == [("release", "skb", Place("arg", 1), ANY)]
    assert (lost.origin, lost.rest) == ("pattern", "borrow")
    assert effects(infer(models, SHAPES, "skb_measure")) == []


ALWAYS_WELL = """
static int packet_init(void)
{
	dev_add_pack(&packet_type);
	return 0;
}
static void packet_start(void)
{
	dev_add_pack(&packet_type);
}
"""


def test_what_always_returns_0_takes_on_success_only(models: Models) -> None:
    taken = Place("global", path="packet_type")
    assert effects(infer(models, ALWAYS_WELL, "packet_init")) == [("acquire", "dev_pack", taken, ZERO)]
    assert effects(infer(models, ALWAYS_WELL, "packet_start")) == [("acquire", "dev_pack", taken, ANY)]


# --------------------------------------------------- what an argument leads to

HANGS = """
static int hang(struct box *b, struct box **p)
{
\tif (b->full) {
\t\tkfree(*p);
\t\treturn -EBUSY;
\t}
\tif (b->n) {
\t\tkfree(*p);
\t\treturn 0;
\t}
\tlink(b, p);
\treturn 0;
}
static int swap(struct box *b, struct box **p)
{
\tif (b->full)
\t\treturn -EBUSY;
\tkfree(*p);
\treturn 0;
}
static void clear(struct box *b)
{
\tif (b->n)
\t\tkfree(b->next);
}
"""


def test_content_that_the_same_result_ends_and_keeps_is_taken(models: Models) -> None:
    found = effects(infer(models, HANGS, "hang"))
    assert ("take", "kmalloc", Place("arg", 1, True), ANY) in found
    assert ("release", "kmalloc", Place("arg", 1, True), NEG) in found


def test_content_that_only_success_ends_stays_after_a_failure(models: Models) -> None:
    assert effects(infer(models, HANGS, "swap")) == [("release", "kmalloc", Place("arg", 1, True), ZERO)]


def test_a_field_that_some_path_frees_is_taken(models: Models) -> None:
    assert effects(infer(models, HANGS, "clear")) == [("take", "kmalloc", Place("arg", 0, path="next"), ANY)]
