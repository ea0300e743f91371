"""The drawn neighbourhood."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from memory_store import index_of

from patchlint.callgraph import TreeIndex
from patchlint.callgraph.drawing import to_dot, to_svg
from patchlint.callgraph.graph import CallGraph, Reach, neighbourhood
from patchlint.cli.main import run

SVG = "{http://www.w3.org/2000/svg}"


def function(name: str, *calls: str) -> str:
    return f"void {name}(void)\n{{\n" + "".join(f"\t{call}();\n" for call in calls) + "}\n"


def tree() -> TreeIndex:
    return index_of(
        net_a_c=function("top", "middle") + function("middle", "leaf", "ping", "unknown"),
        net_b_c=function("leaf") + function("ping", "pong") + function("pong", "ping"),
    )


def names(graph: CallGraph, level: int) -> set[str]:
    return {spot.name for spot, at in graph.nodes(data="level") if at == level}


def test_levels_of_callers_and_callees() -> None:
    graph = neighbourhood(tree(), "middle", "net/a.c", Reach(up=1, down=2))
    assert names(graph, -1) == {"top"}
    assert names(graph, 0) == {"middle"}
    assert names(graph, 1) == {"leaf", "ping"}
    assert names(graph, 2) == {"pong"}
    assert not graph.graph["cut"]


def test_circles_are_marked() -> None:
    graph = neighbourhood(tree(), "middle", "net/a.c", Reach(down=3))
    circle = {spot.name for spot, number in graph.nodes(data="cycle") if number}
    assert circle == {"ping", "pong"}


def test_the_bound_is_told() -> None:
    graph = neighbourhood(tree(), "middle", "net/a.c", Reach(most=2))
    assert len(graph) == 2
    assert graph.graph["cut"]
    assert "more functions" in to_dot(graph)


def test_an_unknown_function_has_no_graph() -> None:
    assert len(neighbourhood(tree(), "nowhere")) == 0


def test_dot_names_every_call() -> None:
    text = to_dot(neighbourhood(tree(), "middle", "net/a.c"))
    assert '"net/a.c:5:middle" -> "net/b.c:1:leaf" [tooltip="net/a.c:7"];' in text
    assert text.startswith("digraph")


def test_svg_has_a_box_for_each_function() -> None:
    graph = neighbourhood(tree(), "middle", "net/a.c", Reach(down=3))
    root = ElementTree.fromstring(to_svg(graph))
    labels = [text.text for text in root.iter(f"{SVG}text")]
    assert {"top", "middle", "leaf", "ping", "pong"} <= set(labels)
    assert len(list(root.iter(f"{SVG}rect"))) == 1 + len(graph)
    assert len([path for path in root.iter(f"{SVG}path") if path.get("marker-end")]) == graph.number_of_edges()


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATCHLINT_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "tree/net/a.c"
    source.parent.mkdir(parents=True)
    source.write_text(function("top", "middle") + function("middle"))
    tree = ["--tree", str(tmp_path / "tree")]
    assert run(["graph", "middle", *tree, "--output", str(tmp_path / "a.svg")]) == 0
    assert ">top<" in (tmp_path / "a.svg").read_text()
    assert run(["graph", "middle", *tree]) == 0
    assert "-> " in capsys.readouterr().out
    assert run(["graph", "nowhere", *tree]) == 2
    assert capsys.readouterr().err == "patchlint: nowhere: no definition in the tree\n"
    assert run(["graph", "middle", *tree, "--output", str(tmp_path / "none/a.svg")]) == 2
    assert "No such file" in capsys.readouterr().err
