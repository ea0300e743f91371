"""Findings of the function checkers in a few lines of C."""

from typing import NamedTuple

from patchlint.callgraph import TreeCallees, TreeIndex
from patchlint.checkers import FunctionContext, Mode, check_function, file_facts, other_teardowns, teardowns
from patchlint.host.rulefiles import load_ruleset
from patchlint.model import Finding
from patchlint.syntax import parse

RULESET = load_ruleset()


class Told(NamedTuple):
    """What a test asks of a finding."""

    rule: str
    line: int
    subject: str


def findings(
    code: str, *, held: frozenset[str] = frozenset(), mode: Mode = "changed", function: str = ""
) -> list[Finding]:
    """All findings in ``code``, or those in one of its functions, with ``held`` held by every caller."""
    source = code.encode()
    unit = parse(source, "a.c")
    callees = TreeCallees(RULESET.models, TreeIndex().with_overlay({"a.c": source}), RULESET.digest).within("a.c")
    found: list[Finding] = []
    for head in unit.heads:
        if function in ("", head.name):
            context = FunctionContext(
                unit.function(head), "a.c", source, unit.lines, unit.file_line, RULESET, callees, mode, held,
                file=file_facts(source),
                teardowns=other_teardowns(teardowns(source), head.name, source[head.start : head.end]),
            )  # fmt: skip
            found += check_function(context).findings
    return found


def told(code: str, **asked: frozenset[str]) -> list[Told]:
    """Rule, line and subject of each finding, in order of the text."""
    return sorted((Told(f.rule, f.line, f.subject) for f in findings(code, **asked)), key=lambda t: t.line)
