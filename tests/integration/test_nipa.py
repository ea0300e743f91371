"""The nipa command as NIPA runs a test: in the tree, with a pipe for the description."""

import os
import subprocess
from pathlib import Path

import pytest
from scratch import MENDED, PATCHLINT, PROBE, WIDGET, Repository, environment, kernel, run


@pytest.fixture
def tree(tmp_path: Path) -> Repository:
    return kernel(tmp_path / "linux", environment(tmp_path))


def judged(tree: Repository, *words: str) -> tuple[int, str, str]:
    """Exit status, description and output."""
    reading, writing = os.pipe()
    env = {**tree.env, "DESC_FD": str(writing)}
    done = subprocess.run(
        [PATCHLINT, "nipa", *words], cwd=tree.folder, env=env, pass_fds=[writing], capture_output=True, text=True
    )
    os.close(writing)
    with os.fdopen(reading) as pipe:
        return done.returncode, pipe.read(), done.stdout


def test_failure_warning_and_success(tree: Repository) -> None:
    tree.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + PROBE)
    status, description, output = judged(tree)
    assert status == 1
    assert description.startswith("1 warning; drivers/misc/widget.c:24: reference to the node 'np'")
    assert description.count("\n") == 1 and len(description) <= 241
    assert "[REF001]" in output
    assert judged(tree, "--fail-on", "error")[0] == 250
    tree.commit("misc: widget: mend it", drivers__misc__widget_c=WIDGET + MENDED)
    assert judged(tree)[:2] == (0, "no findings\n")


def test_without_a_descriptor_and_with_a_wrong_one(tree: Repository) -> None:
    tree.commit("misc: widget: find the node", drivers__misc__widget_c=WIDGET + MENDED)
    run(PATCHLINT, "nipa", cwd=tree.folder, env=tree.env)
    done = run(PATCHLINT, "nipa", cwd=tree.folder, env={**tree.env, "DESC_FD": "x"}, status=2)
    assert done.stderr.startswith("patchlint: DESC_FD x: ")
