"""The ``sendemail-validate`` hook of a repository: written, kept up to date, removed; its settings in git config."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Literal, NamedTuple

from patchlint.model import PatchlintError

NAME = "sendemail-validate"
KEPT = f"{NAME}.before-patchlint"
"""What an earlier hook is called while ours calls it."""

MARK = "# written by patchlint hook install"

Outcome = Literal["installed", "updated", "removed", "restored", "absent"]

_FINDINGS = 10
"""The status that nothing but findings can give: a broken Python or a signal has others."""

# Whatever happens to the program (gone, killed, out of memory), the shell around it says so and decides.
_SCRIPT = """#!/bin/sh
{mark}; remove it with: patchlint hook uninstall
# Reviews the whole series before git send-email sends its first mail.
kept="$(dirname "$0")/{kept}"
if [ -x "$kept" ]; then
	"$kept" "$@" || exit $?
fi
say() {{ echo "patchlint: $*" >&2; }}
if [ "${{PATCHLINT_SKIP:-0}}" = 1 ]; then
	say "not reviewed (PATCHLINT_SKIP)"
	exit 0
fi
if [ "$(git config --type=bool --get patchlint.skip)" = true ]; then
	say "not reviewed (git config patchlint.skip)"
	exit 0
fi
{command} hook run --findings-status {findings} "$@"
status=$?
case $status in
0 | 130) exit $status ;;
{findings}) exit 1 ;;
esac
say "the review did not work (exit status $status)"
if [ "$(git config --get patchlint.onCrash)" = pass ]; then
	say "NOT REVIEWED, and sent all the same (git config patchlint.onCrash is pass)"
	exit 0
fi
say "not sent; PATCHLINT_SKIP=1 sends without a review, git config patchlint.onCrash pass does so after every crash"
exit 1
"""


class Change(NamedTuple):
    """What was done, where, and whether an earlier hook is (or was) kept beside it."""

    outcome: Outcome
    hook: Path
    kept: bool


def hooks_folder(repository: Path) -> Path:
    """The folder git takes hooks from; respects ``core.hooksPath`` and linked work trees."""
    answer = _git(repository, "rev-parse", "--git-path", "hooks")
    if not answer:
        raise PatchlintError(f"{repository}: not in a git repository")
    return (repository / Path(answer).expanduser()).absolute()


def state_folder(repository: Path) -> Path:
    """Where sendings of this repository are gathered."""
    return (repository / _git(repository, "rev-parse", "--git-path", "patchlint/sendings")).absolute()


def install(folder: Path) -> Change:
    """Write our hook; a hook that is there already is kept under another name and called first."""
    hook, kept = folder / NAME, folder / KEPT
    ours = _is_ours(hook)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(hook) and not ours:
            if os.path.lexists(kept):
                raise PatchlintError(f"{kept} is there already and {hook} is not ours: remove one of them")
            hook.rename(kept)
        _write(hook)
    except OSError as error:
        raise PatchlintError(f"{hook}: {error.strerror}") from error
    return Change("updated" if ours else "installed", hook, os.path.lexists(kept))


def uninstall(folder: Path) -> Change:
    """Remove our hook and put back the one it replaced; a hook that is not ours is left alone."""
    hook, kept = folder / NAME, folder / KEPT
    if not _is_ours(hook):
        return Change("absent", hook, os.path.lexists(kept))
    try:
        hook.unlink()
        if not os.path.lexists(kept):
            return Change("removed", hook, False)
        kept.rename(hook)
    except OSError as error:
        raise PatchlintError(f"{hook}: {error.strerror}") from error
    return Change("restored", hook, True)


def setting(repository: Path, name: str) -> str:
    """``git config patchlint.NAME`` ("" where unset)."""
    return _git(repository, "config", "--get", f"patchlint.{name}")


def _git(repository: Path, *arguments: str) -> str:
    """Git's answer without its newline; "" when it has none."""
    try:
        done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise PatchlintError(f"git: {error.strerror}") from error
    return done.stdout.rstrip("\n") if done.returncode == 0 else ""


def _is_ours(hook: Path) -> bool:
    try:
        return MARK in hook.read_text(errors="replace")
    except OSError:
        return False


def _write(hook: Path) -> None:
    """Whole or not at all, executable."""
    # -P keeps the folder the hook runs in, somebody's source tree, out of Python's module path.
    command = f"{shlex.quote(sys.executable)} -P -m patchlint.cli.main"
    fresh = hook.with_name(f".{NAME}.{os.getpid()}")
    fresh.write_text(_SCRIPT.format(mark=MARK, kept=KEPT, command=command, findings=_FINDINGS))
    fresh.chmod(0o755)
    fresh.replace(hook)
