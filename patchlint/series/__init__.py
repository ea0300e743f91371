"""Series room: messages to ordered series of patches."""

from patchlint.series.assemble import assemble
from patchlint.series.choose import choose
from patchlint.series.subject import Subject, parse_subject

__all__ = ["Subject", "assemble", "choose", "parse_subject"]
