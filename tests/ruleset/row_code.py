"""C that uses one acquire row as its data says, rightly and wrongly: every row proves that it works."""

from __future__ import annotations

from itertools import compress
from typing import NamedTuple

from patchlint.effects import ANY, NEG, POS, ZERO, Effect, Family, Place, Summary
from patchlint.ruleset import Models


class Use(NamedTuple):
    """All that one call acquires when it succeeds, with the releases that end it."""

    families: tuple[Family, ...]
    source: str
    """Two functions, ``bad_NAME`` and ``ok_NAME``."""


def use_of(models: Models, name: str) -> Use | None:
    """A use of what a call of ``name`` acquires by its rows; None when it acquires nothing, or turns one hold
    into another."""
    summary = models.summary(name)
    effects = [effect for effect in summary.effects if effect.action == "acquire"] if summary else []
    if summary is None or not effects:
        return None
    if any(effect.action == "release" and not effect.null_ok for effect in summary.effects):
        return None
    families = tuple(family for effect in effects if (family := models.family(effect.resource)) is not None)
    assert len(families) == len(effects)
    ends = [_release(models, effect, family) for effect, family in zip(effects, families, strict=True)]
    sure = min(effects, key=lambda effect: effect.when.bit_count())
    held = [bool(effect.when & sure.when) for effect in effects]
    owed = "".join(end for effect, end in zip(effects, ends, strict=True) if effect.when & ~sure.when)
    begin = _begin(summary, sure, owed)
    releases = " ".join(compress(ends, held))
    return Use(
        tuple(compress(families, held)), "".join(_function(kind, name, begin, releases) for kind in ("bad", "ok"))
    )


def _function(kind: str, name: str, begin: str, releases: str) -> str:
    return (
        f"int {kind}_{name}(struct lantern *l, struct lantern *it)\n{{\n\tunsigned long flags;\n"
        f"{begin}\tif (l->dead)\n\t\t{{ {releases if kind == 'ok' else ''} return -EIO; }}\n"
        f"\tl->uses++;\n\t{releases}\n\treturn 0;\n}}\n\n"
    )


def _release(models: Models, effect: Effect, family: Family) -> str:
    end = models.summary(family.releases[0])
    assert end is not None
    ending = next(one for one in end.effects if one.action == "release" and one.resource == family.name)
    held = f"it->{effect.place.path}" if effect.place.path else "it"
    return _call(end.name, {**_given(ending.place, held, ending), **_cookie(ending)}) + ";"


def _begin(summary: Summary, effect: Effect, owed: str) -> str:
    """The acquire and the branch that leaves when it failed, giving back what is held (``owed``) even then."""
    place = effect.place
    if place.root == "result":
        call = _call(summary.name, _cookie(effect))
        return f"\tit = {call};\n{_failed('it', summary.result, effect.when, owed)}"
    arguments = {**_given(place, "it", effect), **_cookie(effect)} if place.root == "arg" else _cookie(effect)
    call = _call(summary.name, arguments)
    if effect.key is not None and effect.key.root == "result":
        return f"\tflags = {call};\n"
    if summary.result == ANY and effect.when == ANY:
        return f"\t{call};\n"
    return f"\tint err = {call};\n{_failed('err', summary.result, effect.when, owed)}"


def _failed(what: str, result: int, when: int, owed: str) -> str:
    """Leaves the function when ``what`` is in none of the classes in which the effect happens."""
    missing = result & ~when
    tests = {
        NEG | POS: f"IS_ERR({what})" if what == "it" else f"{what} < 0 || {what} > 0",
        NEG: f"IS_ERR({what})" if what == "it" else f"{what} < 0",
        ZERO: f"!{what}",
        POS: f"{what} > 0",
        NEG | ZERO: f"IS_ERR_OR_NULL({what})" if what == "it" else f"{what} <= 0",
        ZERO | POS: f"{what} >= 0",
    }
    return f"\tif ({tests[missing]}) {{\n\t\t{owed} return -EBUSY;\n\t}}\n" if missing else ""


def _given(place: Place, what: str, effect: Effect) -> dict[int, str]:
    if place.root != "arg":
        return {}
    return {place.index: f"&{what}" if place.deref and not place.path and effect.action == "acquire" else what}


def _cookie(effect: Effect) -> dict[int, str]:
    return {effect.key.index: "flags"} if effect.key is not None and effect.key.root == "arg" else {}


def _call(name: str, arguments: dict[int, str]) -> str:
    count = max(arguments, default=-1) + 1
    return f"{name}({', '.join(arguments.get(index, '0') for index in range(count))})"
