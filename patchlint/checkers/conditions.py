"""Conditions in disjunctive form: when does a statement run, in terms of the state it depends on.

A condition is a set of terms, a term a set of literals, a literal an atom (canonical text of a test) with the truth
it must have.  ``ALWAYS`` holds the empty term, ``NEVER`` no term.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

Kind = Literal["field", "bit", "global", "call", "param", "progress", "local", "key", "loop", "config"]
"""What a test speaks of.  field, bit: state of an object.  global: a file-level variable.  call: a predicate.
param: what the caller asks for.  progress: whether an earlier step worked.  key: the static key itself.
loop: a further turn.  config: the kernel's configuration.  local: anything else."""

OWNED: Final[frozenset[Kind]] = frozenset(("field", "bit", "global", "call"))
"""Kinds that say something lasting of the object or the system: these must agree between set-up and tear-down."""

STATE: Final[frozenset[Kind]] = frozenset(("field", "bit"))
"""Kinds whose meaning is certain: the truth of a field or flag of the object."""

MAX_TERMS: Final = 16


class Lit(NamedTuple):
    """``atom`` is true (``holds``) or false.  ``old``: it was tested before something that it speaks of was changed."""

    atom: str
    holds: bool
    kind: Kind
    roots: frozenset[str] = frozenset()
    """Local variables and fields whose change makes the literal old."""
    old: bool = False

    @property
    def text(self) -> str:
        """For people: ``!x`` or ``x``."""
        if self.kind == "key":
            return f"{self.atom} is {'on' if self.holds else 'off'}"
        plain = self.atom.replace("_", "a").replace(".", "a").isalnum()
        atom = self.atom if plain or self.holds else f"({self.atom})"
        return atom if self.holds else f"!{atom}"


Term: TypeAlias = frozenset[Lit]
Condition: TypeAlias = frozenset[Term]

ALWAYS: Final[Condition] = frozenset((frozenset(),))
NEVER: Final[Condition] = frozenset()


def either(*conditions: Condition) -> Condition:
    """One of ``conditions`` holds, simplified."""
    terms: set[Term] = set().union(*conditions) if conditions else set()
    return NEVER if not terms else _simplified(terms)


def given(condition: Condition, literal: Lit) -> Condition:
    """``condition`` and, from now on, ``literal``; terms that contradict it go."""
    same = Lit(literal.atom, not literal.holds, literal.kind, literal.roots, literal.old)
    kept: set[Term] = set()
    for term in condition:
        if not literal.old and any(_clash(known, same) for known in term):
            continue
        kept.add(term | {literal})
    return frozenset(kept)


def aged(condition: Condition, root: str) -> Condition:
    """``condition`` after a change of the variable or field ``root``: what speaks of it is old."""
    if not any(root in lit.roots and not lit.old for term in condition for lit in term):
        return condition
    return frozenset(
        frozenset(lit._replace(old=True) if root in lit.roots else lit for lit in term) for term in condition
    )


def settled(condition: Condition, kinds: frozenset[Kind]) -> Condition:
    """``condition`` after something unseen ran: literals of ``kinds`` are old."""
    if not any(lit.kind in kinds and not lit.old for term in condition for lit in term):
        return condition
    return frozenset(
        frozenset(lit._replace(old=True) if lit.kind in kinds else lit for lit in term) for term in condition
    )


def keep(condition: Condition, kinds: frozenset[Kind]) -> Condition:
    """``condition`` as far as literals of ``kinds`` tell it (weaker than or equal to it)."""
    return either(frozenset(_plain(term, kinds) for term in condition)) if condition else condition


def agree(one: Condition, other: Condition) -> bool:
    """Whether both say the same of the lasting state."""
    return keep(one, OWNED) == keep(other, OWNED)


def common(condition: Condition, fresh: bool = False) -> Term:
    """Literals that hold whenever ``condition`` does, without their age; ``fresh``: only those that are not old."""
    terms = [
        frozenset(lit._replace(old=False, roots=frozenset()) for lit in term if not (fresh and lit.old))
        for term in condition
    ]
    return frozenset.intersection(*terms) if terms else frozenset()


