"""Series, images and what is known of callees to a Review: timeline, verdicts, suppressions. Pure."""

from patchlint.review.examine import Knowledge
from patchlint.review.files import FileReview, join, review_file
from patchlint.review.knowledge import TreeKnowledge
from patchlint.review.selection import Selection, at_least, choose_findings, fingerprints
from patchlint.review.series import review_series
from patchlint.review.timeline import View, Views, stages
from patchlint.review.verdicts import fingerprint

__all__ = [
    "FileReview",
    "Knowledge",
    "Selection",
    "TreeKnowledge",
    "View",
    "Views",
    "at_least",
    "choose_findings",
    "fingerprint",
    "fingerprints",
    "join",
    "review_file",
    "review_series",
    "stages",
]
