"""The call graph around one function, as a networkx graph. Imported only where one is drawn: networkx loads slowly."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple, TypeAlias

import networkx as nx

from patchlint.callgraph.index import TreeIndex
from patchlint.callgraph.scan import Definition

_MOST_FILES = 60
"""Files searched for the callers of one function."""


class Spot(NamedTuple):
    """A node: one function definition."""

    file: str
    line: int
    name: str


class Reach(NamedTuple):
    """How much is drawn: levels of callers and of callees, and functions in all."""

    up: int = 1
    down: int = 1
    most: int = 150


CallGraph: TypeAlias = "nx.DiGraph[Spot]"
"""Nodes have "level" (negative for callers), "seed" and "cycle"; edges have "line", that of the call."""


def neighbourhood(index: TreeIndex, function: str, file: str | None = None, reach: Reach = Reach()) -> CallGraph:  # noqa: B008
    """Callers and callees of a function, each level by level, up to ``reach.most`` functions.

    Nodes that call each other in a circle have the number of their circle in "cycle" (0: none).  The graph is empty for
    an unknown function; its attribute "cut" tells whether the bound was met.
    """
    graph: CallGraph = nx.DiGraph(cut=False)
    seeds = index.resolve(function, file) if file else index.definitions(function)
    for definition in seeds:
        graph.add_node(_spot(definition), level=0, seed=True, cycle=0)
    _grow_down(graph, index, list(seeds), reach)
    _grow_up(graph, index, list(seeds), reach)
    _mark_cycles(graph)
    return graph


def _spot(definition: Definition) -> Spot:
    return Spot(definition.file, definition.line, definition.name)


def _add(graph: CallGraph, spot: Spot, level: int, reach: Reach) -> bool | None:
    """Whether the node is new; None when there is no room for it."""
    if spot in graph:
        return False
    if len(graph) >= reach.most:
        graph.graph["cut"] = True
        return None
    graph.add_node(spot, level=level, seed=False, cycle=0)
    return True


def _grow_down(graph: CallGraph, index: TreeIndex, seeds: list[Definition], reach: Reach) -> None:
    work = deque((definition, 0) for definition in seeds)
    while work:
        definition, level = work.popleft()
        scan = index.scan(definition.file)
        if level >= reach.down or scan is None:
            continue
        for site in scan.calls_in(definition):
            for callee in index.resolve(site.name, definition.file):
                if callee.kind != "function":
                    continue
                new = _add(graph, _spot(callee), level + 1, reach)
                if new is not None:
                    graph.add_edge(_spot(definition), _spot(callee), line=site.line)
                if new:
                    work.append((callee, level + 1))


def _grow_up(graph: CallGraph, index: TreeIndex, seeds: list[Definition], reach: Reach) -> None:
    work = deque((definition, 0) for definition in seeds)
    while work:
        definition, level = work.popleft()
        if -level >= reach.up:
            continue
        for site in index.callers(definition.name, definition.file, limit=_MOST_FILES):
            scan = index.scan(site.file)
            caller = scan.around_line(site.line) if scan is not None else None
            if caller is None or caller.kind != "function":
                continue
            new = _add(graph, _spot(caller), level - 1, reach)
            if new is not None:
                graph.add_edge(_spot(caller), _spot(definition), line=site.line)
            if new:
                work.append((caller, level - 1))


def _mark_cycles(graph: CallGraph) -> None:
    number = 0
    for component in nx.strongly_connected_components(graph):
        first = next(iter(component))
        if len(component) > 1 or graph.has_edge(first, first):
            number += 1
            for spot in component:
                graph.nodes[spot]["cycle"] = number
