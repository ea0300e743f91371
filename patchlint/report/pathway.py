"""A finding's path through the control-flow graph of its function, for the drawing.

The function is read again from the lines that the review keeps for reports; where they do not hold it whole enough,
the drawing falls back on the steps alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from patchlint.cfg import Branch, Cfg, Choice, Jump, Leave, Select, Terminator, Turn, build, render
from patchlint.ir import Function, Variant
from patchlint.lines import LineTable
from patchlint.model import Finding, Review
from patchlint.report.flow import PathNode, steps_only
from patchlint.syntax import parse

MAX_NODES = 24
"""Nodes of a drawing; ways between two steps that pass more branches are shortened."""

_TEXT = 22
"""Characters of a condition."""


def path_nodes(review: Review, finding: Finding) -> tuple[PathNode, ...]:
    """A :data:`patchlint.report.flow.FlowLookup` that shows the branches between the steps, and where else they go."""
    steps = steps_only(review, finding)
    graph = _graph(review.excerpts.get((finding.file, finding.patch or 0), {}), finding)
    if graph is None or any(step.file != finding.file for step in finding.trace):
        return steps
    walked = _walk(graph, [step.line for step in finding.trace])
    return _shortened(tuple(_nodes(graph, walked, steps))) if walked else steps


class _Graph(NamedTuple):
    """A function's graph; ``lines`` gives the file lines of each block's operations, the last being its end's."""

    cfg: Cfg
    lines: tuple[tuple[int, ...], ...]
    first: int
    table: LineTable

    def line(self, pos: int) -> int:
        """Line of the file at an offset of the function's text."""
        return self.first + self.table.line(pos) - 1


class _Visit(NamedTuple):
    """A block on the path, and the steps (from 0) that happen in it."""

    block: int
    steps: tuple[int, ...]


def _graph(excerpt: Mapping[int, str], finding: Finding) -> _Graph | None:
    """The graph of the function around the finding's line; None where it cannot be read."""
    first = last = finding.line
    while first - 1 in excerpt:
        first -= 1
    while last + 1 in excerpt:
        last += 1
    text = "".join(f"{excerpt[line]}\n" for line in range(first, last + 1) if line in excerpt)
    unit = parse(text.encode("utf-8", "replace"), finding.file)
    head = next((head for head in unit.heads if head.name == finding.function), None)
    if head is None:
        return None
    variant = _variant(unit.function(head), finding.config)
    if variant is None:
        return None
    cfg = build(variant, _transparent)
    lines = tuple(
        tuple(first + unit.lines.line(pos) - 1 for pos in (*(op.pos for op in block.ops), *_position(block.term)))
        for block in cfg.blocks
    )
    return _Graph(cfg, lines, first, unit.lines)


def _transparent(name: str) -> int:
    return 0 if name in ("likely", "unlikely") else -1


def _variant(function: Function, config: tuple[str, ...]) -> Variant | None:
    """The variant in which the finding was made, or the first."""
    wanted = set(config)
    return next((each for each in function.variants if wanted <= set(each.config)), None) or next(
        iter(function.variants), None
    )


def _position(term: Terminator) -> tuple[int, ...]:
    return () if isinstance(term, Jump) else (term.pos,)


# ---------------------------------------------------------------------- the way


def _walk(graph: _Graph, lines: list[int]) -> list[_Visit]:
    """The shortest way from the entry that meets the lines in order; [] when it meets fewer than two.

    A line that cannot be reached from the one before is a remark beside the path ("another path drops it here").
    """
    way = [0]
    met: list[tuple[int, int]] = []
    at_line = 0
    for step, line in enumerate(lines):
        here = graph.lines[way[-1]]
        if line not in here or line < at_line:
            found = _search(graph, way[-1], line)
            if not found:
                continue
            way += found
        met.append((len(way) - 1, step))
        at_line = line
    if len(met) < min(2, len(lines)):
        return []
    return [_Visit(block, tuple(step for at, step in met if at == index)) for index, block in enumerate(way)]


def _search(graph: _Graph, start: int, line: int) -> list[int]:
    """The blocks after ``start`` up to the nearest that holds ``line``."""
    before: dict[int, int] = {}
    queue = deque([start])
    while queue:
        block = queue.popleft()
        for after in graph.cfg.successors(block):
            if after in before:
                continue
            before[after] = block
            if line in graph.lines[after]:
                return _traced(before, start, after)
            queue.append(after)
    return []


def _traced(before: Mapping[int, int], start: int, end: int) -> list[int]:
    way = [end]
    while before[way[-1]] != start:
        way.append(before[way[-1]])
    return way[::-1]


# ------------------------------------------------------------------------ nodes


def _nodes(graph: _Graph, walked: list[_Visit], steps: tuple[PathNode, ...]) -> Iterator[PathNode]:
    for index, visit in enumerate(walked):
        following = walked[index + 1].block if index + 1 < len(walked) else None
        branch = _branch(graph, visit.block, following)
        own = [steps[step] for step in visit.steps]
        if branch is None:
            yield from own
        elif own and own[-1].label == branch.label.partition(":")[0]:
            # The last step speaks of the branch itself: one node for both.
            yield from own[:-1]
            yield branch._replace(step=own[-1].step)
        else:
            yield from own
            yield branch


def _branch(graph: _Graph, block: int, following: int | None) -> PathNode | None:
    """The decision at the end of ``block``, taken towards ``following``."""
    term = graph.cfg.blocks[block].term
    if following is None or not isinstance(term, Branch | Turn | Select | Choice):
        return None
    where = f"line {graph.line(term.pos)}"
    others = [each for each in dict.fromkeys(graph.cfg.successors(block)) if each != following]
    if not others:
        return None
    target = _target(graph, others[0])
    match term:
        case Branch(test, true, _, _):
            taken, other = ("yes", "no") if following == true else ("no", "yes")
            return PathNode("branch", f"{where}: {render(test, _TEXT)}", -1, taken, f"{other}: {target}")
        case Turn(_, body, _, _):
            taken, other = ("one more turn", "end") if following == body else ("end of the loop", "turn")
            return PathNode("branch", f"{where}: loop", -1, taken, f"{other}: {target}")
        case Select(value, _, _, _):
            return PathNode("branch", f"{where}: {render(value, _TEXT)}", -1, "this case", f"others: {target}")
    return PathNode("branch", where, -1, "", f"or {target}")


def _target(graph: _Graph, block: int) -> str:
    """Where a way not taken leads: its first line; blocks that hold nothing are passed."""
    seen: set[int] = set()
    while not graph.lines[block] and block not in seen and graph.cfg.successors(block):
        seen.add(block)
        block = graph.cfg.successors(block)[0]
    if graph.lines[block]:
        return f"line {graph.lines[block][0]}"
    return "return" if isinstance(graph.cfg.blocks[block].term, Leave) else "end"


def _shortened(nodes: tuple[PathNode, ...]) -> tuple[PathNode, ...]:
    """At most :data:`MAX_NODES`: steps stay, the branches farthest from a step are counted only."""
    spare = MAX_NODES - sum(node.step >= 0 for node in nodes)
    kept: list[PathNode] = []
    left_out = 0
    for node in nodes:
        if node.step >= 0 or spare > 1:
            spare -= node.step < 0
            if left_out:
                kept.append(PathNode("plain", f"… {left_out} more branches"))
            left_out = 0
            kept.append(node)
        else:
            left_out += 1
    return tuple(kept)
