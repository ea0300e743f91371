"""How sure a leak is in a file as it stands."""

from checker_samples import findings


def sure(text: str) -> list[str]:
    code = f"""int f(struct lamp *lamp, int mode)
{{
	struct device_node *np = of_find_node_by_name(NULL, "lamp");
	int err;

	if (!np)
		return -ENODEV;
{text}
	of_node_put(np);
	return 0;
}}
"""
    return [one.confidence for one in findings(code, mode="tree")]


def test_what_stays_in_hand_is_sure() -> None:
    assert sure("\tif (mode < 0)\n\t\treturn -EINVAL;") == ["high"]


def test_what_was_put_into_a_structure_on_another_path_is_less_sure() -> None:
    kept = "\tif (mode == 7) {\n\t\tlamp->np = np;\n\t\treturn 0;\n\t}\n"
    assert sure(kept + "\tif (mode < 0)\n\t\treturn -EINVAL;") == ["medium"]


def test_a_path_of_many_decisions_is_less_sure() -> None:
    asked = "".join(f"\tif (lamp->part[{n}] > {n})\n\t\terr = lamp_part(lamp, {n});\n" for n in range(7))
    assert sure(asked + "\tif (mode < 0)\n\t\treturn -EINVAL;") == ["medium"]


def test_what_no_path_ends_is_less_sure() -> None:
    code = """int f(struct lamp *lamp)
{
	struct device_node *np = of_find_node_by_name(NULL, "lamp");

	if (!np)
		return -ENODEV;
	return of_property_read_bool(np, "on") ? 0 : -EINVAL;
}
"""
    assert "high" not in [one.confidence for one in findings(code, mode="tree")]


def locked(between: str) -> list[str]:
    code = f"""int f(struct lamp *lamp)
{{
	mutex_lock(&lamp->lock);
	{between}
	if (lamp->dark)
		return -EIO;
	mutex_unlock(&lamp->lock);
	return 0;
}}
"""
    return [one.confidence for one in findings(code, mode="tree")]


def test_a_lock_whose_owner_a_callee_was_given_is_less_sure() -> None:
    assert locked("lamp->turns++;") == ["high"]
    assert locked("lamp_dim(lamp, 5);") == ["medium"]


def test_a_structure_by_value_without_its_pointer_holds_nothing() -> None:
    code = """int f(int fd)
{
	struct fd f = fdget(fd);
	int err = -EINVAL;

	if (%s)
		return err;
	err = lamp_write(f.file);
	fdput(f);
	return err;
}
"""
    assert not findings(code % "f.file == NULL", mode="tree")
    assert not findings(code % "!f.file", mode="tree")


def test_what_a_last_call_may_answer_is_less_sure() -> None:
    code = """int f(struct lamp *lamp)
{
	int err = clk_prepare_enable(lamp->clk);

	if (err)
		return err;
	err = lamp_dim(lamp->level);
	if (err) {
		clk_disable_unprepare(lamp->clk);
		return err;
	}
	%s
}
"""
    asked = "err = lamp_glow(lamp->level);\n\tif (err)\n\t\treturn err;\n\treturn 0;"
    assert [one.confidence for one in findings(code % asked, mode="tree")] == ["high"]
    assert "high" not in [one.confidence for one in findings(code % "return lamp_glow(lamp->level);", mode="tree")]


def test_a_body_that_never_fails_is_believed() -> None:
    code = """static int lamp_glow(struct lamp *lamp)
{
	return %s;
}

int f(struct lamp *lamp)
{
	int err = clk_prepare_enable(lamp->clk);

	if (err)
		return err;
	if (lamp->dark) {
		clk_disable_unprepare(lamp->clk);
		return -EIO;
	}
	err = lamp_glow(lamp);
	if (err)
		return err;
	return 0;
}
"""
    assert findings(code % "lamp->level", mode="tree", function="f")
    assert not findings(code % "0", mode="tree", function="f")
    assert findings(code % "0", mode="changed", function="f")


def test_a_flag_beside_it_tells_the_owner() -> None:
    code = """int f(struct lamp *lamp)
{
	int err;

	if (!lamp->on) {
		err = clk_prepare_enable(lamp->clk);
		if (err)
			return err;
		%s
	}
	err = lamp_dim(lamp->level);
	if (err < 0)
		return err;
	if (lamp->dark) {
		clk_disable_unprepare(lamp->clk);
		return -EIO;
	}
	return 0;
}
"""
    assert [one.confidence for one in findings(code % "", mode="tree")] == ["medium"]
    assert [one.confidence for one in findings(code % "lamp->on = true;", mode="tree")] in ([], ["low"])