def kinds_of(condition: Condition) -> frozenset[Kind]:
    """Kinds of all literals in it."""
    return frozenset(lit.kind for term in condition for lit in term)


def atoms_of(condition: Condition, kinds: frozenset[Kind]) -> frozenset[str]:
    """Atoms of its literals of ``kinds``."""
    return frozenset(lit.atom for term in condition for lit in term if lit.kind in kinds)


def tell(condition: Condition, kinds: frozenset[Kind] | None = None) -> str:
    """``condition`` for people: ``a && !b || c``; "always" for no condition at all."""
    shown = condition if kinds is None else keep(condition, kinds)
    if not shown:
        return "never"
    parts = sorted(" && ".join(sorted(lit.text for lit in term)) for term in shown)
    return " || ".join(parts) or "always"


def _plain(term: Term, kinds: frozenset[Kind]) -> Term:
    return frozenset(lit._replace(old=False, roots=frozenset()) for lit in term if lit.kind in kinds)


def _clash(known: Lit, wanted: Lit) -> bool:
    return known.atom == wanted.atom and known.holds == wanted.holds and not known.old


class _Mask(NamedTuple):
    """A term as two bit sets over the atoms: those that must be true, those that must be false."""

    true: int
    false: int

    def covers(self, other: _Mask) -> bool:
        """Whether all that this term asks, ``other`` asks as well."""
        return not (self.true & ~other.true or self.false & ~other.false)


def _simplified(terms: set[Term]) -> Condition:
    """Merge what differs in the truth of one literal, drop what another term covers, keep the number bounded."""
    if len(terms) == 1:
        return frozenset(terms)
    if len(terms) > MAX_TERMS * 4:
        return frozenset((frozenset.intersection(*terms),))
    atoms = {atom: 1 << at for at, atom in enumerate(sorted({lit.atom for term in terms for lit in term}))}
    known: dict[tuple[int, bool], Lit] = {}
    for lit in sorted(set[Lit]().union(*terms), key=_rank):
        known.setdefault((atoms[lit.atom], lit.holds), lit)
    work = {_mask(term, atoms) for term in terms}
    while True:
        step = _merged(work)
        if step == work:
            break
        work = step
    if len(work) > MAX_TERMS:
        return frozenset((frozenset.intersection(*terms),))
    return frozenset(_term(mask, known, len(atoms)) for mask in work)


def _rank(lit: Lit) -> tuple[bool, str, list[str]]:
    """Which of several literals of one atom stands for all: one that is not old, and always the same one."""
    return lit.old, lit.kind, sorted(lit.roots)


def _mask(term: Term, atoms: Mapping[str, int]) -> _Mask:
    true = false = 0
    for lit in term:
        if lit.holds:
            true |= atoms[lit.atom]
        else:
            false |= atoms[lit.atom]
    return _Mask(true, false)


def _term(mask: _Mask, known: Mapping[tuple[int, bool], Lit], size: int) -> Term:
    found = []
    for at in range(size):
        bit = 1 << at
        if mask.true & bit:
            found.append(known[bit, True])
        if mask.false & bit:
            found.append(known[bit, False])
    return frozenset(found)


def _merged(terms: set[_Mask]) -> set[_Mask]:
    kept: set[_Mask] = set()
    for term in sorted(terms, key=lambda mask: (mask.true.bit_count() + mask.false.bit_count(), mask)):
        shorter = _reduced(term, terms)
        if not any(other.covers(shorter) for other in kept):
            kept = {other for other in kept if not shorter.covers(other)} | {shorter}
    return kept


def _reduced(term: _Mask, terms: set[_Mask]) -> _Mask:
    """``term`` without a literal whose opposite another term, otherwise no stricter, covers."""
    for other in sorted(terms):
        denied = (other.false & term.true) | (other.true & term.false)
        if denied and not denied & (denied - 1):
            rest = _Mask(term.true & ~denied, term.false & ~denied)
            if _Mask(other.true & ~denied, other.false & ~denied).covers(rest):
                return rest
    return term
