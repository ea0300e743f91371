"""``patchlint completion SHELL``: the script that completes commands, options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash: eval "$(patchlint completion bash)" in ~/.bashrc
    zsh:  eval "$(patchlint completion zsh)" in ~/.zshrc
    fish: patchlint completion fish > ~/.config/fish/completions/patchlint.fish
    """
    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(ctx.find_root().command, {}, "patchlint", "_PATCHLINT_COMPLETE").source())
