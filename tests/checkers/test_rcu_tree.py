"""What RCU asks of several files: callbacks of a module, structures made to be freed after a grace period."""

from patchlint.callgraph import TreeIndex
from patchlint.checkers.rcu_rules import check_rcu
from patchlint.checkers.tree_view import Snapshot
from patchlint.host.rulefiles import load_ruleset
from patchlint.review import View

RULESET = load_ruleset()
MAKEFILE = "obj-$(CONFIG_LAMP) += lamp.o\nlamp-y := main.o \\\n\tbulb.o\nobj-m += other.o\n"
BULB = """
void bulb_forget(struct bulb *bulb)
{
	list_del_rcu(&bulb->node);
	call_rcu(&bulb->rcu, bulb_free_rcu);
}
"""
MAIN = """
static void lamp_exit(void)
{
	unregister_lamps();
}
module_exit(lamp_exit);
"""
WAITS = MAIN.replace("unregister_lamps();", "unregister_lamps();\n\trcu_barrier();")


def found_in(main: str, rest: dict[str, str]) -> list[str]:
    """Messages on net/lamp/main.c, in a tree with these other files."""
    path = "net/lamp/main.c"
    sources = {name: text.encode() for name, text in {**rest, path: main}.items()}
    state = {path: (View(path, sources[path]),)}
    view = Snapshot(state, TreeIndex(None, sources), lambda _: None, True, sources.get)
    return [finding.message for finding in check_rcu(None, view, RULESET)]


def module(main: str, **files: str) -> list[str]:
    return found_in(main, {"net/lamp/Makefile": MAKEFILE, **{f"net/lamp/{n}.c": text for n, text in files.items()}})


def test_exit_must_wait_for_callbacks_of_another_file_of_the_module() -> None:
    assert any("net/lamp/bulb.c" in message for message in module(main=MAIN, bulb=BULB))


def test_exit_that_waits_is_right() -> None:
    assert not module(main=WAITS, bulb=BULB)


def test_a_file_of_the_module_may_wait_for_all() -> None:
    assert not module(main=MAIN, bulb=BULB + "void bulb_end(void)\n{\n\trcu_barrier();\n}\n")


def test_callbacks_of_another_module_are_its_own_business() -> None:
    assert not module(main=MAIN, bulb="", other=BULB)


LAMP_H = "struct lamp {\n\tint watt;\n\tstruct rcu_head rcu;\n};\n"
FREE = """
static void lamp_free(struct lamp *lamp)
{
	lamp_dim(lamp);
	kfree(lamp);
}
"""


def freed(text: str, bulb: str = "") -> list[str]:
    return found_in(text, {"include/linux/lamp.h": LAMP_H, "net/lamp/bulb.c": bulb})


def test_an_rcu_head_that_nothing_uses_was_meant_for_this_free() -> None:
    assert any("'lamp' is freed at once" in message for message in freed(FREE))


def test_deferred_free_is_right() -> None:
    assert not freed(FREE.replace("kfree(lamp)", "kfree_rcu(lamp, rcu)"))


def test_the_rcu_head_may_be_used_in_another_file() -> None:
    assert not freed(FREE, bulb="void f(struct lamp *lamp)\n{\n\tcall_rcu(&lamp->rcu, lamp_free_rcu);\n}\n")


def test_waiting_before_the_free_is_right() -> None:
    assert not freed(FREE.replace("lamp_dim(lamp)", "synchronize_rcu()"))


def test_who_knows_the_structure_may_wait_before_it_has_it_freed() -> None:
    waits = "void put_out(struct layer *layer)\n{\n\tlayer->dn = NULL;\n\tsynchronize_rcu();\n\tlayer_put(layer);\n}\n"
    assert not freed(FREE, bulb=f"#include <linux/lamp.h>\n{waits}")
    assert freed(FREE, bulb=waits)


def test_a_lamp_that_never_was_published_is_freed_at_once() -> None:
    text = "void f(void)\n{\n\tstruct lamp *lamp = kzalloc(sizeof(*lamp), GFP_KERNEL);\n\n\tkfree(lamp);\n}\n"
    assert not freed(text)
