"""git as child processes: single commands, and one long-lived ``git cat-file --batch``.

Our own few lines, for every review starts anew: the libraries for git load for longer than a small review takes.
"""

from __future__ import annotations

import os
import re
import subprocess
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

_SETTINGS: Final = ("-c", "core.disambiguate=blob")
_ENVIRONMENT: Final = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C", "LANGUAGE": "C",
}  # fmt: skip
_FOUND: Final = re.compile(rb"([0-9a-f]{40,64}) (\w+) (\d+)\n")
_CHUNK: Final = 1 << 20


class GitError(Exception):
    """A command failed; the text is what git said on standard error."""


class GitMissing(GitError):
    """There is no git."""


class Object(NamedTuple):
    """An object of the repository; ``data`` is None for one that is larger than was asked for."""

    id: str
    kind: str
    data: bytes | None


class Git:
    """git in one folder. Not to be shared between threads or processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._batch: subprocess.Popen[bytes] | None = None

    def run(self, *words: str) -> bytes:
        """Standard output of one command. Raises GitError."""
        with self._start(words) as process:
            out, complaint = process.communicate()
        if process.returncode:
            raise GitError(complaint.decode("utf-8", "replace"))
        return out

    def object(self, name: str, most: int) -> Object | None:
        """The object called ``name``, with its data up to ``most`` bytes; None when there is none.

        ``name`` has no newline. Raises OSError when git does not answer.
        """
        to, answers = self._pipes()
        to.write(name.encode("utf-8", "replace") + b"\n")
        to.flush()
        head = answers.readline()
        found = _FOUND.fullmatch(head)
        if found is None:
            if not head.endswith(b"\n"):
                raise OSError("no answer")
            return None
        data = _read(answers, int(found[3]), most)
        return Object(found[1].decode("ascii"), found[2].decode("ascii"), data)

    def close(self) -> None:
        """End the long-lived process; it is started again when it is needed."""
        if self._batch is not None:
            _end(self._batch)
            self._batch = None

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._batch is None:
            self._batch = self._start(("cat-file", "--batch"), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
            weakref.finalize(self, _end, self._batch)
        assert self._batch.stdin is not None and self._batch.stdout is not None
        return self._batch.stdin, self._batch.stdout

    def _start(
        self, words: tuple[str, ...], stdin: int = subprocess.DEVNULL, stderr: int = subprocess.PIPE
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                ["git", *_SETTINGS, *words], cwd=self._folder, env={**os.environ, **_ENVIRONMENT}, stdin=stdin,
                stdout=subprocess.PIPE, stderr=stderr,
            )  # fmt: skip
        except OSError as error:
            raise GitMissing(str(error)) from error


def _read(answers: IO[bytes], size: int, most: int) -> bytes | None:
    """The data of an answer and the newline behind it."""
    if size <= most:
        data = answers.read(size + 1)
        if len(data) <= size:
            raise OSError("half an answer")
        return data[:-1]
    left = size + 1
    while left and (read := len(answers.read(min(left, _CHUNK)))):
        left -= read
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # it is gone already
                pipe.close()
    process.kill()
    process.wait()
