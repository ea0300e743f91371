"""Static keys over several files: other ways of release, callers, exports, patches."""

from small_tree import changed, standing_in

HEADER = """
DECLARE_STATIC_KEY_FALSE(tunnel_gro_key);
"""

CORE = """
DEFINE_STATIC_KEY_FALSE(tunnel_gro_key);
EXPORT_SYMBOL_GPL(tunnel_gro_key);

void tunnel_setup(struct tunnel *t, struct tunnel_cfg *cfg)
{
	t->gro = cfg->gro;
	if (t->gro)
		static_branch_inc(&tunnel_gro_key);
}
EXPORT_SYMBOL_GPL(tunnel_setup);

void tunnel_release(struct tunnel *t)
{
	if (t->gro)
		static_branch_dec(&tunnel_gro_key);
	tunnel_shut(t);
}
EXPORT_SYMBOL_GPL(tunnel_release);
"""

BARE = """
void tunnel_setup(struct tunnel *t, struct tunnel_cfg *cfg)
{
	t->gro = cfg->gro;
}
EXPORT_SYMBOL_GPL(tunnel_setup);

void tunnel_release(struct tunnel *t)
{
	tunnel_shut(t);
}
EXPORT_SYMBOL_GPL(tunnel_release);
"""

GOOD_USER = """
int wisp_open(struct wisp *w)
{
	struct tunnel_cfg cfg = { .gro = wisp_gro };

	tunnel_setup(w->t, &cfg);
	return 0;
}

void wisp_close(struct wisp *w)
{
	tunnel_release(w->t);
}
"""

OTHER_USER = GOOD_USER.replace("wisp", "mote").replace("tunnel_release(w->t)", "tunnel_shut(w->t)")
PLAIN_USER = OTHER_USER.replace("mote", "dust").replace("struct tunnel_cfg cfg = { .gro = dust_gro };", "")


def rules(findings: list) -> list[str]:
    return [finding.rule for finding in findings]


def test_all_users_release_through_the_pair() -> None:
    tree = {"net/tunnel.c": BARE, "net/wisp.c": GOOD_USER, "net/dust.c": PLAIN_USER}
    assert changed(tree, {"net/tunnel.c": CORE}) == []


def test_a_user_that_releases_in_another_way() -> None:
    tree = {"net/tunnel.c": BARE, "net/wisp.c": GOOD_USER, "net/mote.c": OTHER_USER}
    (found,) = changed(tree, {"net/tunnel.c": CORE})
    assert (found.rule, found.function, found.subject) == ("KEY001", "tunnel_setup", "tunnel_gro_key")
    assert any(step.file == "net/mote.c" for step in found.trace)


def test_decrement_taken_away() -> None:
    after = CORE.replace("	if (t->gro)\n		static_branch_dec(&tunnel_gro_key);\n", "")
    found = changed({"net/tunnel.c": CORE}, {"net/tunnel.c": after})
    assert ("KEY001", "tunnel_release") in {(f.rule, f.function) for f in found}


def test_whole_key_taken_away() -> None:
    assert changed({"net/tunnel.c": CORE}, {"net/tunnel.c": BARE}) == []


def test_what_was_there_before_is_not_told() -> None:
    broken = CORE.replace("	if (t->gro)\n		static_branch_dec(&tunnel_gro_key);\n", "")
    after = broken.replace("tunnel_shut(t);", "tunnel_shut(t);\n	tunnel_log(t);")
    assert changed({"net/tunnel.c": broken}, {"net/tunnel.c": after}) == []


def test_caller_in_another_file_holds_a_lock() -> None:
    user = """
void wisp_add(struct wisp *w)
{
	spin_lock(&w->lock);
	tunnel_setup(w->t, w->cfg);
	spin_unlock(&w->lock);
}

void wisp_del(struct wisp *w)
{
	tunnel_release(w->t);
}
"""
    found = changed({"net/tunnel.c": BARE, "net/wisp.c": user}, {"net/tunnel.c": CORE})
    (sleeps,) = [f for f in found if f.rule == "KEY004"]
    assert sleeps.function == "tunnel_setup"
    assert [step.file for step in sleeps.trace] == ["net/wisp.c", "net/wisp.c", "net/tunnel.c"]


def test_module_uses_a_key_that_is_not_exported() -> None:
    core = "DEFINE_STATIC_KEY_FALSE(core_glow_key);\n"
    module = """
static int __init wisp_init(void)
{
	static_branch_enable(&core_glow_key);
	return 0;
}
module_init(wisp_init);
MODULE_LICENSE("GPL");
"""
    tree = {"kernel/core.c": core, "drivers/wisp/main.c": module}
    assert rules(standing_in(tree)) == ["KEY005"]
    exported = {**tree, "kernel/core.c": core + "EXPORT_SYMBOL_GPL(core_glow_key);\n"}
    assert standing_in(exported) == []


def test_series_that_defines_a_key_must_undo_it_without_a_tree() -> None:
    one_sided = CORE.replace("	if (t->gro)\n		static_branch_dec(&tunnel_gro_key);\n", "")
    (found,) = changed({}, {"net/tunnel.c": one_sided})
    assert (found.rule, found.function) == ("KEY001", "tunnel_setup")
    assert changed({}, {"net/tunnel.c": CORE}) == []
