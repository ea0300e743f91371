"""What the documents say of settings, inputs and formats is what there is."""

import re
import tomllib
from pathlib import Path

import pytest

from patchlint.host.config import KEYS, parse_config
from patchlint.report import FORMATS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / name).read_text(), re.MULTILINE | re.DOTALL)


def first_cells(name: str) -> set[str]:
    """The code in the first cell of each table row."""
    rows = re.findall(r"^\| (`[^|]*`) \|", (DOCS / name).read_text(), re.MULTILINE)
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


def test_the_settings_example_has_every_key_and_is_accepted() -> None:
    (example,) = blocks("configuration.md", "toml")
    assert set(tomllib.loads(example)) == set(KEYS)
    assert len(parse_config(example, "example", Path()).values) == len(KEYS)


def test_every_format_is_listed() -> None:
    assert first_cells("reports.md") == set(FORMATS)


def test_every_input_output_and_event_of_the_action_is_listed() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not here (.ci/setup-tools installs it)")
    action = yaml.safe_load((DOCS.parent / "action.yml").read_text())
    named = {*action["inputs"], *action["outputs"], "pull_request", "push", "merge_group"}
    assert first_cells("github-action.md") == named


def test_links_lead_somewhere() -> None:
    for page in DOCS.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            assert "://" in target or (DOCS / target).exists(), f"{page.name}: {target}"
