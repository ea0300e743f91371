"""RCU-protected pointers: values to compare, sections that end, loads with none, gets that can fail."""

from checker_samples import Told, findings, told


def body(text: str, arguments: str = "struct x *x") -> str:
    return f"int f({arguments})\n{{\n{text}\n}}\n"


def rules(text: str, arguments: str = "struct x *x") -> list[str]:
    return [t.rule for t in told(body(text, arguments))]


def test_access_pointer_on_one_of_two_ways() -> None:
    code = body("""	struct y *y;
	int n;

	rcu_read_lock();
	if (x->old)
		y = rcu_access_pointer(x->a);
	else
		y = rcu_dereference(x->b);
	n = y->n;
	rcu_read_unlock();
	return n;""")
    assert told(code) == [Told("RCU003", 11, "y")]


def test_access_pointer_in_a_loop_is_told_once() -> None:
    code = body("""	struct y *y;
	int n = 0;

	rcu_read_lock();
	for (y = rcu_dereference(x->y); y; y = rcu_access_pointer(y->next))
		n += y->n;
	rcu_read_unlock();
	return n;""")
    assert [t.rule for t in told(code)] == ["RCU003"]


def test_access_pointer_then_a_real_load() -> None:
    assert not rules("""	struct y *y;

	if (!rcu_access_pointer(x->y))
		return 0;
	y = rcu_dereference_protected(x->y, lockdep_is_held(&x->lock));
	return y->n;""")


AFTER = """	struct y *y;
	int n = 0;

{before}	rcu_read_lock();
	y = rcu_dereference(x->y);
{inside}	rcu_read_unlock();
	if (y)
		{use};
{after}	return n;"""


def after(before: str = "", inside: str = "", use: str = "n = y->n", end: str = "") -> list[str]:
    return [rule for rule in rules(AFTER.format(before=before, inside=inside, use=use, after=end)) if rule == "RCU002"]


def test_followed_after_the_section() -> None:
    assert after() == ["RCU002"]
    assert after(use="n = y_size(y)") == ["RCU002"]


def test_value_only_after_the_section() -> None:
    assert not after(use="n = y == x->cached")
    assert not after(use='pr_debug("%p", y)')
    assert not after(use="kfree(y)")


def test_writers_lock_around_the_section() -> None:
    assert not after(before="\tmutex_lock(&x->lock);\n", end="\tmutex_unlock(&x->lock);\n")


def test_lock_taken_after_the_section_does_not_help() -> None:
    assert after(use="{ mutex_lock(&x->lock); n = y->n; mutex_unlock(&x->lock); }") == ["RCU002"]


def test_reference_by_a_call_unknown_but_for_its_name() -> None:
    assert not after(inside="\tif (y)\n\t\ty_hold(y);\n")
    assert not after(inside="\tx_get(x);\n")


def test_callers_section_still_open() -> None:
    code = body(AFTER.format(before="", inside="", use="n = y->n", after=""))
    assert not findings(code, held=frozenset(("rcu",)))


def test_section_opened_after_the_load() -> None:
    code = body("""	struct y *y = rcu_dereference(x->y);
	int n;

	rcu_read_lock();
	n = y->n;
	rcu_read_unlock();
	return n;""")
    assert told(code) == [Told("RCU005", 3, "x->y")]
    assert not findings(code, held=frozenset(("rcu_bh",)))


def test_load_with_no_sign_of_its_callers() -> None:
    assert not rules("	return rcu_dereference(x->y)->n;")


def test_unconditional_get_under_a_lock() -> None:
    text = """	struct y *y;

	{lock}rcu_read_lock();
	y = rcu_dereference(x->y);
	kref_get(&y->kref);
	rcu_read_unlock();
	{unlock}y_use(x, y);
	return 0;"""
    assert "REF005" in rules(text.format(lock="", unlock=""))
    assert "REF005" not in rules(text.format(lock="spin_lock(&x->lock);", unlock="spin_unlock(&x->lock);"))
