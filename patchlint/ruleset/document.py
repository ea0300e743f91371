"""The rules as documentation: one Markdown page for each, and the list of all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from patchlint.ruleset.rule import Rule

FAMILIES = {
    "RCU": "RCU",
    "REF": "References",
    "MEM": "Memory",
    "LCK": "Locks",
    "ATM": "Atomic context",
    "PAIR": "Other pairs",
    "KEY": "Static keys",
    "DST": "Routes",
    "SER": "Series",
}
"""Headings of the list by the letters of an id; others stand under their letters."""


def pages(rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    """(file name, text) of all pages, the list (``README.md``) first."""
    known = list(rules)
    yield "README.md", list_page(known)
    for rule in known:
        yield f"{rule.id}.md", rule_page(rule)


def rule_page(rule: Rule) -> str:
    """The page of one rule."""
    language = "diff" if rule.checker == "series" else "c"
    parts = [
        f"# {rule.id}: {rule.name}",
        _sentence(rule.summary),
        f"{rule.severity} · at most {rule.confidence} confidence · since {rule.since}",
        "## Why",
        rule.why.strip(),
        "## Bad",
        _code(rule.bad, language),
        "## Good",
        _code(rule.good, language),
        *_limits(rule),
        "## To silence it",
        _silencing(rule),
        *_references(rule),
    ]
    return "\n\n".join(parts) + "\n"


def list_page(rules: Iterable[Rule]) -> str:
    """The list of all rules, by family."""
    lines = [
        "# The rules",
        "",
        "Made from `rules/` by `make docs`. `patchlint explain RULE` shows the same in the terminal.",
    ]
    heading = ""
    for rule in sorted(rules, key=_order):
        letters = rule.id.rstrip("0123456789")
        if letters != heading:
            heading = letters
            lines += ["", f"## {FAMILIES.get(letters, letters)}", "", "| rule | says | severity |", "|---|---|---|"]
        lines.append(f"| [{rule.id} {rule.name}]({rule.id}.md) | {rule.summary} | {rule.severity} |")
    return "\n".join(lines) + "\n"


def _order(rule: Rule) -> tuple[int, str]:
    letters = rule.id.rstrip("0123456789")
    families = list(FAMILIES)
    return (families.index(letters) if letters in families else len(families)), rule.id


def _sentence(text: str) -> str:
    text = text.strip()
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _code(text: str, language: str) -> str:
    text = text.strip("\n")
    return f"```{language}\n{text}\n```"


def _limits(rule: Rule) -> list[str]:
    return ["## Known limits", "\n".join(f"- {limit}" for limit in rule.limits)] if rule.limits else []


def _silencing(rule: Rule) -> str:
    return (
        f"For one run: `--ignore {rule.id}`. For one patch, below its `---` line:\n\n"
        f"```\npatchlint: ignore {rule.id} FUNCTION: the reason\n```"
    )


def _references(rule: Rule) -> list[str]:
    """Paths are those of the kernel tree."""
    if not rule.references:
        return []
    return ["## References", "\n".join(f"- `{reference}`" for reference in rule.references)]
