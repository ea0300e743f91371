"""The import direction, and the signs of decay that can be counted."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "patchlint"
FILES = sorted(PACKAGE.rglob("*.py"))
BELOW_DRIVER = [
    path for path in FILES if path.parent.name not in ("cli", "host") and path.name not in ("driver.py", "__init__.py")
]
LISTS = {"ir.py"}
"""Files that are one list of values, a class for each sort of node: longer, and no harder to read for it."""
HANDS = {"subprocess", "git", "sqlite3", "multiprocessing", "concurrent", "time", "tempfile", "socket", "shutil"}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]


def test_rooms_import_only_rooms_below_them() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", BELOW_DRIVER, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_below_the_driver_has_hands(path: Path) -> None:
    assert HANDS.isdisjoint(imports(path))
    calls = [node.func.id for node in ast.walk(ast.parse(path.read_text()))
             if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]  # fmt: skip
    assert "open" not in calls


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 400 or path.name in LISTS
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, f"{node.name} is long"


@pytest.mark.parametrize("path", BELOW_DRIVER, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_stand_at_the_top_and_no_except_is_broad(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            inner = [one for one in ast.walk(node) if isinstance(one, ast.Import | ast.ImportFrom)]
            assert not inner, f"import inside {node.name}"
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None and ast.unparse(node.type) not in ("Exception", "BaseException")
