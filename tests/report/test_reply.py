import mailbox
from dataclasses import replace
from email.message import Message
from pathlib import Path

from report_samples import BRIEF, CLEAN, CONTEXT, ELSEWHERE, LEAK, REVIEW

from patchlint.model import Finding
from patchlint.report import reply


def mails(tmp_path: Path, *findings: Finding) -> list[Message]:
    box = tmp_path / "replies.mbox"
    box.write_text(reply.render((replace(REVIEW, findings=findings),), CONTEXT))
    return list(mailbox.mbox(box))


def body_of(mail: Message) -> str:
    return mail.get_payload(decode=True).decode()


def test_one_mail_per_patch_in_its_thread(tmp_path: Path) -> None:
    first, second = mails(tmp_path, LEAK, BRIEF, ELSEWHERE)
    assert first["Subject"] == "Re: [PATCH v2 1/2] misc: widget: find the node"
    assert first["In-Reply-To"] == "<1@example.org>"
    assert first["References"] == "<0@example.org> <1@example.org>"
    assert first["To"] == "Ada Example <ada@example.org>"
    assert first["Cc"] == "list@example.org, Bob Example <bob@example.org>"
    assert second["In-Reply-To"] == "<2@example.org>"


def test_the_question_stands_under_the_quoted_line(tmp_path: Path) -> None:
    (mail,) = mails(tmp_path, LEAK, BRIEF)
    text = body_of(mail)
    assert text.startswith("On Mon, 2 Jun 2025 10:00:00 +0000, Ada Example <ada@example.org> wrote:\n")
    assert (
        "> +\t\treturn -EIO;\n\n"
        "np keeps the reference that of_find_node_by_name() took when widget_probe()\nreturns. [REF001]\n\n"
        "  drivers/misc/widget.c:12: reference taken here by of_find_node_by_name()\n"
    ) in text
    assert "Can this path be taken (seen with CONFIG_OF=y), or does something outside of\nthe patch exclude it?" in text
    assert "> \treturn 0;\n\nthe read-side section stays open. [RCU001]" in text.replace(">  \t", "> \t")
    assert "Patch 2 of the series seems to repair this." in text


def test_wrapped_at_78(tmp_path: Path) -> None:
    for mail in mails(tmp_path, LEAK, BRIEF, ELSEWHERE):
        prose = [line for line in body_of(mail).splitlines() if not line.startswith(">")]
        assert max(len(line) for line in prose) <= 78


def test_code_outside_the_patch_is_named(tmp_path: Path) -> None:
    (mail,) = mails(tmp_path, ELSEWHERE)
    text = body_of(mail)
    assert "In gadget_stop(), drivers/misc/gadget.c:40:" in text
    assert "Does it need to follow the change made\nhere?" in text


def test_a_header_cannot_be_injected(tmp_path: Path) -> None:
    patch = replace(
        REVIEW.series.patches[0],
        author="Eve\nBcc: all@example.org <eve@example.org>",
        message_id="<x>\nX-Evil: 1",
        headers=(("subject", "[PATCH] a\r\nBcc: b@example.org"),),
    )
    evil = replace(REVIEW, series=replace(REVIEW.series, patches=(patch,)), findings=(LEAK,))
    (mail,) = reply.mails(evil, CONTEXT)
    names = [line.split(":")[0] for line in mail.split("\n\n")[0].splitlines() if not line.startswith(" ")]
    assert names == [
        "To",
        "Subject",
        "In-Reply-To",
        "References",
        "MIME-Version",
        "Content-Type",
        "Content-Transfer-Encoding",
    ]


def test_a_line_of_prose_cannot_begin_a_mail(tmp_path: Path) -> None:
    sly = replace(LEAK, message="From here it leaks", trace=())
    assert "\n>From here it leaks." in reply.render((replace(REVIEW, findings=(sly,)),), CONTEXT)
    assert len(mails(tmp_path, sly)) == 1


def test_nothing_found_is_no_mail() -> None:
    assert reply.render((CLEAN, replace(REVIEW, findings=())), CONTEXT) == ""
