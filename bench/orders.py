"""Kinds of faults in which a thing is there but too early, too late or of the wrong sort, and pairs left open."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from faults import Body, Edit, Op, without

_PAIRS: Final = ("PAIR001", "REF001", "MEM001", "LCK001")
_DEAD: Final = ("REF002", "REF003", "MEM002", "MEM003")
_GRACE: Final = ("RCU008", "MEM003", "REF003")
_SECTION: Final = ("RCU002", "RCU005", "RCU007", "REF003", "RCU001")
_COUNTERPARTS: Final = (
    ("disable_unprepare", "prepare_enable"), ("unprepare", "prepare"), ("disable", "enable"),
    ("unregister", "register"), ("deregister", "register"), ("unmap", "map"), ("iounmap", "ioremap"),
    ("iounmap", "of_iomap"), ("free_irq", "request_irq"), ("release", "request"), ("free", "alloc"), ("put", "get"),
    ("destroy", "create"), ("remove", "add"), ("del", "add"), ("detach", "attach"), ("stop", "start"),
    ("exit", "init"), ("uninit", "init"), ("fini", "init"), ("cleanup", "init"), ("cleanup", "setup"),
    ("close", "open"), ("put_sync", "get_sync"), ("put_noidle", "get_sync"), ("assert", "deassert"),
    ("power_off", "power_on"), ("unbind", "bind"), ("unload", "load"), ("teardown", "setup"), ("unlink", "link"),
)  # fmt: skip
"""Words of a release and of the acquire it undoes."""
_STATEMENT: Final = re.compile(r"^(?P<indent>\t+)(?!return\b|goto\b|break\b|else\b|if\b|for\b|while\b|\*)[^\t{}]*;$")
_ENDS: Final = re.compile(
    r"^(?P<indent>\t+)(?:\w+_put|put_\w+|k?v?free\w*|kfree_sensitive|\w+_free|free_\w+|\w+_unref|\w+_release)"
    r"\((?P<what>\w+)\);$"
)


_TAKES: Final = r"\w+_hold|\w+_get|get_\w+|refcount_inc|atomic_inc"


def _drop_pair(body: Body) -> Iterator[Edit]:
    """The release of a named pair gone where a path leaves: at a label, or before a return."""
    for at, line in enumerate(body.lines):
        leaves = any(re.match(r"\t+(?:return\b|goto\b)|\w+:$", one) for one in body.lines[at + 1 : at + 4])
        if leaves and _undoes(line, "\n".join(body.lines[:at])):
            yield without(body, at)


def _undoes(line: str, above: str) -> bool:
    """Whether a line calls the counterpart of a call that stands above."""
    call = re.match(r"^\t+(\w+)\(", line)
    if call is None or not line.endswith(");"):
        return False
    for undo, do in _COUNTERPARTS:
        name, count = re.subn(rf"(?:(?<=_)|^){undo}(?=_|$)", do, call[1])
        if count and re.search(rf"\b(?:devm_)?{name}\(", above) and f"devm_{name}(" not in above:
            return True
    return False


def _wrong_label(body: Body) -> Iterator[Edit]:
    """``goto`` the label after the one that undoes what was taken last."""
    labels = [at for at, line in enumerate(body.lines) if re.match(r"^\w+:$", line)]
    for one, other in pairwise(labels):
        above = "\n".join(body.lines[: labels[0]])
        if not any(_undoes(line, above) for line in body.lines[one + 1 : other]):
            continue
        name, later = body.lines[one][:-1], body.lines[other][:-1]
        if sum(re.match(rf"^\t+goto {name};$", line) is not None for line in body.lines) < 2:
            continue  # the compiler tells of a label that nothing jumps to any more
        for at, line in enumerate(body.lines[: labels[0]]):
            if re.match(rf"^\t+goto {name};$", line):
                yield Edit(at, line.replace(f"goto {name};", f"goto {later};"))


def _early_put(body: Body) -> Iterator[Edit]:
    """The end of an object moved before the statement that uses it last."""
    for at, line in enumerate(body.lines[1:], 1):
        ends, before = _ENDS.match(line), _STATEMENT.match(body.lines[at - 1])
        if not ends or not before or before["indent"] != ends["indent"]:
            continue
        above = body.lines[at - 2].strip() if at > 1 else ""
        used = re.search(rf"\b{ends['what']}->", body.lines[at - 1])
        frees_part = re.match(r"^\t+\w*(?:free|put|release)\w*\(", body.lines[at - 1])
        if used and not frees_part and re.search(r"[;{}]$|^$|:$|\*/$", above):
            yield Edit(at - 1, f"{line}\n{body.lines[at - 1]}", (Edit(at, None),))


def _in_section(body: Body) -> Iterator[tuple[int, str]]:
    inside = False
    for at, line in enumerate(body.lines):
        if "rcu_read_unlock" in line:
            inside = False
        elif "rcu_read_lock" in line:
            inside = True
        if inside:
            yield at, line


def _early_unlock(body: Body) -> Iterator[Edit]:
    """The section closed before the statement that uses what was found in it."""
    loaded: set[str] = set()
    for at, line in _in_section(body):
        loaded |= set(re.findall(r"(\w+) = rcu_dereference\w*\(", line))
        closes = re.match(r"^(\t+)rcu_read_unlock\(\);$", body.lines[at + 1]) if at + 1 < len(body.lines) else None
        plain = _STATEMENT.match(line)
        if closes and plain and plain["indent"] == closes[1] and any(re.search(rf"\b{x}->", line) for x in loaded):
            yield Edit(at, f"{body.lines[at + 1]}\n{line}", (Edit(at + 1, None),))


def _late_lock(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines[1:], 1):
        opened = re.match(r"^\t+rcu_read_lock\(\);$", body.lines[at - 1])
        if opened and re.match(r"^\t+\w+ = rcu_dereference\([^;]*;$", line):
            yield Edit(at - 1, f"{line}\n{body.lines[at - 1]}", (Edit(at, None),))


def _no_section(body: Body) -> Iterator[Edit]:
    opens = [at for at, line in enumerate(body.lines) if re.match(r"^\t+rcu_read_lock\(\);$", line)]
    closes = [at for at, line in enumerate(body.lines) if re.match(r"^\t+rcu_read_unlock\(\);$", line)]
    if len(opens) == 1 and closes and "rcu_dereference(" in "\n".join(body.lines):
        yield Edit(opens[0], None, tuple(without(body, at) for at in closes))


def _plain_walk(body: Body) -> Iterator[Edit]:
    for at, line in _in_section(body):
        walk = re.search(r"\bh?list_for_each_entry_rcu\(", line)
        if walk and line.count(",") == 2:
            yield Edit(at, line.replace("list_for_each_entry_rcu(", "list_for_each_entry("))


def _replaced(old: str, new: str) -> Callable[[Body], Iterator[Edit]]:
    def edits(body: Body) -> Iterator[Edit]:
        for at, line in enumerate(body.lines):
            if re.match(rf"^\t+{old}", line):
                yield Edit(at, re.sub(old, new, line, count=1))

    return edits


def _dropped(call: str) -> Callable[[Body], Iterator[Edit]]:
    def edits(body: Body) -> Iterator[Edit]:
        for at, line in enumerate(body.lines):
            if re.match(rf"^\t+(?:{call})\(\);$", line):
                yield without(body, at)

    return edits


def _no_hold(body: Body) -> Iterator[Edit]:
    """A looked-up object used after the lock with no reference: the get and what gives it back are gone."""
    for at, line in enumerate(body.lines):
        takes = re.match(rf"^\t+(?:{_TAKES})\(&?(\w+)(?:->\w+)?\);$", line)
        later = body.lines[at + 1 : at + 4]
        if not takes or not any("unlock" in one for one in later):
            continue
        puts = rf"^\t+(?:\w+_put|put_\w+|kref_put)\(&?{takes[1]}\b[^;]*\);$"
        gone = [i for i, one in enumerate(body.lines) if i > at and re.match(puts, one)]
        if gone:
            yield Edit(at, "\t;", tuple(Edit(i, "\t;") for i in gone))


ORDERS: Mapping[str, Op] = {
    "drop-barrier": Op(("RCU008",), "rcu_barrier();", _dropped("rcu_barrier")),
    "drop-grace": Op(_GRACE, "synchronize_", _dropped("synchronize_rcu|synchronize_net")),
    "drop-pair": Op(_PAIRS, "goto ", _drop_pair),
    "early-put": Op(_DEAD, "->", _early_put),
    "early-rcu-unlock": Op(_SECTION, "rcu_dereference", _early_unlock),
    "free-no-grace": Op(_GRACE, "kfree_rcu", _replaced(r"kfree_rcu\((\w+), \w+\)", r"kfree(\1)")),
    "late-rcu-lock": Op(_SECTION, "rcu_dereference", _late_lock),
    "no-hold": Op(("REF003", "REF005", "RCU002", "RCU007", "MEM003"), "unlock", _no_hold),
    "no-section": Op(_SECTION, "rcu_dereference(", _no_section),
    "plain-unlink": Op(("RCU006",), "list_del_rcu", _replaced(r"(h?list)_del_rcu\(", r"\1_del(")),
    "plain-walk": Op(("RCU006",), "list_for_each_entry_rcu", _plain_walk),
    "wrong-label": Op(_PAIRS, "goto ", _wrong_label),
}
