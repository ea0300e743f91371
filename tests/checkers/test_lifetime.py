"""Uses after the last put and after free."""

from checker_samples import told


def uses(text: str, name: str = "f") -> list[tuple[str, int]]:
    code = f"int {name}(struct x *x, struct sk_buff *skb)\n{{\n{text}\n}}\n"
    return [(t.rule, t.line) for t in told(code) if t.rule in ("REF003", "MEM003")]


def test_consumed_buffer() -> None:
    assert uses("\tnetif_rx(skb);\n\treturn skb->len;") == [("MEM003", 4)]
    assert not uses("\tint len = skb->len;\n\n\tnetif_rx(skb);\n\treturn len;")


def test_passed_on_or_only_told() -> None:
    text = '\tkfree(x);\n\t{use};\n\treturn 0;'
    assert uses(text.format(use="x_show(x)")) == [("MEM003", 4)]
    assert not uses(text.format(use='pr_debug("%p", x)'))


def test_reference_that_was_taken_on_what_the_caller_holds() -> None:
    assert not uses("\tget_device(x->dev);\n\tput_device(x->dev);\n\treturn x->dev->id;")


def test_a_structures_own_reference() -> None:
    text = "\tstruct net_device *dev = x->dev;\n\n\tdev_put(dev);\n{clear}\treturn dev->mtu;"
    assert uses(text.format(clear="\tx->dev = NULL;\n")) == [("REF003", 7)]
    assert not uses(text.format(clear=""))


def test_the_end_of_a_structure() -> None:
    text = "\tdev_put(x->dev);\n\treturn x->dev->mtu;"
    assert uses(text, "x_release") == [("REF003", 4)]
    assert not uses(text, "x_update")


def test_double_drop_is_told_once() -> None:
    code = """int f(struct net *net)
{
	struct net_device *dev = dev_get_by_name(net, "lo");

	if (!dev)
		return 0;
	dev_put(dev);
	dev_put(dev);
	return 0;
}
"""
    assert [t.rule for t in told(code)] == ["REF002"]


NODE = """int f(struct x *x, struct device_node *np)
{
	struct platform_device *pdev = platform_device_alloc("y", 1);

	if (!pdev)
		return -12;
	pdev->dev.of_node = %s;
	x->pdev = pdev;
	return 0;
}
"""


def test_node_given_to_a_device_that_puts_it() -> None:
    assert [(t.rule, t.line) for t in told(NODE % "np")] == [("REF002", 7)]
    assert not told(NODE % "of_node_get(np)")


def test_another_ending_word_on_the_dead() -> None:
    text = "\tstruct kvm *kvm = x->kvm;\n\n\tkvm_put_kvm(kvm);\n\tx->kvm = NULL;\n\tunlock_all_for(kvm);\n\treturn 0;"
    assert uses(text) == [("REF003", 7)]
