"""Our check commands run by the real b4 on a scratch repository."""

import json
import sys
from pathlib import Path

import pytest
from scratch import MENDED, PATCHLINT, PROBE, SPEED, WIDGET, Repository, environment, kernel, run

B4 = Path(sys.executable).with_name("b4")
needs_b4 = pytest.mark.skipif(not B4.exists(), reason="no b4 here (PyPI package b4; .ci/setup-tools installs it)")


@pytest.fixture
def tree(tmp_path: Path) -> Repository:
    found = kernel(tmp_path / "linux", environment(tmp_path))
    found.git("config", "user.name", "Ada Example")
    found.git("config", "user.email", "ada@example.org")
    found.git("config", "b4.prep-perpatch-check-cmd", f"{PATCHLINT} b4-check")
    found.git("config", "b4.review-perpatch-check-cmd", f"{PATCHLINT} b4-review")
    return found


def prepared(tree: Repository, probe: str) -> None:
    """A branch as ``b4 prep`` makes it, with two patches."""
    run(B4, "prep", "-n", "widgets", "-f", "main", cwd=tree.folder, env=tree.env)
    tree.commit("misc: widget: set the speed", drivers__misc__widget_c=WIDGET + SPEED)
    tree.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + SPEED + probe)


@needs_b4
def test_prep_check_shows_errors_at_their_patch(tree: Repository) -> None:
    prepared(tree, PROBE)
    said = run(B4, "prep", "--check", cwd=tree.folder, env=tree.env, status=None)
    text = said.stdout + said.stderr
    assert "Success: 1, Warning: 0, Error: 1" in text, text
    found = [line for line in text.splitlines() if "REF001" in line]
    assert len(found) == 1 and "drivers/misc/widget.c:29: ERROR: " in found[0]


@needs_b4
def test_prep_check_is_content_with_a_clean_series(tree: Repository) -> None:
    prepared(tree, MENDED)
    said = run(B4, "prep", "--check", cwd=tree.folder, env=tree.env)
    assert "Success: 2, Warning: 0, Error: 0" in said.stdout + said.stderr, said.stdout + said.stderr


def mail_of(tree: Repository, commit: str) -> bytes:
    return tree.git("format-patch", "--stdout", "-1", commit).encode() + b"\n"


@needs_b4
def test_review_checks_by_b4s_own_runner(tree: Repository) -> None:
    """Through b4's code that runs review-perpatch-check-cmd and reads its JSON."""
    tree.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + PROBE)
    tree.commit("misc: widget: set the speed", drivers__misc__widget_c=WIDGET + PROBE + SPEED)
    script = (
        "import argparse, email, email.policy, json, sys\n"
        "import b4\n"
        "import b4.review.checks as checks\n"
        "message = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.EmailPolicy())\n"
        "b4.setup_config(argparse.Namespace(config={}))\n"
        "commands, _ = checks.load_check_cmds()\n"
        "print(json.dumps(checks.run_perpatch_checks([('1', message)], commands, '.')))\n"
    )
    answers = []
    for commit in ("HEAD~1", "HEAD"):
        done = run(sys.executable, "-c", script, cwd=tree.folder, env=tree.env, stdin=mail_of(tree, commit))
        ((result,),) = json.loads(done.stdout).values()
        answers.append(result)
    assert [answer["status"] for answer in answers] == ["fail", "pass"]
    assert answers[0]["tool"] == "patchlint"
    assert answers[0]["summary"] == "1 warning"
    (detail,) = json.loads(answers[0]["details"])
    assert "REF001" in detail["description"] and detail["srcline"] == "return -EIO;"


def test_check_needs_no_b4(tree: Repository) -> None:
    tree.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + PROBE)
    mail = mail_of(tree, "HEAD")
    done = run(PATCHLINT, "b4-check", cwd=tree.folder, env=tree.env, stdin=mail, status=1)
    assert done.stdout.count("ERROR:") == 1 and done.stdout.count("\n") == 1
    assert done.stderr == ""
    done = run(PATCHLINT, "b4-check", "--fail-on", "error", cwd=tree.folder, env=tree.env, stdin=mail)
    assert ": WARNING: " in done.stdout
    done = run(PATCHLINT, "b4-check", cwd=tree.folder, env=tree.env, stdin=b"hello\n", status=2)
    assert done.stderr == "patchlint: standard input: no patch in the input\n"


def test_series_check_reviews_what_b4_tracks(tree: Repository, tmp_path: Path) -> None:
    tree.git("checkout", "-q", "-b", "b4/review/20260101-widgets-abc")
    first = tree.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + PROBE)
    tree.commit("misc: widget: mend it", drivers__misc__widget_c=WIDGET + MENDED)
    tree.commit("b4's own commit")
    tree.git("checkout", "-q", "main")
    tracking = tmp_path / "tracking.json"
    tracking.write_text(json.dumps({"series": {"first-patch-commit": first, "change-id": "20260101-widgets-abc"}}))
    cover = b"From: ada@example.org\nSubject: [PATCH 0/2] widgets\nMessage-ID: <0@example.org>\n\nThey work.\n"
    env = {**tree.env, "B4_TRACKING_FILE": str(tracking)}
    done = run(PATCHLINT, "b4-review", cwd=tree.folder, env=env, stdin=cover)
    (result,) = json.loads(done.stdout)
    assert (result["status"], result["summary"]) == ("warn", "1 note")
    tracking.write_text("[]")
    done = run(PATCHLINT, "b4-review", cwd=tree.folder, env=env, stdin=cover, status=2)
    assert "not a tracking file of b4's" in done.stderr
    assert run(PATCHLINT, "b4-review", cwd=tree.folder, env=tree.env, stdin=cover).stdout == "[]\n"
