"""Calls that may sleep: which flags, which contexts, who holds what."""

import pytest
from checker_samples import findings, told

from patchlint.model import CONFIDENCES

UNDER_LOCK = """void f(struct x *x, gfp_t gfp)
{{
	spin_lock(&x->lock);
	x->p = kmalloc(8, {flags});
	spin_unlock(&x->lock);
}}
"""


@pytest.mark.parametrize(
    ("flags", "sleeps"),
    [
        ("GFP_KERNEL", True),
        ("GFP_KERNEL | __GFP_ZERO", True),
        ("__GFP_NOWARN | GFP_NOFS", True),
        ("GFP_ATOMIC", False),
        ("GFP_NOWAIT | __GFP_NOWARN", False),
        ("gfp", False),
        ("gfp | __GFP_ZERO", False),
        ("GFP_KERNEL & ~__GFP_DIRECT_RECLAIM", False),
        ("x->gfp", False),
    ],
)
def test_flags(flags: str, sleeps: bool) -> None:
    assert [t.rule for t in told(UNDER_LOCK.format(flags=flags))] == ["ATM001"] * sleeps


def test_flags_in_a_variable() -> None:
    code = """void f(struct x *x)
{
	gfp_t how = GFP_KERNEL;

	rcu_read_lock();
	x->p = kmalloc(8, how);
	rcu_read_unlock();
}
"""
    assert [(t.rule, t.line) for t in told(code)] == [("RCU004", 6)]


def test_flags_given_to_an_unknown_callee() -> None:
    found = findings(UNDER_LOCK.replace("kmalloc(8", "make_it(x").format(flags="GFP_KERNEL"))
    assert [(f.rule, f.confidence) for f in found] == [("ATM001", "medium")]


def test_constants_that_are_no_flags() -> None:
    assert not told(UNDER_LOCK.replace("kmalloc(8", "make_it(x").format(flags="MAX_ORDER"))


def test_one_finding_for_two_contexts() -> None:
    code = """void f(struct x *x)
{
	rcu_read_lock();
	spin_lock(&x->lock);
	msleep(1);
	spin_unlock(&x->lock);
	rcu_read_unlock();
}
"""
    assert [(t.rule, t.line) for t in told(code)] == [("ATM001", 5)]


def test_srcu_readers_may_sleep() -> None:
    code = """void f(struct x *x)
{
	int idx = srcu_read_lock(&x->srcu);

	msleep(1);
	srcu_read_unlock(&x->srcu, idx);
}
"""
    assert not told(code)


def test_user_access_with_page_faults_off() -> None:
    code = """int f(struct x *x, void __user *to)
{
	int left;

	spin_lock(&x->lock);
	pagefault_disable();
	left = copy_to_user(to, x->p, 8);
	pagefault_enable();
	spin_unlock(&x->lock);
	return left;
}
"""
    assert not told(code)


CALLED = "void f(struct x *x)\n{\n\tmsleep(1);\n}\n"


def test_context_of_all_callers() -> None:
    found = findings(CALLED, held=frozenset(("rcu",)))
    assert [(f.rule, f.confidence) for f in found] == [("RCU004", "medium")]
    assert "always called" in found[0].message


def test_context_of_callers_that_the_function_leaves() -> None:
    code = "void f(struct x *x)\n{\n\trcu_read_unlock();\n\tmsleep(1);\n\trcu_read_lock();\n}\n"
    assert not [f for f in findings(code, held=frozenset(("rcu",))) if f.rule == "RCU004"]


def test_callers_that_start_the_kernel() -> None:
    assert not findings(CALLED.replace("void f", "void __init f"), held=frozenset(("local_irq",)))


def test_trace_passes_the_lock_and_the_call() -> None:
    found = findings(UNDER_LOCK.format(flags="GFP_KERNEL"))[0]
    assert [s.line for s in found.trace] == [3, 4]
    assert found.confidence == CONFIDENCES[-1]


def test_wait_that_drops_the_lock() -> None:
    code = """void f(struct x *x)
{
	spin_lock_irq(&x->lock);
	wait_event_lock_irq(x->queue, x->done, x->lock);
	spin_unlock_irq(&x->lock);
}
"""
    assert not told(code)
