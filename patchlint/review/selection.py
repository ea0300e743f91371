"""Which findings are shown: rules asked for, confidence, verdict, baseline, and what patches silence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from patchlint.model import CONFIDENCES, SEVERITIES, Confidence, Finding, Patch, Review, Suppression


@dataclass(frozen=True, slots=True)
class Selection:
    """What the user wants to see. ``select``/``ignore`` hold rule ids or prefixes; an empty ``select`` means all."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_confidence: Confidence = "medium"
    show_all: bool = False
    baseline: frozenset[str] = frozenset()
    """Fingerprints of findings that are known."""

    def wants_rule(self, rule: str) -> bool:
        """Whether findings of this rule are asked for; of two matching prefixes the longer decides."""
        chosen = max((len(prefix) for prefix in self.select if rule.startswith(prefix)), default=-1)
        ignored = max((len(prefix) for prefix in self.ignore if rule.startswith(prefix)), default=-1)
        if chosen < 0:
            return not self.select and ignored < 0
        return chosen >= ignored

    def wants(self, finding: Finding) -> bool:
        """Whether a finding is shown."""
        return (
            self.wants_rule(finding.rule)
            and CONFIDENCES.index(finding.confidence) >= CONFIDENCES.index(self.min_confidence)
            and (self.show_all or finding.verdict != "preexisting")
            and finding.fingerprint not in self.baseline
        )


def at_least(findings: Iterable[Finding], severity: str) -> bool:
    """Whether a finding reaches ``severity``; never when that is "never"."""
    if severity == "never":
        return False
    floor = SEVERITIES.index(severity)
    return any(SEVERITIES.index(finding.severity) >= floor for finding in findings)


def choose_findings(review: Review, selection: Selection) -> Review:
    """The review with only the findings that are asked for, and without those that its patches silence."""
    wanted = [finding for finding in review.findings if selection.wants(finding)]
    if review.series is None:
        return replace(review, findings=tuple(wanted))
    silenced: list[Finding] = []
    notes = list(review.notes)
    for patch in review.series.patches:
        for suppression in patch.suppressions:
            hit = [finding for finding in review.findings if _silences(suppression, patch, finding)]
            silenced += [finding for finding in wanted if finding in hit and finding not in silenced]
            if not hit:
                notes.append(_unmatched(suppression, patch))
    shown = tuple(finding for finding in wanted if finding not in silenced)
    return replace(review, findings=shown, suppressed=tuple(silenced), notes=tuple(notes))


def _silences(suppression: Suppression, patch: Patch, finding: Finding) -> bool:
    return (
        finding.patch == patch.n
        and finding.rule == suppression.rule
        and suppression.target in ("", finding.function, finding.subject)
    )


def _unmatched(suppression: Suppression, patch: Patch) -> str:
    place = f"{patch.source}:{suppression.line}: " if suppression.line else ""
    words = " ".join(word for word in ("ignore", suppression.rule, suppression.target) if word)
    return f'{place}patch {patch.n}: "patchlint: {words}" matches no finding'


def order_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """By patch, file and line."""
    return tuple(sorted(findings, key=_place))


def _place(finding: Finding) -> tuple[int, str, int, int, str]:
    return finding.patch or 0, finding.file, finding.line, finding.column, finding.rule


def fingerprints(reviews: Sequence[Review]) -> list[str]:
    """All fingerprints of the reviews' findings, sorted, each once."""
    return sorted({finding.fingerprint for review in reviews for finding in review.findings})
