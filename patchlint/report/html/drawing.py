"""The small drawing of a finding's path: a spine from entry to fault, with the ways not taken as stubs."""

from __future__ import annotations

from collections.abc import Sequence

from patchlint.report.flow import PathNode
from patchlint.report.html.element import Markup, joined, tag

SPINE = 20
"""x of the spine."""
GAP = 54
"""Between two nodes, in pixels."""
TOP = 18
WIDTH = 230
LABEL = 44
"""x of the labels."""
LABEL_CHARACTERS = 26


def draw(nodes: Sequence[PathNode], ident: str, title: str) -> Markup:
    """An SVG picture; each node that is a step carries ``data-step``."""
    height = TOP * 2 + GAP * max(0, len(nodes) - 1)
    shapes = [_edge(at, nodes[at]) for at in range(len(nodes) - 1)]
    shapes += [_node(at, node, at == len(nodes) - 1) for at, node in enumerate(nodes)]
    return tag(
        "svg",
        tag("title", title, id=f"{ident}-drawing"),
        *shapes,
        viewBox=f"0 0 {WIDTH} {height}",
        width=WIDTH,
        height=height,
        role="img",
        aria_labelledby=f"{ident}-drawing",
    )


def _edge(at: int, node: PathNode) -> Markup:
    """The way on from a node, with the outcome it was taken for."""
    y = TOP + GAP * at
    line = tag("line", x1=SPINE, y1=y, x2=SPINE, y2=y + GAP, class_="edge")
    taken = tag("text", node.taken, x=SPINE + 6, y=y + GAP // 2 + 8, class_="outcome") if node.taken else Markup()
    return joined([line, taken])


def _node(at: int, node: PathNode, last: bool) -> Markup:
    y = TOP + GAP * at
    mark = str(node.step + 1) if node.step >= 0 else ""
    parts = [
        _stub(y, node) if node.other else Markup(),
        _shape(y, node, last),
        tag("text", mark, x=SPINE, y=y + 4, class_="mark") if mark else Markup(),
        tag("text", _cut(node.label), x=LABEL, y=y + (-4 if node.other else 4), class_="label"),
    ]
    return tag("g", *parts, class_="node", data_step=node.step if node.step >= 0 else None)


def _shape(y: int, node: PathNode, last: bool) -> Markup:
    if node.kind == "branch":
        size = 12
        points = f"{SPINE},{y - size} {SPINE + size},{y} {SPINE},{y + size} {SPINE - size},{y}"
        return tag("polygon", points=points, class_="shape")
    ring = tag("circle", cx=SPINE, cy=y, r=14, class_="ring") if last else Markup()
    return joined([ring, tag("circle", cx=SPINE, cy=y, r=10 if node.step >= 0 else 5, class_="shape")])


def _stub(y: int, node: PathNode) -> Markup:
    """The way that this path does not take."""
    line = tag("path", d=f"M{SPINE + 12},{y} h14 q6,0 6,6 v4", class_="stub")
    return joined([line, tag("text", _cut(node.other), x=SPINE + 38, y=y + 13, class_="other")])


def _cut(text: str) -> str:
    return text if len(text) <= LABEL_CHARACTERS else f"{text[: LABEL_CHARACTERS - 1]}…"
