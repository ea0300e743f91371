"""A series to its Review. Pure: what it needs of the tree comes through ports."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from patchlint.model import (
    BaseKind,
    FileImage,
    Finding,
    NotAnalysed,
    PatchResult,
    Problem,
    Review,
    Series,
)
from patchlint.review.examine import Examiner
from patchlint.review.excerpts import excerpts
from patchlint.review.history import FunctionHistory
from patchlint.review.knowledge import TreeKnowledge
from patchlint.review.selection import order_findings
from patchlint.review.spanning import spanning_findings
from patchlint.review.symbols import symbol_findings
from patchlint.review.timeline import Stage, Views, stages
from patchlint.review.verdicts import fingerprint
from patchlint.ruleset import Ruleset
from patchlint.source import TreeReader


def review_series(
    series: Series, reader: TreeReader | None, ruleset: Ruleset, knowledge: TreeKnowledge, *, thorough: bool = False
) -> Review:
    """All findings of a series, none filtered; see :func:`patchlint.review.choose_findings`.

    Faults of the base that the series removes are among them only when it is ``thorough``, which takes twice as long.
    """
    views = Views(reader, ruleset.models)
    examiner = Examiner(ruleset, knowledge)
    timeline = stages(series, reader, views)
    verdicts = FunctionHistory(examiner, knowledge, reader, views, thorough).run(timeline)
    found = (
        *_mail_findings(series, timeline, ruleset),
        *symbol_findings(timeline, ruleset, knowledge),
        *spanning_findings(timeline, ruleset, knowledge),
        *verdicts.findings,
    )
    findings = order_findings(replace(finding, fingerprint=fingerprint(finding)) for finding in found)
    kind, rev = _base(reader, timeline)
    return Review(
        source=series.source,
        series=series,
        base_kind=kind,
        base_rev=rev,
        patches=tuple(_result(stage) for stage in timeline),
        findings=findings,
        not_analysed=_not_analysed(timeline, examiner, verdicts.not_analysed),
        stats={"functions": examiner.functions, "states": examiner.states, "patches": len(timeline)},
        excerpts=excerpts(findings, timeline, reader),
    )


def _not_analysed(
    timeline: Sequence[Stage], examiner: Examiner, further: Iterable[NotAnalysed]
) -> tuple[NotAnalysed, ...]:
    units = {
        id(change.after.unit): change.after.unit
        for stage in timeline
        for change in stage.changes
        if change.after is not None
    }
    parsed = [entry for unit in units.values() for entry in unit.not_analysed]
    return tuple(dict.fromkeys((*parsed, *examiner.skipped, *further)))


# ------------------------------------------------- the mail and the application


def _mail_findings(series: Series, timeline: Sequence[Stage], ruleset: Ruleset) -> Iterator[Finding]:
    """SER findings: what is doubtful about the series, each mail, each application."""
    for problem in series.problems:
        yield _from_problem(problem, series.source, None, ruleset)
    for stage in timeline:
        for problem in (*stage.patch.problems, *stage.applied.problems):
            yield _from_problem(problem, stage.patch.source or series.source, stage.patch.n, ruleset)


def _from_problem(problem: Problem, source: str, patch: int | None, ruleset: Ruleset) -> Finding:
    rule = ruleset.rules.get(problem.rule)
    return Finding(
        rule=problem.rule,
        name=rule.name if rule else "",
        severity=problem.severity or (rule.severity if rule else "warning"),
        confidence="high",
        message=problem.message,
        file=problem.file or source,
        line=problem.line,
        column=1 if problem.line else 0,
        function="",
        subject="",
        patch=patch,
        key=problem.message,
    )


def _result(stage: Stage) -> PatchResult:
    patch, applied = stage.patch, stage.applied
    problems = (*patch.problems, *applied.problems)
    files = tuple(dict.fromkeys(diff.path for diff in patch.files))
    texts = tuple(f"{problem.rule}: {problem.message}" for problem in problems)
    return PatchResult(patch.n, patch.subject, patch.message_id, applied.applied, files, texts)


# -------------------------------------------------------------------- the base


def _base(reader: TreeReader | None, timeline: Sequence[Stage]) -> tuple[BaseKind, str]:
    """What the series was applied to, as the contract names it."""
    if reader is None:
        return "none", ""
    if reader.kind == "head" and reader.rev and _exact_blobs(timeline):
        return "blobs", reader.rev
    return reader.kind, reader.rev


def _exact_blobs(timeline: Sequence[Stage]) -> bool:
    """Whether every file's first pre-image is the very blob that its ``index`` line names."""
    seen: set[str] = set()
    named = 0
    for stage in timeline:
        blobs = {diff.old_path: diff.old_blob for diff in stage.patch.files}
        for image in stage.applied.images:
            if image.pre is not None and image.pre_path not in seen:
                named += 1
                if not _is_blob(image, blobs.get(image.pre_path, "")):
                    return False
            seen.update((image.pre_path, image.path))
    return named > 0


def _is_blob(image: FileImage, blob: str) -> bool:
    pre = image.pre or b""
    return bool(blob) and hashlib.sha1(b"blob %d\0" % len(pre) + pre).hexdigest().startswith(blob)

