"""A plain-text mail that answers each patch: the hunk quoted, a factual question under the line.

Never sent by patchlint.  The text is an mbox; ``git mailsplit --mboxrd`` makes one file per mail of it for
``git send-email``.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from email.utils import getaddresses, parseaddr

from patchlint.model import FileDiff, Finding, Hunk, Patch, Review
from patchlint.report.context import ReportContext
from patchlint.report.places import find_in_patch, patch_of
from patchlint.report.wording import one_line, place_words, printable

WIDTH = 78
BEFORE, AFTER = 10, 3
"""Lines of a hunk quoted before the first and after the last line that is asked about."""

_SEPARATOR = "From patchlint Mon Sep 17 00:00:00 2001\n"
_PLAIN = re.compile(r"[\w .'-]*\w")
"""A display name that needs no quoting."""
_FROM = re.compile(r"^(>*From )", re.MULTILINE)


def render(reviews: Sequence[Review], context: ReportContext) -> str:
    """The mails as one mbox (mboxrd quoting); empty where nothing was found."""
    answers = (mail for review in reviews for mail in mails(review, context))
    return "".join(_SEPARATOR + _FROM.sub(r">\1", answer) + "\n" for answer in answers)


def mails(review: Review, context: ReportContext) -> Iterator[str]:
    """One mail per patch that has findings, in patch order."""
    if review.series is None:
        return
    for patch in review.series.patches:
        findings = [finding for finding in review.findings if finding.patch == patch.n]
        if findings:
            yield f"{_headers(patch)}\n{_body(review, patch, findings, context)}"


def _headers(patch: Patch) -> str:
    """Headers that make the mail an answer in the patch's thread."""
    subject = one_line(_header(patch, "subject") or patch.subject)
    if not subject.lower().startswith("re:"):
        subject = f"Re: {subject}"
    fields = [("To", one_line(patch.author)), ("Cc", _copied(patch)), ("Subject", subject)]
    if patch.message_id:
        message_id = _angled(patch.message_id)
        fields.append(("In-Reply-To", message_id))
        fields.append(("References", " ".join([*_references(patch, message_id), message_id])))
    fields += [
        ("MIME-Version", "1.0"),
        ("Content-Type", "text/plain; charset=UTF-8"),
        ("Content-Transfer-Encoding", "8bit"),
    ]
    return "".join(_folded(name, value) for name, value in fields if value)


def _header(patch: Patch, name: str) -> str:
    return next((value for key, value in patch.headers if key == name), "")


def _copied(patch: Patch) -> str:
    """Everybody else who got the patch, once."""
    values = [one_line(value) for key, value in patch.headers if key in ("to", "cc")]
    author = parseaddr(one_line(patch.author))[1]
    people = {address: name for name, address in getaddresses(values) if "@" in address and address != author}
    return ", ".join(f"{name} <{address}>" if _PLAIN.fullmatch(name) else address for address, name in people.items())


def _angled(message_id: str) -> str:
    return f"<{one_line(message_id).strip('<> ')}>"


def _references(patch: Patch, message_id: str) -> list[str]:
    """The thread above the patch."""
    known = _header(patch, "references") or _header(patch, "in-reply-to")
    return [each for each in re.findall(r"<[^<>\s]+>", one_line(known)) if each != message_id]


