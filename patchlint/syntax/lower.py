"""From the text of one arrangement of a body to its variant: pre-pass, parse, repair, lowering."""

from __future__ import annotations

from patchlint import ir
from patchlint.syntax.dialect import Dialect
from patchlint.syntax.expressions import Context, MacroTable
from patchlint.syntax.outline import Body
from patchlint.syntax.repair import repair
from patchlint.syntax.rewrite import Marks, rewrite
from patchlint.syntax.statements import Statements
from patchlint.syntax.tree import first_error, parse_text
from patchlint.syntax.variants import Arrangement

HEAD = b"int f()"
"""Stands before a body when it is parsed."""


def lower_body(
    body: Body, arrangement: Arrangement, source: bytes, dialect: Dialect, macros: MacroTable
) -> tuple[ir.Variant, int]:
    """Lower one arrangement of a function's body; also the offset of the first error, -1 for none."""
    base = body.open
    rewritten = rewrite(arrangement.text, dialect)
    parsed = parse_text(HEAD + rewritten.text, base - len(HEAD))
    if parsed.error >= 0:
        repaired = repair(rewritten.text, dialect, lambda text: first_error(HEAD + text))
        if repaired is not None:
            parsed = parse_text(HEAD + repaired.text, base - len(HEAD))
            rewritten.marks.heads.update(repaired.heads)
    context = context_of(source, rewritten.marks, base, arrangement, dialect, macros, parsed.error >= 0)
    definition = parsed.root[3][0] if len(parsed.root[3]) == 1 else None
    if definition is None or definition[0] != "function_definition":
        compound = ir.Compound((ir.Broken(base, body.end),), base, body.end - 1)
    else:
        compound = Statements(context).compound(definition[3][-1])
    return ir.Variant(arrangement.config, compound), parsed.error


def context_of(
    source: bytes,
    marks: Marks,
    base: int,
    arrangement: Arrangement,
    dialect: Dialect,
    macros: MacroTable,
    tolerant: bool,
) -> Context:
    """The context for lowering a text whose marks count from ``base`` in ``source``."""
    return Context(
        source=source,
        dialect=dialect,
        types={start + base: end + base for start, end in marks.types.items()},
        heads=frozenset(at + base for at in marks.heads),
        ranges=frozenset(at + base for at in marks.ranges),
        attributes=tuple(item._replace(pos=item.pos + base) for item in marks.attributes),
        enabled=arrangement.decided,
        macros=macros,
        tolerant=tolerant,
    )
