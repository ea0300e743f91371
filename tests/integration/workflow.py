"""Runs the shell steps of a composite action, the way GitHub's runner does; steps with ``uses`` are only noted."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_TERM = re.compile(r"^([\w.-]+) (==|!=) '([^']*)'$")


@dataclass
class Runner:
    """One job: its workspace, its environment and what its steps did."""

    workspace: Path
    home: Path
    env: Mapping[str, str]
    known: dict[str, str]
    log: str = ""
    used: list[dict[str, Any]] = field(default_factory=list)
    failed: str = ""

    def perform(self, steps: list[dict[str, Any]]) -> None:
        """Run steps until one fails."""
        for step in steps:
            if not self._wanted(step.get("if")):
                continue
            if "uses" in step:
                inputs = {key: self._filled(str(value)) for key, value in step.get("with", {}).items()}
                self.used.append({"uses": step["uses"], **inputs})
            elif not self._shell(step):
                self.failed = step["name"]
                return

    @property
    def summary(self) -> str:
        """The job summary so far."""
        file = self.home / "summary"
        return file.read_text() if file.exists() else ""

    def _wanted(self, condition: str | None) -> bool:
        """Conditions are ``a == 'x' && b != 'y'`` here; anything else is a mistake in the test or the action."""
        for term in condition.split(" && ") if condition else []:
            found = _TERM.match(term)
            assert found, f"not understood: {term}"
            if (self.known.get(found[1], "") == found[3]) != (found[2] == "=="):
                return False
        return True

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self.known.get(found[1], ""), text)

    def _shell(self, step: dict[str, Any]) -> bool:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an expression in a script is an injection"
        outputs = self.home / "outputs"
        outputs.write_text("")
        script = self.home / "step.sh"
        script.write_text(step["run"])
        own = {key: self._filled(value) for key, value in step.get("env", {}).items()}
        files = {"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(self.home / "summary")}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace,
            env={**self.env, **files, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
        )
        self.log += done.stdout.decode("utf-8", "replace")
        for line in outputs.read_text().splitlines():
            name, _, value = line.partition("=")
            self.known[f"steps.{step.get('id')}.outputs.{name}"] = value
        return done.returncode == 0
