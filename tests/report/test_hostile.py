"""Whatever text a mail brings, no report lets it act: properties over random text in every field."""

import json
import mailbox
import re
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from report_samples import CONTEXT, LEAK, REVIEW
from test_html import Outline

from patchlint.model import Hunk, NotAnalysed, Review, Step
from patchlint.report import github, html, markdown, rdjsonl, reply, sarif
from patchlint.report.wording import one_line, printable

# Letters and all that means something to a terminal, a mail reader, a browser, Markdown or a workflow.
TEXT = st.text(
    st.sampled_from("ab 1<>&\"'`|\\*_[]()#!~@:/-%,=\r\n\t\x00\x1b\x85\u2028\u202e\udcff\ud800é")
) | st.sampled_from(
    ["::error::x", "##[error]x", "</script><script>", "\n\nFrom x", "\r\nBcc: x@y.z", "--", "-- \n", "]]>", "<!--"]
)


@st.composite
def reviews(draw: st.DrawFn) -> Review:
    words = [draw(TEXT) for _ in range(9)]
    finding = replace(
        LEAK, message=words[0], file=words[1] or "x.c", function=words[2], subject=words[3],
        trace=(Step(words[4] or "y.c", 3, words[5]), *LEAK.trace), suggestion=words[6] or None, config=(words[7],),
    )  # fmt: skip
    placed = replace(LEAK, message=words[0])
    series = REVIEW.series
    assert series is not None
    text = words[8].encode("utf-8", "replace").replace(b"\n", b"")
    hunk = Hunk(1, 1, 16, 1, words[2], ((" ", text),))
    diff = replace(series.patches[0].files[0], hunks=(hunk,))
    headers = (("subject", words[3]), ("to", words[4]), ("cc", words[5]), ("references", words[6]), ("date", words[7]))
    patch = replace(series.patches[0], subject=words[5], author=words[6], message=words[7], message_id=words[8],
                    headers=headers, files=(diff,))  # fmt: skip
    return replace(
        REVIEW,
        source=words[1],
        series=replace(series, subject=words[0], author=words[1], patches=(patch,)),
        patches=(replace(REVIEW.patches[0], subject=words[5], problems=(words[6],)),),
        findings=(finding, placed),
        not_analysed=(NotAnalysed(words[1], words[2], words[3], 1),),
        notes=(words[4],),
    )


ELEMENTS = {name for name, _ in Outline(html.render((REVIEW,), CONTEXT)).elements} | {"i"}
EXTRA = {"details", "summary", "ul", "li", "code", "p", "pre", "wbr"}


@given(reviews())
@settings(deadline=None, max_examples=60)
def test_html_has_our_elements_only(review: Review) -> None:
    page = html.render((review,), CONTEXT)
    outline = Outline(page)
    assert {name for name, _ in outline.elements} <= ELEMENTS | EXTRA
    assert not [
        key for _, found in outline.elements for key in found if key.startswith("on") or key in ("style", "src")
    ]
    assert all(link.startswith(("#", "data:,")) for link in outline.values("href"))
    page.encode("utf-8")


@given(reviews())
@settings(deadline=None, max_examples=60)
def test_github_lines_are_ours(review: Review) -> None:
    for line in github.render((review,), CONTEXT).split("\n"):
        assert re.match(r"::warning (?:file|line|title)=|patchlint: \d|$", line)
        assert "\r" not in line and "##[" not in line
        assert line.count("::") >= 2 or not line.startswith("::")


@given(reviews())
@settings(deadline=None, max_examples=60)
def test_markdown_rows_keep_their_cells(review: Review) -> None:
    text = markdown.render((review,), CONTEXT)
    for row in (line for line in text.split("\n") if line.startswith("| ⚠️")):
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 6
    assert set(re.findall(r"<(\w+)", text)) <= {"code", "details", "summary", "pre"}


@given(reviews())
@settings(deadline=None, max_examples=60)
def test_json_formats_are_json(review: Review) -> None:
    log = json.loads(sarif.render((review,), CONTEXT))
    assert len(log["runs"][0]["results"]) == 2
    assert all(json.loads(line) for line in rdjsonl.render((review,), CONTEXT).splitlines())


@given(reviews())
@settings(deadline=None, max_examples=60)
def test_replies_are_one_mail_with_our_headers(review: Review) -> None:
    text = reply.render((review,), CONTEXT)
    with tempfile.TemporaryDirectory() as folder:
        box = Path(folder) / "box"
        box.write_text(text)
        (mail,) = mailbox.mbox(box)
        assert set(mail.keys()) <= {"To", "Cc", "Subject", "In-Reply-To", "References", "MIME-Version", "Content-Type",
                                    "Content-Transfer-Encoding"}  # fmt: skip
        assert len(mail.keys()) == len(set(mail.keys()))


@given(st.text())
def test_printable_is_printable_and_settled(text: str) -> None:
    shown = printable(text)
    shown.encode("utf-8")
    assert printable(shown) == shown
    assert "\n" not in one_line(text)
