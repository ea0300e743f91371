from dataclasses import replace

import pytest
from report_samples import LEAK, REVIEW

from patchlint.model import Finding, Review, Step
from patchlint.report.flow import PathNode, steps_only
from patchlint.report.pathway import MAX_NODES, path_nodes

SOURCE = """\
static int widget_probe(struct device *dev)
{
	struct device_node *np;
	int ret;

	np = of_find_node_by_name(NULL, "widget");
	if (!np)
		return -ENODEV;
	ret = widget_setup(dev);
	if (unlikely(ret))
		return ret;
	of_node_put(np);
	return 0;
}
"""


def review_of(source: str, first: int, *lines: int, function: str = "widget_probe") -> tuple[Review, Finding]:
    trace = tuple(Step(LEAK.file, line, f"step at {line}") for line in lines)
    finding = replace(LEAK, trace=trace, line=lines[-1], function=function, config=())
    numbered = dict(enumerate(source.splitlines(), start=first))
    return replace(REVIEW, excerpts={(LEAK.file, 1): numbered}), finding


def test_branches_between_the_steps_with_the_way_not_taken() -> None:
    assert path_nodes(*review_of(SOURCE, 101, 106, 111)) == (
        PathNode("step", "line 106", 0),
        PathNode("branch", "line 107: np", -1, "yes", "no: line 108"),
        PathNode("branch", "line 110: ret", -1, "yes", "no: line 112"),
        PathNode("step", "line 111", 1),
    )


def test_a_step_on_a_branch_is_one_node() -> None:
    nodes = path_nodes(*review_of(SOURCE, 101, 106, 110, 111))
    assert [(node.kind, node.step) for node in nodes] == [("step", 0), ("branch", -1), ("branch", 1), ("step", 2)]
    assert nodes[2].label == "line 110: ret"


def test_a_remark_beside_the_path_is_not_drawn() -> None:
    nodes = path_nodes(*review_of(SOURCE, 101, 106, 111, 113))
    assert [node.label for node in nodes if node.step >= 0] == ["line 106", "line 111"]


def test_a_loop_is_walked_back() -> None:
    source = "void f(void)\n{\n\twhile (more())\n\t\tif (bad())\n\t\t\tput();\n\tend();\n}\n"
    nodes = path_nodes(*review_of(source, 1, 5, 4, 6, function="f"))
    assert [node.label for node in nodes if node.step >= 0] == ["line 5", "line 4: bad()", "line 6"]


@pytest.mark.parametrize("source", ["", "not C at all {{{", SOURCE.replace("widget_probe", "other"), SOURCE[:60]])
def test_what_cannot_be_read_shows_the_steps(source: str) -> None:
    review, finding = review_of(source, 101, 106, 111)
    assert path_nodes(review, finding) == steps_only(review, finding)


def test_a_path_into_another_file_shows_the_steps() -> None:
    review, finding = review_of(SOURCE, 101, 106, 111)
    finding = replace(finding, trace=(*finding.trace, Step("other.c", 3, "there")))
    assert [node.label for node in path_nodes(review, finding)] == ["line 106", "line 111", "other.c:3"]


def test_many_branches_are_counted() -> None:
    body = "".join(f"\tif (a{n})\n\t\tb();\n" for n in range(100))
    review, finding = review_of(f"void f(void)\n{{\n\tget();\n{body}\tend();\n}}\n", 1, 3, 204, function="f")
    nodes = path_nodes(review, finding)
    assert len(nodes) <= MAX_NODES
    assert nodes[-2].label.endswith("more branches") and nodes[-1].step == 1
