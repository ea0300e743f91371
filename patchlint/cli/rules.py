"""``rules`` and ``explain``: what patchlint looks for."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from patchlint.driver import rule_book
from patchlint.model import PatchlintError
from patchlint.ruleset import Rule

_FOLDERS = click.option(
    "--rules", "folders", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Further rule files."
)


@click.command()
@_FOLDERS
def rules(folders: tuple[Path, ...]) -> None:
    """List the rules: id, name, severity and confidence, what each says."""
    found = rule_book(folders).rules.values()
    name_width = max(len(rule.name) for rule in found)
    for rule in found:
        click.echo(f"{rule.id}  {rule.name:{name_width}}  {rule.severity:7}  {rule.confidence:6}  {rule.summary}")


@click.command()
@_FOLDERS
@click.argument("rule_id", metavar="RULE")
def explain(folders: tuple[Path, ...], rule_id: str) -> None:
    """Show one rule: what, why it is wrong, a bad and a good example, how to silence it."""
    known = rule_book(folders).rules
    rule = known.get(rule_id.upper()) or next((one for one in known.values() if one.name == rule_id.lower()), None)
    if rule is None:
        near = difflib.get_close_matches(rule_id.upper(), known, 1)
        hint = f"; did you mean {near[0]}?" if near else " (patchlint rules lists them)"
        raise PatchlintError(f"{rule_id}: no such rule{hint}")
    click.echo("\n".join(_explanation(rule)))


def _explanation(rule: Rule) -> Iterator[str]:
    yield f"{rule.id} {rule.name} ({rule.severity}, {rule.confidence} confidence at most, since {rule.since})"
    yield from ("", *textwrap.wrap(rule.summary, 100))
    yield from ("", "Why it is wrong", *_indented(rule.why))
    yield from ("", "Bad", *_indented(rule.bad))
    yield from ("", "Good", *_indented(rule.good))
    if rule.limits:
        yield from ("", "Known limits")
        yield from (line for limit in rule.limits for line in _item(limit))
    yield from ("", "To silence it", f"  --ignore {rule.id} for one run, or for one patch, below its --- line:")
    yield f"  patchlint: ignore {rule.id} FUNCTION: the reason"
    if rule.references:
        yield from ("", "References", *(f"  {reference}" for reference in rule.references))


def _indented(text: str) -> list[str]:
    return textwrap.indent(text.strip("\n"), "  ").split("\n")


def _item(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), 96, initial_indent="  - ", subsequent_indent="    ")
