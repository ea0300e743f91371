"""What lasts is shown: a bar on standard error, on terminals only."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


class Bar:
    """A progress bar that appears with the first ``advance`` and leaves no trace; notes stay.

    Without a terminal, or when ``quiet``, only notes are written.
    """

    def __init__(self, what: str, quiet: bool = False) -> None:
        self._what = what
        self._quiet = quiet
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, done: int, total: int) -> None:
        """So many of so many are done."""
        if self._quiet or not sys.stderr.isatty():
            return
        if self._bar is None:
            # rich costs a quarter of a quick review's time: imported only where a bar is really drawn.
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._what, total=total)
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total)

    def note(self, text: str) -> None:
        """Something the user should know."""
        if not self._quiet:
            print(f"patchlint: {text}", file=sys.stderr)
