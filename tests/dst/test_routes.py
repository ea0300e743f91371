"""Cached routes over several files: families, cookies, helpers, sections."""

from patchlint.callgraph import TreeIndex
from patchlint.checkers.dst_rules import check_dst
from patchlint.checkers.tree_view import Snapshot
from patchlint.host.rulefiles import load_ruleset
from patchlint.model import Finding
from patchlint.review import View

RULESET = load_ruleset()


def snapshot(files: dict[str, str], whole: bool) -> Snapshot:
    index = TreeIndex(None, {path: text.encode() for path, text in files.items()})
    return Snapshot({path: (View(path, text.encode()),) for path, text in files.items()}, index, lambda _: None, whole)


def found_in(text: str, path: str = "net/lamp/main.c", **others: str) -> list[Finding]:
    files = {path: text, **{name.replace("__", "/") + ".c": other for name, other in others.items()}}
    return list(check_dst(None, snapshot(files, True), RULESET))


def brought_by(before: str, after: str, path: str = "net/lamp/main.c") -> list[Finding]:
    return list(check_dst(snapshot({path: before}, True), snapshot({path: after}, True), RULESET))


ZERO = """
struct dst_entry *lamp_route(struct sock *sk)
{
	return __sk_dst_check(sk, 0);
}
"""

WRITER = """
void lamp6_rx_dst_set(struct sock *sk, struct dst_entry *dst)
{
	rcu_assign_pointer(sk->sk_rx_dst, dst);
	sk->sk_rx_dst_cookie = rt6_get_cookie(dst_rt6_info(dst));
}
"""

COOKIE = "	sk->sk_rx_dst_cookie = rt6_get_cookie(dst_rt6_info(dst));\n"

READER = """
void lamp6_early_demux(struct sock *sk, struct sk_buff *skb)
{
	struct dst_entry *dst = rcu_dereference(sk->sk_rx_dst);

	if (dst)
		dst = dst_check(dst, sk->sk_rx_dst_cookie);
	if (dst)
		skb_dst_set_noref(skb, dst);
}
"""


def test_the_family_comes_from_file_and_function() -> None:
    assert [f.rule for f in found_in(ZERO)] == ["DST001"]
    assert found_in(ZERO, "net/ipv4/lamp.c") == []
    assert [f.confidence for f in found_in(ZERO, "net/ipv6/lamp.c")] == ["high"]
    assert found_in(ZERO.replace("lamp_route", "lamp_v4_route")) == []


def test_the_family_comes_from_the_test_before() -> None:
    split = ZERO.replace("	return", "	if (sk->sk_family != AF_INET6)\n		return") + ""
    assert found_in(split.replace("}\n", "	return NULL;\n}\n")) == []


def test_a_check_defined_without_its_cookie() -> None:
    broken = "struct dst_entry *sk_dst_check(struct sock *sk, 0)\n{\n	return lamp(sk, cookie);\n}\n"
    sound = broken.replace("0)", "u32 cookie)")
    assert [(f.rule, f.function) for f in found_in(broken)] == [("DST001", "sk_dst_check")]
    assert found_in(sound) == []


def test_indirect_checks_count() -> None:
    call = "INDIRECT_CALL_1(dst->ops->check, ip6_dst_check, dst, 0)"
    text = f"int lamp6_stale(struct dst_entry *dst)\n{{\n	return {call} == NULL;\n}}\n"
    assert [f.rule for f in found_in(text)] == ["DST001"]


def test_cookie_that_no_file_stores() -> None:
    assert [(f.rule, f.subject) for f in found_in(READER)] == [("DST003", "sk_rx_dst_cookie")]
    assert found_in(READER, net__lamp__writer=WRITER) == []


def test_cookie_dropped_beside_the_route() -> None:
    after = WRITER.replace(COOKIE, "")
    found = brought_by(WRITER + READER, after + READER)
    assert {(f.rule, f.function) for f in found} == {("DST003", "lamp6_rx_dst_set")}


def test_what_was_there_before_is_left_out() -> None:
    assert brought_by(ZERO, ZERO.replace("return", "lamp_log(sk);\n	return")) == []


def test_ipv4_writers_store_no_cookie() -> None:
    v4 = WRITER.replace("lamp6_rx", "lamp_v4_rx").replace(COOKIE, "")
    assert found_in(WRITER + READER + v4) == []


HELPER = """
void skb_%s_noref_sk(struct sk_buff *skb)
{
	skb->sk = lamp_socket;
}
"""

USER = """
void lamp_receive(struct sk_buff *skb)
{
	rcu_read_lock();
	skb_set_noref_sk(skb);
	%srcu_read_unlock();
	lamp_defer(skb);
}
"""


def test_noref_helpers_make_a_pair_only_together() -> None:
    pair = HELPER % "set" + HELPER % "clear"
    assert found_in(HELPER % "set" + USER % "") == []
    assert [f.rule for f in found_in(pair + USER % "")] == ["RCU007"]
    assert found_in(pair + USER % "skb_clear_noref_sk(skb);\n	") == []
