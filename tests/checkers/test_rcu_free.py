"""Unlink, wait, free: in this order."""

import pytest
from checker_samples import told


def faults(text: str) -> list[tuple[str, int]]:
    code = f"void f(struct x *x, struct y *y)\n{{\n{text}\n}}\n"
    return [(t.rule, t.line) for t in told(code) if t.rule == "RCU008"]


@pytest.mark.parametrize(
    "wait", ["synchronize_rcu();", "synchronize_net();", "rcu_barrier();", "x_synchronize(x);"]
)
def test_any_wait_will_do(wait: str) -> None:
    assert not faults(f"\tlist_del_rcu(&y->node);\n\t{wait}\n\tkfree(y);")


def test_wait_on_one_way_only() -> None:
    assert faults("\thlist_del_rcu(&y->node);\n\tif (x->slow)\n\t\tsynchronize_rcu();\n\tkfree(y);") == [("RCU008", 6)]


def test_wait_before_the_unlinking() -> None:
    assert faults("\tsynchronize_rcu();\n\tlist_del_rcu(&y->node);\n\tkfree(y);") == [("RCU008", 5)]


def test_another_object() -> None:
    assert not faults("\tlist_del_rcu(&y->node);\n\tkfree(x);")
    assert not faults("\tlist_del_rcu(&y->node);\n\ty = x->spare;\n\tkfree(y);")


def test_each_round_has_its_own_element() -> None:
    loop = "\tstruct y *next;\n\n\tlist_for_each_entry_safe(y, next, &x->ys, node) {{\n{body}\t}}"
    assert not faults(loop.format(body="\t\tlist_del_rcu(&y->node);\n\t\tkfree_rcu(y, rcu);\n"))
    assert faults(loop.format(body="\t\tlist_del_rcu(&y->node);\n\t\tkfree(y);\n")) == [("RCU008", 7)]


def test_replaced_pointer() -> None:
    load = "\tstruct z *old = rcu_dereference_protected(x->z, 1);\n\n"
    text = load + "\trcu_assign_pointer(x->z, {new});\n\tkfree({freed});"
    assert faults(text.format(new="NULL", freed="old")) == [("RCU008", 6)]
    assert not faults(text.format(new="old", freed="y"))


def test_handed_over_while_it_can_be_found() -> None:
    assert faults("\tkfree_rcu(y, rcu);\n\tlist_del_rcu(&y->node);") == [("RCU008", 4)]


def test_callback_of_the_grace_period() -> None:
    code = "void f(struct rcu_head *head)\n{\n\tlist_del_rcu(&head->node);\n\tkfree(head);\n}\n"
    assert not [t for t in told(code) if t.rule == "RCU008"]


def test_own_release_but_no_table_of_operations() -> None:
    assert faults("\tlist_del_rcu(&y->node);\n\ty->release(y);") == [("RCU008", 4)]
    assert not faults("\tlist_del_rcu(&y->node);\n\ty->ops->release(y);")


MODULE = """static void gone(struct rcu_head *head)
{
	kfree(head);
}

static void drop(struct y *y)
{
	call_rcu(&y->rcu, gone);
}

static void __exit y_exit(void)
{
	y_unregister();
%s}
module_exit(y_exit);
"""


def test_module_that_does_not_wait_for_its_callbacks() -> None:
    assert [(t.rule, t.line) for t in told(MODULE % "")] == [("RCU008", 11)]
    assert not told(MODULE % "\trcu_barrier();\n")
    assert not told((MODULE % "").replace("module_exit(y_exit);\n", ""))


INODES = """static struct inode *y_alloc_inode(struct super_block *sb)
{
	return alloc_inode_sb(sb, y_inodes, GFP_KERNEL);
}

static const struct super_operations y_ops = {
	.free_inode = y_free_inode,
};

static void y_lists_end(void)
{
	kmem_cache_destroy(y_lists);
}

static int __init y_init(void)
{
	kmem_cache_destroy(y_inodes);
	return -ENOMEM;
}

static void y_end(void)
{
%s	kmem_cache_destroy(y_inodes);
}
"""


def test_cache_of_inodes_that_the_vfs_frees_after_a_grace_period() -> None:
    assert [(t.rule, t.line) for t in told(INODES % "")] == [("RCU008", 21)]
    assert not told(INODES % "\trcu_barrier();\n")
    assert not told((INODES % "").replace(".free_inode", ".drop_inode"))
