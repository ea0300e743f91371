"""Values that travel through patchlint.

Every room of the pipeline takes and returns these frozen values; this module
imports nothing of the project.  Offsets are byte offsets, lines count from 1,
columns from 1 in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "note"]
Confidence = Literal["high", "medium", "low"]
Verdict = Literal["introduced", "transient", "exposed", "preexisting"]
Applied = Literal["exact", "offset", "fragment", "failed"]
BaseKind = Literal["commit", "blobs", "head", "none"]

SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
CONFIDENCES: tuple[Confidence, ...] = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something doubtful about mail, series or application.

    ``rule`` is the SER rule that reports it, ``file``/``line`` the place in the
    mail source (or in the patched file where ``in_tree`` is set).
    """

    rule: str
    message: str
    file: str = ""
    line: int = 0
    in_tree: bool = False
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One mail: decoded headers (names lower-case), body text, where it began.

    ``body`` is UTF-8 with surrogate escapes, so encoding it the same way gives the bytes back.
    ``charset`` is what the mail declared for those bytes.  ``lossy`` marks renderings of a mail
    (a list-archive page), whose bytes need not be those that were sent.
    """

    source: str
    headers: tuple[tuple[str, str], ...]
    body: str
    line: int = 1
    lossy: bool = False
    problems: tuple[Problem, ...] = ()
    body_line: int = 1
    """Line of the source on which the body starts."""
    line_map: tuple[int, ...] = ()
    """For transfer encodings that join lines: source line of each body line."""
    charset: str = ""
    flowed: bool = False
    """The mail says ``format=flowed``: its lines may have been wrapped and stuffed."""

    def header(self, name: str, default: str = "") -> str:
        """First header called ``name`` (lower-case), decoded and unfolded."""
        for key, value in self.headers:
            if key == name:
                return value
        return default

    def source_line(self, index: int) -> int:
        """Line of the mail source that holds body line ``index`` (counting from 0)."""
        if self.line_map:
            return self.line_map[min(index, len(self.line_map) - 1)]
        return self.body_line + index


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk. ``lines`` holds (tag, text) with tag ' ', '+', '-' and text as bytes without newline.

    ``no_newline`` holds the tags of the sides that end without a newline ('-', '+').
    ``mail_line`` is the line of the ``@@`` header in the mail source.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    section: str
    lines: tuple[tuple[str, bytes], ...]
    no_newline: str = ""
    mail_line: int = 0
    cut: bool = False
    """Damage left only part of the hunk; its counts are those of the part."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The changes of one patch to one file. Paths have no a/ b/ prefix; None is /dev/null."""

    old_path: str | None
    new_path: str | None
    kind: Literal["modify", "new", "delete", "rename", "copy", "mode"] = "modify"
    old_blob: str = ""
    new_blob: str = ""
    old_mode: str = ""
    new_mode: str = ""
    binary: bool = False
    hunks: tuple[Hunk, ...] = ()
    mail_line: int = 0

    @property
    def path(self) -> str:
        """The path to speak of: the new one, or the old one of a deleted file."""
        return self.new_path or self.old_path or ""


@dataclass(frozen=True, slots=True)
class Suppression:
    """``patchlint: ignore RULE [SUBJECT-OR-FUNCTION][: reason]`` found in a patch's notes."""

    rule: str
    target: str = ""
    reason: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch of a series. ``n`` is its counter (1 where the mail has none)."""

    n: int
    subject: str
    author: str = ""
    message_id: str = ""
    message: str = ""
    trailers: tuple[tuple[str, str], ...] = ()
    files: tuple[FileDiff, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    problems: tuple[Problem, ...] = ()
    source: str = ""
    line: int = 1
    lossy: bool = False
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """Patches that belong together, in counter order."""

    source: str
    subject: str
    author: str
    version: str
    total: int
    patches: tuple[Patch, ...]
    missing: tuple[int, ...] = ()
    cover: bool = False
    cover_message: str = ""
    cover_message_id: str = ""
    announced: tuple[str, ...] = ()
    base_commit: str = ""
    prerequisites: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    prefix: str = ""
    """What the subject's brackets say besides counter and version, e.g. ``RFC PATCH net-next``."""


@dataclass(frozen=True, slots=True)
class FileImage:
    """One file before and after one patch, in memory.

    ``pre``/``post`` are None where the file does not exist.  ``origin[i]`` is the number of the
    series patch that last wrote post line i+1, 0 for lines of the base.  With ``applied`` equal
    to "fragment" the images hold only what the hunks show: hunk texts joined, each starting at
    the line that ``fragments`` tells.  ``post_lines`` then maps image line - 1 to line number.
    """

    path: str
    pre_path: str
    pre: bytes | None
    post: bytes | None
    applied: Applied
    origin: tuple[int, ...] = ()
    touched: tuple[tuple[int, int], ...] = ()
    """Line ranges (first, last) of ``post`` that the patch added or changed; for pure removals the lines around."""
    pre_touched: tuple[tuple[int, int], ...] = ()
    """Line ranges of ``pre`` that the patch removed or changed; for pure additions the lines around."""
    pre_fragments: tuple[tuple[int, int, str], ...] = ()
    """For fragments: (first image line, first file line, @@ section) of each hunk in ``pre``."""
    post_fragments: tuple[tuple[int, int, str], ...] = ()
    blob_matches: bool | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the path that proves a finding."""

    file: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A result, as shown to the user. See CONTRACT: JSON."""

    rule: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    file: str
    line: int
    column: int
    function: str
    subject: str
    trace: tuple[Step, ...] = ()
    config: tuple[str, ...] = ()
    verdict: Verdict = "introduced"
    patch: int | None = None
    fixed_by: int | None = None
    suggestion: str | None = None
    fingerprint: str = ""
    key: str = ""
    """What makes two findings the same fault across patches: survives line shifts and unrelated edits."""


@dataclass(frozen=True, slots=True)
class NotAnalysed:
    """Something that could not be analysed, and why. Never skipped in silence."""

    file: str
    function: str
    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class PatchResult:
    """How one patch fared."""

    n: int
    subject: str
    message_id: str
    applied: Applied
    files: tuple[str, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """All that is said about one series (or one set of files)."""

    source: str
    series: Series | None
    base_kind: BaseKind
    base_rev: str
    patches: tuple[PatchResult, ...]
    findings: tuple[Finding, ...]
    not_analysed: tuple[NotAnalysed, ...]
    suppressed: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    stats: dict[str, float | int] = field(default_factory=dict)
    excerpts: dict[tuple[str, int], dict[int, str]] = field(default_factory=dict)
    """Source lines for reports: (file, patch number, 0 for files outside the series) to {line: text}. Holds the lines
    of each finding's function and of each step of its trace."""


class PatchlintError(Exception):
    """The command cannot do its work: exit status 2, the text is the one line shown."""
