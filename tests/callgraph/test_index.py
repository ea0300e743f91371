from memory_store import MemoryStore, index_of

from patchlint.callgraph import TreeIndex, choose, include_paths, world
from patchlint.callgraph.scan import Definition


def sites(index: TreeIndex, name: str, file: str | None = None) -> list[tuple[str, int, str]]:
    return [(site.file, site.line, site.function) for site in index.callers(name, file)]


def test_callers_over_files() -> None:
    index = index_of(
        net_a_c="int drop(void)\n{\n}\nvoid user(void)\n{\n\tdrop();\n}\n",
        net_b_c="int drop(void);\nvoid other(void)\n{\n\tint x = 1 + drop();\n}\n",
    )
    assert sites(index, "drop") == [("net/a.c", 6, "user"), ("net/b.c", 4, "other")]


def test_a_static_function_is_called_in_its_file_only() -> None:
    static = "static void drop(void)\n{\n}\nvoid user_%s(void)\n{\n\tdrop();\n}\n"
    index = index_of(net_a_c=static % "a", net_b_c=static % "b")
    assert sites(index, "drop", "net/a.c") == [("net/a.c", 6, "user_a")]


def test_files_with_a_static_one_of_their_own_do_not_call_the_global_one() -> None:
    index = index_of(
        net_a_c="void drop(void)\n{\n}\n",
        net_b_c="static void drop(void)\n{\n}\nvoid own(void)\n{\n\tdrop();\n}\n",
        net_c_c="void far(void)\n{\n\tdrop();\n}\n",
    )
    assert sites(index, "drop", "net/a.c") == [("net/c.c", 3, "far")]


def test_callees_in_order() -> None:
    index = index_of(net_a_c="void f(void)\n{\n\tif (g(h()))\n\t\tk();\n}\n")
    assert [(site.name, site.line) for site in index.callees("f", "net/a.c")] == [("g", 3), ("h", 3), ("k", 4)]


def test_exported() -> None:
    index = index_of(net_a_c="void f(void)\n{\n}\nEXPORT_SYMBOL_GPL(f);\nvoid g(void)\n{\n}\n")
    assert index.exported("f")
    assert not index.exported("g")


def test_the_overlay_stands_before_the_tree() -> None:
    plain = index_of(
        net_a_c="void f(void)\n{\n\tg();\n}\n", net_b_c="void g(void)\n{\n}\n", net_c_c="void h(void)\n{\n\tg();\n}\n"
    )
    over = plain.with_overlay({"net/a.c": b"void f(void)\n{\n}\n", "net/b.c": None, "net/d.c": b"int g(int x)\n{\n}\n"})
    assert sites(over, "g") == [("net/c.c", 3, "h")]
    assert [found.file for found in over.definitions("g")] == ["net/d.c"]
    assert not over.has("net/b.c")
    assert over.read("net/b.c") is None
    assert [found.file for found in plain.definitions("g")] == ["net/b.c"]


def test_an_overlay_of_an_overlay_starts_from_the_tree() -> None:
    plain = index_of(net_a_c="void f(void)\n{\n}\n")
    first = plain.with_overlay({"net/a.c": b"void changed(void)\n{\n}\n"})
    second = first.with_overlay({"net/b.c": b"void g(void)\n{\n}\n"})
    assert [found.file for found in second.definitions("f")] == ["net/a.c"]
    assert second.definitions("changed") == ()


def test_its_own_definition_comes_first() -> None:
    index = index_of(
        net_a_c="static void f(void)\n{\n}\n", net_b_c="void f(void)\n{\n}\n", net_c_c="static void f(void)\n{\n}\n"
    )
    assert [found.file for found in index.resolve("f", "net/a.c")] == ["net/a.c"]
    assert [found.file for found in index.resolve("f", "net/z.c")] == ["net/b.c"]


def test_a_stub_in_a_header_gives_way_to_the_function() -> None:
    index = index_of(
        include_linux_box_h="static inline void f(void)\n{\n}\n",
        lib_box_c="#include <linux/box.h>\nvoid f(void)\n{\n\twork();\n}\n",
        net_a_c="#include <linux/box.h>\n",
    )
    assert [found.file for found in index.resolve("f", "net/a.c")] == ["lib/box.c"]


def test_included_headers_come_before_others() -> None:
    inline = "static inline void f(void)\n{\n}\n"
    index = index_of(
        include_linux_one_h=inline,
        include_linux_two_h=inline,
        include_linux_deep_h="#include <linux/two.h>\n",
        net_a_c="#include <linux/deep.h>\n",
        net_local_h=inline,
        net_b_c='#include "local.h"\n',
    )
    assert [found.file for found in index.resolve("f", "net/a.c")] == ["include/linux/two.h"]
    assert [found.file for found in index.resolve("f", "net/b.c")] == ["net/local.h"]
    assert len(index.resolve("f", "net/c.c")) == 3


def define(file: str) -> Definition:
    return Definition("f", file, 1, 2, "function", False, False, 0, 9)


def test_architecture_and_programs_of_their_own() -> None:
    pool = [define(path) for path in ("arch/arm/lib.c", "arch/x86/lib.c", "tools/lib.c", "arch/x86/boot/lib.c")]

    def chosen(from_file: str) -> list[str]:
        return [found.file for found in choose(pool, from_file, lambda _: frozenset())]

    assert chosen("arch/x86/kernel/a.c") == ["arch/x86/lib.c"]
    assert chosen("net/a.c") == ["arch/arm/lib.c", "arch/x86/lib.c"]
    assert chosen("tools/perf/a.c") == ["tools/lib.c"]
    assert chosen("arch/x86/boot/a.c") == ["arch/x86/boot/lib.c"]


def test_where_an_include_leads() -> None:
    assert include_paths("../b.h", "net/ipv4/a.c")[0] == "net/b.h"
    assert "include/linux/x.h" in include_paths("linux/x.h", "net/a.c")
    assert "arch/arm/include/asm/x.h" in include_paths("asm/x.h", "arch/arm/kernel/a.c")
    assert world("net/a.c") == world("include/linux/x.h") == ""


def test_without_a_tree_nothing_is_known() -> None:
    index = TreeIndex()
    assert index.callers("f") == index.definitions("f") == index.callees("f") == ()
    assert not index.exported("f")


def test_a_candidate_that_has_nothing_to_say() -> None:
    store = MemoryStore({"net/a.c": "int x;\n"})
    store.tokens["net/a.c"].add(b"f(")  # as when two words share a CRC
    assert TreeIndex(store).callers("f") == ()
