"""What a file's teardown functions call, and for whom they speak."""

from patchlint.checkers import other_teardowns, teardowns
from patchlint.checkers.teardown import TornDown, last_word, undone

SOURCE = b"""
static int lamp_probe(struct lamp *l)
{
	lamp_bulb_off(l);
	return 0;
}

static void
lamp_remove(struct lamp *l)
{
	/* lamp_forget(l); */
	bulb_unregister(&l->bulbs[0].dev, "lamp_sold(l)");
	if (l->wall)
		wall_free(l->wall, 0);
	lamp_sync();
}
"""


def test_calls_of_functions_that_tear_down() -> None:
    """Calls with the last word of each argument; no comments, no strings, no other functions."""
    (found,) = teardowns(SOURCE)
    assert found.name == "lamp_remove"
    assert found.calls - {TornDown("if", ("wall",))} == {
        TornDown("bulb_unregister", ("dev", "")), TornDown("wall_free", ("wall", "")), TornDown("lamp_sync", ()),
    }  # fmt: skip
    assert "wall_free" in undone(teardowns(SOURCE))


def test_speaks_for_others_only() -> None:
    """Not for itself or another teardown, nor for who calls or names it."""
    found = teardowns(SOURCE)
    assert other_teardowns(found, "lamp_probe", b"return lamp_light(l);") == found
    assert not other_teardowns(found, "lamp_close", b"lamp_dim(l);")
    assert not other_teardowns(found, "lamp_probe", b"devm_add_action(dev, lamp_remove, l);")


def test_last_words() -> None:
    """The member, else the variable; indices and constants are none."""
    assert [last_word(text) for text in ("&l->led", "l", "l->leds[i]", "to_lamp(d)->x", "3")] == [
        "led", "l", "leds", "x", "",
    ]  # fmt: skip


def test_who_arranges_for_it() -> None:
    """Who names the teardown, or a table that holds it or something that calls it; not who calls it."""
    source = b"""
static void lamp_free(struct lamp *l)
{
	kfree(l);
}

static void lamp_dev_free(struct device *dev)
{
	lamp_free(dev->lamp);
}

static const struct lamp_ops lamp_ops = {
	.free = lamp_dev_free,
};

static int lamp_make(struct lamp *l)
{
	return lamp_add(l, &lamp_ops);
}

static int lamp_start(struct lamp *l)
{
	int err = lamp_make(l);

	if (err)
		lamp_free(l);
	return err;
}
"""
    assert {found.name: found.arranged_by for found in teardowns(source)} == {
        "lamp_free": {"lamp_make"}, "lamp_dev_free": {"lamp_make"},
    }  # fmt: skip
