"""Pointers that the other files of a folder show to be RCU's."""

from callgraph.memory_store import MemoryStore

from patchlint.callgraph import TreeIndex
from patchlint.review.neighbours import Neighbours

HEADER = "struct socket {\n\tstruct bulb __rcu *bulb;\n\tint watt;\n};\n"
USERS = """
void f(struct socket *socket)
{
	rcu_assign_pointer(socket->bulb, NULL);
	use(rcu_dereference(socket->bulb), rcu_dereference(socket->lost));
}
"""
READER = '#include "lamp.h"\n\nint g(struct lamp *lamp)\n{\n\treturn lamp->socket.bulb->watt;\n}\n'


def pointers(header: str = HEADER, reader: str = READER, users: str = "net/lamp/main.c") -> dict[tuple[str, str], int]:
    store = MemoryStore({"net/lamp/lamp.h": header, users: USERS, "net/lamp/show.c": reader})
    for _ in range(2):  # the second asks for what the first one remembered
        found = Neighbours(TreeIndex(store)).facts("net/lamp/show.c", reader.encode()).pointers
    return dict(found)


def test_a_pointer_that_the_folder_reads_under_rcu() -> None:
    assert pointers() == {("socket", "bulb"): 2}


def test_uses_in_another_folder_do_not_count() -> None:
    assert not pointers(users="net/other/main.c")


def test_the_member_must_be_declared_for_rcu() -> None:
    assert not pointers(header=HEADER.replace("__rcu ", ""))


def test_two_members_of_one_name_are_left_alone() -> None:
    assert not pointers(header=HEADER + "struct box {\n\tstruct bulb *bulb;\n};\n")


def test_what_the_file_does_not_read_is_no_fact_of_it() -> None:
    assert not pointers(reader='#include "lamp.h"\n')