def test_memory_that_success_leaves_is_less_sure() -> None:
    code = """int f(struct lamp *lamp, int mode)
{
	char *wick = kmalloc(16, GFP_KERNEL);

	if (!wick)
		return -ENOMEM;
	if (mode == 7)
		return %s;
	kfree(wick);
	return 0;
}
"""
    assert [one.confidence for one in findings(code % "-EINVAL", mode="tree")] == ["high"]
    assert [one.confidence for one in findings(code % "0", mode="tree")] == ["medium"]


def test_what_a_callee_ends_under_another_name_is_less_sure() -> None:
    code = """static int lamp_set_up(struct lamp *lamp)
{
	int err = lamp_light(lamp->level);

	if (err)
		%s;
	return err;
}

int f(struct lamp *lamp, int port)
{
	int err;

	if (!request_region(port, 8, "lamp"))
		return -EBUSY;
	if (port == 7) {
		release_region(port, 8);
		return -EINVAL;
	}
	err = lamp_set_up(lamp);
	if (err < 0)
		return err;
	return 0;
}
"""
    asked = {call: [one.confidence for one in findings(code % call, mode="tree", function="f")]
             for call in ("lamp_say(lamp->port)", "release_region(lamp->port, 8)")}  # fmt: skip
    assert list(asked.values()) == [["high"], ["medium"]]


def test_a_semaphore_another_may_give_up_on_success() -> None:
    code = """ssize_t f(struct lamp *lamp, size_t count)
{
	if (down_interruptible(&lamp->orders))
		return -EINTR;
	if (lamp->dark)
		return %s;
	up(&lamp->orders);
	return count;
}
"""
    assert [one.confidence for one in findings(code % "-EIO", mode="tree")] == ["high"]
    assert [one.confidence for one in findings(code % "count", mode="tree")] == ["medium"]


def test_nothing_is_in_what_has_no_size() -> None:
    code = """static int lamp_read(struct lamp *lamp, char **text, size_t *size)
{
	char *made = kmalloc(lamp->size, GFP_KERNEL);

	if (!made)
		return -ENOMEM;
	*text = made;
	*size = lamp->size;
	return 0;
}

int f(struct lamp *lamp)
{
	size_t size;
	char *text;
	int err = lamp_read(lamp, &text, &size);

	if (err)
		return err;
	if (%s)
		return -EIO;
	lamp_say(text[0]);
	kfree(text);
	return 0;
}
"""
    assert [one.confidence for one in findings(code % "lamp->dark", mode="tree", function="f")] == ["high"]
    assert [one.confidence for one in findings(code % "!size", mode="tree", function="f")] == ["low"]


def test_the_call_that_gave_nothing_tells_why() -> None:
    code = """int f(struct sock *sk, int size)
{
	struct device_node *np = of_find_node_by_name(NULL, "lamp");
	struct sk_buff *skb;
	int err;

	if (!np)
		return -ENODEV;
	skb = sock_alloc_send_skb(sk, size, 0, &err);
	if (%s)
		return err;
	kfree_skb(skb);
	of_node_put(np);
	return 0;
}
"""
    assert [one.confidence for one in findings(code % "!skb", mode="tree")] == ["high"]


def test_what_earlier_turns_made_stays() -> None:
    code = """int f(struct lamp *lamp)
{
	struct wick *wick;
	int i, err;

	for (i = 0; i < 4; i++) {
		wick = kzalloc(sizeof(*wick), GFP_KERNEL);
		if (!wick)
			return -ENOMEM;
		%s
		err = usb_submit_urb(lamp->urb, GFP_KERNEL);
		if (err) {
			kfree(wick);
			return err;
		}
	}
	return 0;
}
"""
    assert "high" not in [one.confidence for one in findings(code % "lamp->seen++;", mode="tree")]
    asked = "if (lamp->dark)\n\t\t\treturn -EIO;"
    assert "high" in [one.confidence for one in findings(code % asked, mode="tree")]


def test_a_group_of_managed_things_may_go_with_its_device() -> None:
    code = """int f(struct device *dev, struct lamp *lamp)
{
	void *group = devres_open_group(dev, NULL, GFP_KERNEL);

	if (!group)
		return -ENOMEM;
	if (lamp->dark)
		return -EIO;
	devres_release_group(dev, group);
	return 0;
}
"""
    assert "high" not in [one.confidence for one in findings(code, mode="tree")]
