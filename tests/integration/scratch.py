"""Scratch repositories and runs of the real program for the integration tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PATCHLINT = Path(sys.executable).with_name("patchlint")

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada Example",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada Example",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def environment(home: Path, **more: str) -> dict[str, str]:
    """A clean environment: nothing of the caller's git or patchlint settings."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "GITHUB_", "PATCHLINT_"))}
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_CACHE_HOME": str(home / ".cache")}
    path = f"{PATCHLINT.parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, **IDENTITY, **own, "PATH": path, "LC_ALL": "C.UTF-8", **more}


def run(
    *words: str | Path,
    cwd: Path,
    env: Mapping[str, str],
    status: int | None = 0,
    stdin: bytes | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and check its exit status (None: any)."""
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=dict(env), input=stdin or b"", capture_output=True, timeout=300
    )
    text = subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    )
    if status is not None:
        assert text.returncode == status, f"{words}: exit {text.returncode}\n{text.stdout}\n{text.stderr}"
    return text


class Repository:
    """A repository in a folder, with an environment of its own."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self.folder = folder
        self.env = env

    def git(self, *words: str | Path, status: int | None = 0) -> str:
        """Git's answer."""
        return run("git", *words, cwd=self.folder, env=self.env, status=status).stdout.strip()

    def commit(self, subject: str, body: str = "Because.", **files: str | None) -> str:
        """Write files (``__`` in a name stands for "/", a last ``_c`` for ".c"), commit, and answer the id."""
        for name, text in files.items():
            path = self.folder / path_of(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text or "")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject, "-m", body, "--allow-empty")
        return self.git("rev-parse", "HEAD")


def path_of(name: str) -> str:
    """``drivers__misc__widget_c`` is ``drivers/misc/widget.c``."""
    stem, _, suffix = name.replace("__", "/").rpartition("_")
    return f"{stem}.{suffix}" if suffix in ("c", "h") else name.replace("__", "/")


def repository(folder: Path, env: Mapping[str, str]) -> Repository:
    """An empty repository with the branch main."""
    folder.mkdir(parents=True)
    fresh = Repository(folder, env)
    fresh.git("init", "-q", "-b", "main")
    return fresh


def kernel(folder: Path, env: Mapping[str, str]) -> Repository:
    """A repository that looks like a kernel tree, with one driver."""
    tree = repository(folder, env)
    tree.commit(
        "base", Makefile="VERSION = 6\n", include__linux__of_h="", kernel__fork_c="", drivers__misc__widget_c=WIDGET
    )
    return tree


# A small driver; the series adds a function that forgets of_node_put() on one path, then the last patch may mend it.
WIDGET = """\
// SPDX-License-Identifier: GPL-2.0
#include <linux/device.h>
#include <linux/of.h>

struct widget {
	int ready;
	int speed;
};

static int widget_setup(struct widget *w)
{
	w->ready = 1;
	return 0;
}
"""

PROBE = """
static int widget_probe(struct widget *w)
{
	struct device_node *np;

	np = of_find_node_by_name(NULL, "widget");
	if (!np)
		return -ENODEV;
	if (widget_setup(w))
		return -EIO;
	of_node_put(np);
	return 0;
}
"""

MENDED = PROBE.replace(
    "\tif (widget_setup(w))\n\t\treturn -EIO;\n",
    "\tif (widget_setup(w)) {\n\t\tof_node_put(np);\n\t\treturn -EIO;\n\t}\n",
)

SPEED = """
static void widget_speed(struct widget *w)
{
	w->speed = 2;
}
"""
