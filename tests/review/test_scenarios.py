"""Who is to blame, told on small trees: the fault, the patch that brings it, the one that repairs it."""

from pathlib import Path

import pytest
from series_trees import make_series, review, verdicts

from patchlint.model import Finding


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHLINT_CACHE_DIR", str(tmp_path / "cache"))


HEAD = """#include <linux/of.h>
#include <linux/module.h>

"""
SOUND = """int widget_count(struct device_node *parent)
{
	struct device_node *np;
	int err;
	u32 n;

	np = of_get_child_by_name(parent, "widgets");
	if (!np)
		return -ENODEV;
	err = of_property_read_u32(np, "count", &n);
	if (err) {
		of_node_put(np);
		return err;
	}
	of_node_put(np);
	return n;
}
"""
LEAKING = SOUND.replace("\tif (err) {\n\t\tof_node_put(np);\n\t\treturn err;\n\t}\n", "\tif (err)\n\t\treturn err;\n")
OTHER = """
int widget_other(int x)
{
	return x + 1;
}
"""
FILE = "drivers/widget/widget.c"


def lines_of(finding: Finding, text: str) -> tuple[str, list[str]]:
    """The source lines of a finding and of its steps."""
    lines = text.split("\n")
    return lines[finding.line - 1].strip(), [lines[step.line - 1].strip() for step in finding.trace]


def test_a_leak_that_a_later_patch_repairs_is_transient(tmp_path: Path) -> None:
    bad = HEAD + LEAKING + OTHER
    moved = HEAD + "#define WIDGETS 4\n\n" + LEAKING + OTHER.replace("+ 1", "+ 2")
    good = moved.replace(LEAKING, SOUND)
    done = review(make_series(tmp_path, {FILE: HEAD + SOUND + OTHER}, [{FILE: bad}, {FILE: moved}, {FILE: good}]))
    assert verdicts(done.findings) == [("REF001", "widget_count", "transient", 1, 3)]
    (found,) = done.findings
    assert found.severity == "note" and len(found.fingerprint) == 16
    place, steps = lines_of(found, bad)
    assert place == "return err;"
    assert steps[0] == 'np = of_get_child_by_name(parent, "widgets");' and "return err;" in steps


def test_a_leak_that_stays_is_blamed_on_its_patch_at_its_line(tmp_path: Path) -> None:
    first = HEAD + SOUND + OTHER.replace("+ 1", "+ 2")
    bad = HEAD + LEAKING + OTHER.replace("+ 1", "+ 2")
    last = bad.replace("struct device_node *np;", "struct device_node *np; /* counted */")
    series = make_series(tmp_path, {FILE: HEAD + SOUND + OTHER}, [{FILE: first}, {FILE: bad}, {FILE: last}])
    done = review(series)
    assert verdicts(done.findings) == [("REF001", "widget_count", "introduced", 2, None)]
    assert lines_of(done.findings[0], bad)[0] == "return err;"
    assert done.base_kind == "blobs"


def test_an_old_fault_in_a_touched_function_is_silent_by_default(tmp_path: Path) -> None:
    touched = LEAKING.replace("u32 n;", "u32 n = 0;")
    series = make_series(tmp_path, {FILE: HEAD + LEAKING + OTHER}, [{FILE: HEAD + touched + OTHER}])
    assert review(series).findings == ()
    assert verdicts(review(series, show_all=True).findings) == [("REF001", "widget_count", "preexisting", 1, None)]


def test_an_old_fault_that_the_series_repairs_says_so_with_all(tmp_path: Path) -> None:
    series = make_series(tmp_path, {FILE: HEAD + LEAKING}, [{FILE: HEAD + SOUND}])
    assert review(series).findings == ()
    assert verdicts(review(series, show_all=True).findings) == [("REF001", "widget_count", "preexisting", 1, 1)]


def test_renaming_or_moving_a_faulty_function_brings_in_nothing(tmp_path: Path) -> None:
    renamed = LEAKING.replace("widget_count", "widget_number")
    series = make_series(
        tmp_path,
        {FILE: HEAD + LEAKING + OTHER, "drivers/widget/more.c": HEAD},
        [{FILE: HEAD + renamed + OTHER}, {FILE: HEAD + OTHER, "drivers/widget/more.c": HEAD + renamed}],
    )
    assert review(series).findings == ()


