"""The command ``patchlint``: names its sub-commands and turns every outcome into an exit status.

A sub-command's module is imported when it is asked for, so that ``--version``, completion and the hook stay quick.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NamedTuple

import click

from patchlint import __version__
from patchlint.host.collector import collect_rarely
from patchlint.model import PatchlintError

EXIT_FINDINGS = 1
EXIT_TROUBLE = 2
EXIT_INTERRUPTED = 130


class Entry(NamedTuple):
    """Where a sub-command lives ("module:object") and its line in ``patchlint --help``."""

    target: str
    summary: str


COMMANDS: dict[str, Entry] = {
    "mbox": Entry("patchlint.cli.review:mbox", "Review the patch series in mailboxes."),
    "range": Entry("patchlint.cli.review:range_command", "Review the commits of a git range as a series."),
    "file": Entry("patchlint.cli.review:file_command", "Review whole source files or folders of a tree."),
    "rules": Entry("patchlint.cli.rules:rules", "List the rules."),
    "explain": Entry("patchlint.cli.rules:explain", "Show one rule: what, why, examples, how to silence it."),
    "index": Entry("patchlint.cli.tree:index", "Build or refresh the tree's symbol and call index."),
    "callers": Entry("patchlint.cli.tree:callers", "List the call sites of a function."),
    "callees": Entry("patchlint.cli.tree:callees", "List what a function calls."),
    "graph": Entry("patchlint.cli.graph_commands:graph", "Draw the calls around a function (DOT, SVG)."),
    "keys": Entry("patchlint.cli.keys:keys", "List a tree's static keys: changes, conditions, pairs."),
    "hook": Entry("patchlint.cli.hook:hook", "The git send-email pre-send check."),
    "b4-check": Entry("patchlint.cli.b4:check", "Review one mail for b4 prep --check."),
    "b4-review": Entry("patchlint.cli.b4:review", "Review for b4 review, as its JSON."),
    "nipa": Entry("patchlint.cli.nipa:nipa", "Review HEAD as a test of netdev's NIPA."),
    "github-range": Entry("patchlint.cli.github:github_range", "Find the commits that a GitHub event brings."),
    "config": Entry("patchlint.cli.config:config", "Show the settings that config files make."),
    "completion": Entry("patchlint.cli.completion:completion", "Print the completion script of a shell."),
}


class LazyGroup(click.Group):
    """A group that imports a sub-command only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, _, name = entry.target.partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="patchlint")
def cli() -> None:
    """Review Linux kernel patch series: references, RCU, locks, static keys and cached routes, path by path."""


def main() -> None:
    """Run the command line and exit: 0 clean, 1 findings, 2 could not work, 130 interrupted."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit status of one command line; what went wrong is one line on standard error."""
    collect_rarely()
    try:
        status = cli.main(arguments, prog_name="patchlint", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return EXIT_TROUBLE
    except click.ClickException as error:
        return _trouble(_usage_text(error))
    except PatchlintError as error:
        return _trouble(str(error))
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) left; a flush at exit would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_TROUBLE
    except Exception as error:  # the process boundary: users get one line, not our stack
        if os.environ.get("PATCHLINT_DEBUG"):
            raise
        hint = "please report it; PATCHLINT_DEBUG=1 shows where"
        return _trouble(f"internal error: {type(error).__name__}: {error} ({hint})")
    return status if isinstance(status, int) else 0


def _usage_text(error: click.ClickException) -> str:
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
    hint = f" (see {command} --help)" if command else ""
    return f"{error.format_message()}{hint}"


def _trouble(text: str) -> int:
    print(f"patchlint: {' '.join(text.split())}", file=sys.stderr)
    return EXIT_TROUBLE


if __name__ == "__main__":
    main()
