"""SER003: what does not hold together after a patch, compared state by state like every other finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from patchlint.checkers.series import Loose, Surroundings, Symbol, loose_uses, moved_symbols
from patchlint.model import Finding
from patchlint.review.timeline import FileChange, Stage, State, View
from patchlint.review.verdicts import Change, FindingKey, judge
from patchlint.ruleset import Rule, Ruleset


def symbol_findings(timeline: Sequence[Stage], ruleset: Ruleset, tree: Surroundings) -> Iterator[Finding]:
    """Uses of symbols that this series adds, removes or changes, at the patches where they do not fit."""
    rule = next((rule for rule in ruleset.rules.values() if rule.checker == "series" and "loose" in rule.faults), None)
    symbols = {symbol for stage in timeline for change in stage.changes for symbol in _moved(change)}
    if rule is None or not symbols:
        return
    changes = []
    before = _loose(timeline[0].before, symbols, tree, rule)
    for stage in timeline:
        after = _loose(stage.after, symbols, tree, rule)
        changes.append(Change(stage.order, stage.patch.n, before, after))
        before = after
    for finding in judge(changes):
        # A tree that does not build in between is what the rule is about: no mere note.
        yield _told(replace(finding, severity=rule.severity), rule)


def _told(finding: Finding, rule: Rule) -> Finding:
    if finding.fixed_by is None:
        return finding if finding.confidence == rule.confidence else replace(finding, confidence="low")
    return replace(finding, confidence=rule.confidence, message=f"{finding.message} before patch {finding.fixed_by}")


def _moved(change: FileChange) -> set[Symbol]:
    image = change.image
    before = change.before.scan if change.before is not None else None
    after = change.after.scan if change.after is not None else None
    return moved_symbols(before, after, image.pre_touched, image.touched)


def _loose(
    state: State, symbols: set[Symbol], tree: Surroundings, rule: Rule
) -> dict[FindingKey, Finding]:
    """The loose uses of one state by symbol and using function."""
    views = {view.scan: view for group in state.values() for view in group}
    files = {path: [view.scan for view in group] for path, group in state.items()}
    found: dict[FindingKey, Finding] = {}
    for loose in loose_uses(files, symbols, tree):
        finding = _finding(loose, views.get(loose.scan), rule)
        found.setdefault((finding.rule, finding.key), finding)
    return found


def _finding(loose: Loose, view: View | None, rule: Rule) -> Finding:
    lines = loose.scan.lines
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity,
        confidence=rule.confidence if loose.lasting else "medium",
        message=loose.message,
        file=loose.scan.path,
        line=view.file_line(loose.pos) if view is not None else lines.line(loose.pos),
        column=lines.column(loose.pos),
        function=loose.function,
        subject=loose.symbol.name,
        key=f"{loose.symbol.kind} {loose.symbol.name} in {loose.scan.path}:{loose.function}",
    )
