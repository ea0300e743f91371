import json
from pathlib import Path

import pytest
from scratch import PATCHLINT, Repository, environment, repository, run

Outputs = dict[str, str]


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    origin = repository(tmp_path / "upstream", environment(tmp_path))
    for number in range(5):
        origin.commit(f"base {number}", a_c=f"int a{number};\n")
    origin.git("checkout", "-q", "-b", "topic")
    for number in range(3):
        origin.commit(f"topic {number}", b_c=f"int b{number};\n")
    origin.git("checkout", "-q", "main")
    origin.commit("main goes on", c_c="int c;\n")
    # GitHub serves any commit by its id.
    origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
    return origin


def shallow(upstream: Repository, branch: str) -> Repository:
    """A clone as actions/checkout makes it: one commit deep."""
    folder = upstream.folder.with_name("clone")
    run("git", "clone", "-q", "--depth=1", "-b", branch, upstream.folder.as_uri(), folder, cwd=upstream.folder,
        env=upstream.env)  # fmt: skip
    return Repository(folder, upstream.env)


def ask(clone: Repository, event_name: str, event: object, *words: str, status: int = 0) -> tuple[Outputs, str]:
    home = clone.folder.parent
    (home / "event.json").write_text(json.dumps(event))
    (home / "outputs").write_text("")
    env = {**clone.env, "GITHUB_EVENT_NAME": event_name, "GITHUB_EVENT_PATH": str(home / "event.json"),
           "GITHUB_OUTPUT": str(home / "outputs")}  # fmt: skip
    done = run(PATCHLINT, "github-range", *words, cwd=clone.folder, env=env, status=status)
    lines = (home / "outputs").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines), done.stdout + done.stderr


def test_a_pull_request_in_a_shallow_clone(upstream: Repository) -> None:
    base, head = upstream.git("rev-parse", "main"), upstream.git("rev-parse", "topic")
    clone = shallow(upstream, "topic")
    assert clone.git("rev-parse", "--is-shallow-repository") == "true"
    outputs, said = ask(clone, "pull_request", {"pull_request": {"base": {"sha": base}, "head": {"sha": head}}})
    assert outputs["range"] == f"{base}..{head}"
    assert outputs["commits"] == "3"
    assert outputs["tree"] == upstream.git("rev-parse", "main~1^{tree}")
    assert clone.git("rev-list", "--count", outputs["range"]) == "3"
    assert "3 commits" in said


def test_a_push_and_a_forced_push(upstream: Repository) -> None:
    head = upstream.git("rev-parse", "topic")
    before = upstream.git("rev-parse", "topic~1")
    clone = shallow(upstream, "topic")
    assert ask(clone, "push", {"before": before, "after": head})[0]["range"] == f"{before}..{head}"
    upstream.git("checkout", "-q", "-b", "rewritten", "topic~2")
    rewritten = upstream.commit("another way", d_c="int d;\n")
    outputs, _ = ask(clone, "push", {"before": head, "after": rewritten})
    assert (outputs["range"], outputs["commits"]) == (f"{head}..{rewritten}", "1")


def test_a_new_branch_is_compared_with_the_default_branch(upstream: Repository) -> None:
    head = upstream.git("rev-parse", "topic")
    event = {"before": "0" * 40, "after": head, "ref": "refs/heads/topic", "repository": {"default_branch": "main"}}
    outputs, _ = ask(shallow(upstream, "topic"), "push", event)
    assert outputs["commits"] == "3"


def test_the_first_push_of_the_default_branch_is_its_last_commit(upstream: Repository) -> None:
    head = upstream.git("rev-parse", "main")
    event = {"before": "0" * 40, "after": head, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    outputs, _ = ask(shallow(upstream, "main"), "push", event)
    assert outputs["range"] == f"{upstream.git('rev-parse', 'main~1')}..{head}"


def test_a_deleted_branch_brings_nothing(upstream: Repository) -> None:
    clone = shallow(upstream, "main")
    outputs, said = ask(clone, "push", {"before": upstream.git("rev-parse", "main"), "after": "0" * 40})
    assert outputs["range"] == ""
    assert "no commits to review" in said


def test_a_range_of_the_users_own(upstream: Repository) -> None:
    clone = shallow(upstream, "topic")
    head = upstream.git("rev-parse", "topic")
    assert ask(clone, "schedule", {}, "--range", f"{head}~2..{head}", status=2)[0] == {}
    base = upstream.git("rev-parse", "topic~2")
    assert ask(clone, "schedule", {}, "--range", f"{base}..{head}")[0]["commits"] == "2"


def test_too_many_commits_are_told_not_reviewed(upstream: Repository) -> None:
    base, head = upstream.git("rev-parse", "main"), upstream.git("rev-parse", "topic")
    outputs, said = ask(shallow(upstream, "topic"), "push", {"before": base, "after": head}, "--max-commits", "2")
    assert outputs["range"] == ""
    assert "::warning title=patchlint::not reviewed: 3 commits are more than 2" in said


@pytest.mark.parametrize(
    ("name", "event", "words", "message"),
    [
        ("push", {"before": "1" * 40, "after": "2" * 40}, (), f"{'2' * 40}: not in this clone"),
        ("issues", {}, (), "event 'issues' brings no range of commits: give one with the input 'range'"),
        ("push", [], (), "no event to read"),
        ("push", {}, ("--range", "-x"), "say A..B"),
    ],
)
def test_what_cannot_be_had_is_one_line(
    upstream: Repository, name: str, event: object, words: tuple[str, ...], message: str
) -> None:
    outputs, said = ask(shallow(upstream, "main"), name, event, *words, status=2)
    assert outputs == {}
    assert message in said and said.count("\n") == 1
