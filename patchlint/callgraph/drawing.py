"""A call graph as DOT or as a self-contained SVG picture."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from patchlint.callgraph.graph import CallGraph, Spot

_BOX_HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 40, 70, 14, 20
_CHAR = 7.3
"""Width of a character of the 12-point monospaced font, in pixels."""


def to_dot(graph: CallGraph) -> str:
    """The graph in Graphviz' language."""
    lines = ["digraph calls {", "  rankdir=LR;", '  node [shape=box, fontname="monospace", fontsize=10];']
    for spot in sorted(graph):
        data = graph.nodes[spot]
        marks = ', style="bold"' if data["seed"] else ""
        marks += ', color="red"' if data["cycle"] else ""
        lines.append(f'  "{_ident(spot)}" [label="{spot.name}\\n{spot.file}:{spot.line}"{marks}];')
    for caller, callee, data in sorted(graph.edges(data=True), key=lambda edge: edge[:2]):
        lines.append(f'  "{_ident(caller)}" -> "{_ident(callee)}" [tooltip="{caller.file}:{data["line"]}"];')
    if graph.graph.get("cut"):
        lines.append('  label="more functions than are drawn";')
    return "\n".join([*lines, "}", ""])


def _ident(spot: Spot) -> str:
    return f"{spot.file}:{spot.line}:{spot.name}"


def to_svg(graph: CallGraph) -> str:
    """The graph as a picture: callers left, callees right, one column for each level."""
    places = _layout(graph)
    width = max((x + w for x, _, w in places.values()), default=200) + _MARGIN
    height = max((y for _, y, _ in places.values()), default=60) + _BOX_HEIGHT + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'font-family="monospace" font-size="12">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#667"/></marker></defs>',
        '<rect width="100%" height="100%" fill="white"/>',
        *_edges(graph, places),
        *_boxes(graph, places),
        "</svg>",
    ]
    return "\n".join([*parts, ""])


def _layout(graph: CallGraph) -> dict[Spot, tuple[float, float, float]]:
    """Left, top and width of each box."""
    columns: dict[int, list[Spot]] = {}
    for spot in sorted(graph):
        data = graph.nodes[spot]
        columns.setdefault(data["level"], []).append(spot)
    places: dict[Spot, tuple[float, float, float]] = {}
    tallest = max((len(column) for column in columns.values()), default=0)
    left = float(_MARGIN)
    for level in sorted(columns):
        column = columns[level]
        width = 16 + _CHAR * max(max(len(spot.name), len(_where(spot))) for spot in column)
        top = _MARGIN + (tallest - len(column)) * (_BOX_HEIGHT + _GAP_Y) / 2
        for row, spot in enumerate(column):
            places[spot] = (left, top + row * (_BOX_HEIGHT + _GAP_Y), width)
        left += width + _GAP_X
    return places


def _where(spot: Spot) -> str:
    return f"{spot.file}:{spot.line}"


def _edges(graph: CallGraph, places: dict[Spot, tuple[float, float, float]]) -> Iterator[str]:
    for caller, callee in sorted(graph.edges):
        (x1, y1, w1), (x2, y2, w2) = places[caller], places[callee]
        half = _BOX_HEIGHT / 2
        if x2 > x1:
            start, end, bend = (x1 + w1, y1 + half), (x2, y2 + half), _GAP_X / 2
            path = f"C{start[0] + bend:.0f},{start[1]:.0f} {end[0] - bend:.0f},{end[1]:.0f}"
        else:
            start, end, bend = (x1 + w1, y1 + half), (x2 + w2, y2 + half), float(_GAP_X)
            path = f"C{start[0] + bend:.0f},{start[1]:.0f} {end[0] + bend:.0f},{end[1]:.0f}"
        yield (
            f'<path d="M{start[0]:.0f},{start[1]:.0f} {path} {end[0]:.0f},{end[1]:.0f}" '
            f'fill="none" stroke="#99a" marker-end="url(#arrow)"/>'
        )


def _boxes(graph: CallGraph, places: dict[Spot, tuple[float, float, float]]) -> Iterator[str]:
    for spot, (x, y, width) in places.items():
        data = graph.nodes[spot]
        stroke = "#c22" if data["cycle"] else "#446"
        fill = "#fff3c4" if data["seed"] else "#f4f5fa"
        yield (
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{_BOX_HEIGHT}" rx="4" '
            f'fill="{fill}" stroke="{stroke}"/>'
            f'<text x="{x + 8:.0f}" y="{y + 16:.0f}" font-weight="bold">{escape(spot.name)}</text>'
            f'<text x="{x + 8:.0f}" y="{y + 32:.0f}" fill="#667">{escape(_where(spot))}</text>'
        )