def test_renaming_the_file_keeps_the_blame(tmp_path: Path) -> None:
    new = "drivers/widget/core.c"
    bad, good = HEAD + LEAKING + OTHER, HEAD + SOUND + OTHER
    series = make_series(tmp_path, {FILE: good}, [{FILE: bad}, {FILE: "", new: bad}, {new: good}])
    assert verdicts(review(series).findings) == [("REF001", "widget_count", "transient", 1, 3)]


def test_a_new_function_is_judged_whole(tmp_path: Path) -> None:
    series = make_series(tmp_path, {FILE: HEAD + OTHER}, [{FILE: HEAD + OTHER + LEAKING}])
    assert verdicts(review(series).findings) == [("REF001", "widget_count", "introduced", 1, None)]


# ------------------------------------------------------------ through callees

HELPER = """static void widget_read(struct device_node *np, u32 *n)
{
	of_property_read_u32(np, "count", n);
}

"""
DROPPING = HELPER.replace('"count", n);\n', '"count", n);\n\tof_node_put(np);\n')
CALLER = """int widget_size(struct device_node *parent)
{
	struct device_node *np = of_get_child_by_name(parent, "widgets");
	u32 n = 0;

	if (!np)
		return -ENODEV;
	widget_read(np, &n);
	of_node_put(np);
	return n;
}
"""


def test_a_helper_that_now_drops_exposes_its_untouched_caller(tmp_path: Path) -> None:
    series = make_series(tmp_path, {FILE: HEAD + HELPER + CALLER}, [{FILE: HEAD + DROPPING + CALLER}])
    assert verdicts(review(series).findings) == [("REF002", "widget_size", "exposed", 1, None)]


def test_a_helper_in_another_file_exposes_its_callers_in_the_tree(tmp_path: Path) -> None:
    shared, shared_drops = HELPER.replace("static ", ""), DROPPING.replace("static ", "")
    user = "drivers/widget/user.c"
    base = {FILE: HEAD + shared, user: HEAD + "void widget_read(struct device_node *np, u32 *n);\n\n" + CALLER}
    done = review(make_series(tmp_path, base, [{FILE: HEAD + shared_drops}]))
    assert verdicts(done.findings) == [("REF002", "widget_size", "exposed", 1, None)]
    assert done.findings[0].file == user


def test_an_exposure_that_is_mended_in_the_caller_is_transient(tmp_path: Path) -> None:
    mended = CALLER.replace("\tof_node_put(np);\n", "")
    series = make_series(
        tmp_path,
        {FILE: HEAD + HELPER + CALLER},
        [{FILE: HEAD + DROPPING + CALLER}, {FILE: HEAD + DROPPING + mended}],
    )
    assert verdicts(review(series).findings) == [("REF002", "widget_size", "transient", 1, 2)]


DEEP = """static struct device_node *widget_lookup(struct device_node *parent)
{
	return of_get_child_by_name(parent, "widgets");
}

static struct device_node *widget_node(struct device_node *parent)
{
	return widget_lookup(parent);
}

int widget_depth(struct device_node *parent)
{
	struct device_node *np = widget_node(parent);
	u32 n = 0;

	if (!np)
		return -ENODEV;
	of_property_read_u32(np, "depth", &n);
	of_node_put(np);
	return n;
}
"""


def test_a_get_two_calls_deep_is_known(tmp_path: Path) -> None:
    put = "\tof_node_put(np);\n"
    leaking = DEEP.replace(put, f"\tif (!n)\n\t\treturn -EINVAL;\n{put}")
    series = make_series(tmp_path, {FILE: HEAD + DEEP}, [{FILE: HEAD + leaking}])
    assert verdicts(review(series).findings) == [("REF001", "widget_depth", "introduced", 1, None)]


CALLBACKS = """struct widget {
	struct device_node *np;
};

struct widget_ops {
	int (*open)(struct widget *w, struct device_node *parent);
	void (*release)(struct widget *w);
};

static int plain_open(struct widget *w, struct device_node *parent)
{
	w->np = of_get_child_by_name(parent, "widgets");
	return w->np ? 0 : -ENODEV;
}

static void plain_release(struct widget *w)
{
	of_node_put(w->np);
}

const struct widget_ops plain_ops = {
	.open = plain_open,
	.release = plain_release,
};
"""


