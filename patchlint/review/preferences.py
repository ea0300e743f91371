"""What the user's config changes in a review: severities of rules, and the files that are spoken of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from patchlint.model import Finding, Review, Severity


@dataclass(frozen=True, slots=True)
class Preferences:
    """``severities`` holds (rule id or prefix, severity); ``paths`` globs, those with ``!`` before them exclude."""

    severities: tuple[tuple[str, Severity], ...] = ()
    paths: tuple[str, ...] = ()

    def speaks_of(self, file: str) -> bool:
        """Whether findings in ``file`` are wanted; the last glob that matches decides. Findings without a file are."""
        wanted = not file or all(glob.startswith("!") for glob in self.paths)
        for glob in self.paths:
            if _matches(file, glob.removeprefix("!")):
                wanted = not glob.startswith("!")
        return wanted

    def severity(self, finding: Finding) -> Severity:
        """The severity to show: the longest prefix that matches decides; what a later patch repairs stays a note."""
        if finding.verdict == "transient":
            return finding.severity
        matching = [entry for entry in self.severities if finding.rule.startswith(entry[0])]
        return max(matching, key=lambda entry: len(entry[0]))[1] if matching else finding.severity


def prefer(review: Review, preferences: Preferences) -> Review:
    """The review as the user wants to see it. What is said about the mail itself stays."""
    mails = {review.source, *(patch.source for patch in (review.series.patches if review.series else ()))}
    findings = tuple(
        replace(finding, severity=preferences.severity(finding))
        for finding in review.findings
        if finding.file in mails or preferences.speaks_of(finding.file)
    )
    return replace(review, findings=findings)


def _matches(file: str, glob: str) -> bool:
    """A folder matches all that is below it."""
    return fnmatchcase(file, glob) or fnmatchcase(file, f"{glob.rstrip('/')}/*")
