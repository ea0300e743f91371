"""Writes docs/rules/ from the rules: one page for each, and the list. Run by ``make docs``."""

from pathlib import Path

from patchlint.host.rulefiles import load_ruleset
from patchlint.ruleset.document import pages

FOLDER = Path(__file__).resolve().parent / "rules"


def main() -> None:
    """Write all pages, and take away those of rules that are gone."""
    FOLDER.mkdir(exist_ok=True)
    written = dict(pages(load_ruleset().rules.values()))
    for name, text in written.items():
        (FOLDER / name).write_text(text)
    for path in FOLDER.glob("*.md"):
        if path.name not in written:
            path.unlink()


if __name__ == "__main__":
    main()