def test_a_put_in_a_callback_of_the_same_table_settles_the_get(tmp_path: Path) -> None:
    series = make_series(tmp_path, {FILE: HEAD}, [{FILE: HEAD + CALLBACKS}])
    assert review(series).findings == ()


# ---------------------------------------------------------- holding together


def test_a_function_used_one_patch_before_it_is_added(tmp_path: Path) -> None:
    uses = OTHER.replace("return x + 1;", "return widget_next(x);")
    adds = "static int widget_next(int x)\n{\n\treturn x + 1;\n}\n" + uses
    done = review(make_series(tmp_path, {FILE: HEAD + OTHER}, [{FILE: HEAD + uses}, {FILE: HEAD + adds}]))
    assert verdicts(done.findings) == [("SER003", "widget_other", "transient", 1, 2)]
    assert done.findings[0].severity != "note"
    assert lines_of(done.findings[0], HEAD + uses)[0] == "return widget_next(x);"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#define WIDGET_MAX 4\n", ""),
        ("enum widget_kind {\n\tWIDGET_MAX,\n};\n", ""),
        ("static int WIDGET_MAX;\n", ""),
        ("static int WIDGET_MAX;\n", "static int WIDGET_LIMIT;\n"),
    ],
)
def test_a_name_removed_while_used(tmp_path: Path, before: str, after: str) -> None:
    uses = OTHER.replace("x + 1", "x + WIDGET_MAX")
    done = review(make_series(tmp_path, {FILE: HEAD + before + uses}, [{FILE: HEAD + after + uses}]))
    assert verdicts(done.findings) == [("SER003", "widget_other", "introduced", 1, None)]


def test_a_field_used_before_it_is_added(tmp_path: Path) -> None:
    struct = "struct widget {\n\tint a;\n};\n"
    uses = "int widget_a(struct widget *w)\n{\n\treturn w->newer;\n}\n"
    wide = struct.replace("\tint a;\n", "\tint a;\n\tint newer;\n")
    series = make_series(tmp_path, {FILE: HEAD + struct}, [{FILE: HEAD + struct + uses}, {FILE: HEAD + wide + uses}])
    assert verdicts(review(series).findings) == [("SER003", "widget_a", "transient", 1, 2)]


def test_a_signature_changed_while_callers_stay(tmp_path: Path) -> None:
    helper = "int widget_add(int a, int b)\n{\n\treturn a + b;\n}\n"
    user = "#include <linux/widget.h>\n\nint widget_use(int a)\n{\n\treturn widget_add(a, 2);\n}\n"
    wide = helper.replace("int b)", "int b, int c)").replace("a + b", "a + b + c")
    base = {FILE: HEAD + helper, "drivers/widget/user.c": user}
    first = {FILE: HEAD + wide}
    fixed = {FILE: HEAD + wide, "drivers/widget/user.c": user.replace("(a, 2)", "(a, 2, 0)")}

    def told(name: str, patches: list[dict[str, str]], **options: object) -> list[tuple[object, ...]]:
        (tmp_path / name).mkdir()
        return verdicts(review(make_series(tmp_path / name, base, patches), **options).findings)

    assert told("between", [first, fixed]) == [("SER003", "widget_use", "transient", 1, 2)]
    assert told("whole", [fixed]) == []
    # What every compiler says at the end of the series is told only to who asks for it.
    assert told("end", [first]) == []
    assert told("asked", [first], min_confidence="low") == [("SER003", "widget_use", "introduced", 1, None)]


def test_a_macro_of_a_header_beside_the_file(tmp_path: Path) -> None:
    header = "#define WIDGET_LOCK(w) mutex_lock(&(w)->lock)\n#define WIDGET_DONE(w) \\\n\tmutex_unlock(&(w)->lock)\n"
    before = (
        '#include "widget.h"\n\nint widget_set(struct widget *w, int a)\n{\n\tWIDGET_LOCK(w);\n\tif (a < 0) {\n'
        "\t\tWIDGET_DONE(w);\n\t\treturn -EINVAL;\n\t}\n\tw->a = a;\n\tWIDGET_DONE(w);\n\treturn 0;\n}\n"
    )
    after = before.replace("\t\tWIDGET_DONE(w);\n\t\treturn", "\t\treturn")
    base = {"drivers/widget/widget.h": header, FILE: before}
    done = review(make_series(tmp_path, base, [{FILE: after}]))
    assert verdicts(done.findings) == [("LCK001", "widget_set", "introduced", 1, None)]
