"""Takes the picture of the HTML report that the documents show: .venv/bin/python docs/picture.py"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/report"))

from chromium import MISSING, PROGRAM, chromium  # noqa: E402


def main() -> None:
    """Review the demo series and picture its third finding in a window of 1280 by 900."""
    if PROGRAM is None:
        sys.exit(MISSING)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        words = (
            "mbox",
            "--tree",
            "fixtures/demo/tree",
            "--format",
            "html",
            "--output",
            report,
            "fixtures/demo/series.mbox",
        )
        done = subprocess.run([Path(sys.executable).with_name("patchlint"), *words], cwd=ROOT, check=False)
        if done.returncode != 1:
            sys.exit(f"the demo has findings, so 1 was expected, not {done.returncode}")
        with chromium(Path(folder) / "profile") as page:
            page.open(report.as_uri(), 1280, 900)
            for key in ("j", "j", "j", "Tab", "Tab", "ArrowDown"):
                page.press(key)
            page.value("document.querySelectorAll('article')[2].closest('details').scrollIntoView()")
            page.screenshot(ROOT / "docs/images/report.png", whole=False)


if __name__ == "__main__":
    main()