def _folded(name: str, value: str) -> str:
    """One header, folded at white space."""
    lines = textwrap.wrap(f"{name}: {value}", WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n ".join(lines) + "\n"


def _body(review: Review, patch: Patch, findings: list[Finding], context: ReportContext) -> str:
    blocks = [_attribution(patch)]
    placed: set[Finding] = set()
    for diff in patch.files:
        for hunk in diff.hunks:
            asked = _asked(review, diff, hunk, findings)
            if asked:
                placed.update(finding for _, finding in asked)
                blocks.append(_quoted(review, diff, hunk, asked, context))
    for finding in findings:
        if finding not in placed:
            blocks.append(_unquoted(review, finding, context))
    blocks.append(f"-- \n{context.tool.name} {context.tool.version}, a static reviewer; it can be wrong.\n")
    return "\n".join(blocks)


def _attribution(patch: Patch) -> str:
    when = one_line(_header(patch, "date"))
    author = one_line(patch.author) or "The author"
    return _filled(f"On {when}, {author} wrote:" if when else f"{author} wrote:")


def _asked(review: Review, diff: FileDiff, hunk: Hunk, findings: list[Finding]) -> list[tuple[int, Finding]]:
    """(index of the line in the hunk, finding) for what stands in this hunk, in order."""
    asked = []
    for finding in findings:
        place = find_in_patch(review, finding.patch, finding.file, finding.line)
        if place is not None and place.diff is diff and place.hunk is hunk:
            asked.append((place.index, finding))
    return sorted(asked, key=lambda each: each[0])


def _quoted(
    review: Review, diff: FileDiff, hunk: Hunk, asked: list[tuple[int, Finding]], context: ReportContext
) -> str:
    """The hunk from some lines before the first question to some after the last, questions in between."""
    first, last = asked[0][0], asked[-1][0]
    span = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@ {hunk.section}"
    lines = [f"> --- a/{one_line(diff.old_path or diff.path)}", f"> +++ b/{one_line(diff.path)}"]
    lines.append(f"> {one_line(span)}")
    start = max(0, first - BEFORE)
    if start:
        lines.append("> [...]")
    for index in range(start, min(len(hunk.lines), last + 1 + AFTER)):
        tag, text = hunk.lines[index]
        lines.append(f"> {tag}{printable(text.decode('utf-8', 'replace'))}".rstrip())
        for at, finding in asked:
            if at == index:
                lines += ["", _question(review, finding, context)]
    return "\n".join(lines) + "\n"


def _unquoted(review: Review, finding: Finding, context: ReportContext) -> str:
    """A finding that the patch does not show: said with its place and the line itself."""
    place = place_words(finding.file, finding.line)
    inside = f"In {one_line(finding.function)}(), " if finding.function else ""
    head = f"{inside}{place}:" if place else "On the patch itself:"
    source = context.line(review, finding, finding.file, finding.line)
    shown = f"\n    {printable(source).strip()}\n" if source is not None else ""
    return f"{_filled(head)}{shown}\n{_question(review, finding, context)}"


def _question(review: Review, finding: Finding, context: ReportContext) -> str:
    """What was seen, the path, and what is asked; wrapped."""
    parts = [_filled(f"{_sentence(finding.message)} [{finding.rule}]")]
    if finding.trace:
        parts.append("".join(_step(review, finding, at, context) for at in range(len(finding.trace))))
    parts.append(_filled(_asking(review, finding)))
    return "\n".join(parts)


def _sentence(message: str) -> str:
    return f"{one_line(message).rstrip('.')}."


def _step(review: Review, finding: Finding, at: int, context: ReportContext) -> str:
    step = finding.trace[at]
    said = f"{place_words(step.file, step.line)}: {one_line(step.what)}"
    return textwrap.fill(said, WIDTH, initial_indent="  ", subsequent_indent="      ", break_long_words=False) + "\n"


def _asking(review: Review, finding: Finding) -> str:
    """The question, by what the comparison of before and after told."""
    config = f" (seen with {one_line(', '.join(finding.config))})" if finding.config else ""
    if finding.verdict == "transient" and patch_of(review, finding.fixed_by):
        return (
            f"Patch {finding.fixed_by} of the series seems to repair this{config}. Should the repair be part of this "
            "patch, so that a bisection never meets it?"
        )
    if finding.verdict == "exposed":
        return f"This code is not touched by the patch{config}. Does it need to follow the change made here?"
    if finding.trace:
        return f"Can this path be taken{config}, or does something outside of the patch exclude it?"
    return f"Is this intended{config}?"


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"
