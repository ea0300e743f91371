"""Kinds of faults of our own making: how a sound function's lines are changed so that it forgets, or comes too early.

The places are chosen by the text of the function alone, so a few plants are no faults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

_LEAKS = ("REF001", "REF004", "MEM001", "PAIR001")


class Body(NamedTuple):
    """The lines of a function's body, and where in the file (from 0) its head and the first of them stand."""

    name: str
    head: int
    first: int
    lines: list[str]
    returned: str = ""
    """What its head says before its name."""


class Edit(NamedTuple):
    """What to write in place of one line (by its number in the body); None removes it; others in ``also``."""

    at: int
    line: str | None
    also: tuple[Edit, ...] = ()


class Op(NamedTuple):
    """A kind of fault: the rules that may speak of it, a word its files hold, the edits that a body allows."""

    rules: tuple[str, ...]
    word: str
    edits: Callable[[Body], Iterator[Edit]]


# ------------------------------------------------------------------ what is planted

_LOCKS = re.compile(
    r"^\s*(?:(?P<mutex>mutex)_unlock|(?P<spin>spin)_unlock(?:_bh|_irq|_irqrestore)?|(?:up)_(?P<sem>read|write)"
    r"|(?P<rw>read|write)_unlock(?:_bh|_irq|_irqrestore)?)\((?P<lock>[^,()]+(?:\([^()]*\))?[^,()]*)(?:, \w+)?\);$"
)
_TAKES_MEMORY = r"k[mzvc]\w*alloc\w*|kvm?alloc\w*|kmem\w*dup\w*|kstrn?dup\w*|v[mz]alloc\w*|kasprintf"
_TAKES_REFERENCE = (
    r"of_(?:get|find|parse_phandle|node_get)\w*|alloc_skb|\w+_skb_alloc|skb_(?:clone|copy)|nlmsg_new|genlmsg_new"
    r"|pci_get_(?!drvdata)\w+|dev_get_by\w+|fget|bus_find_device\w*|class_find_device\w*|clk_get|get_device|try_module_get|alloc_page"
)
_GIVES = re.compile(
    r"^\s*(?:kv?free|kfree_skb|nlmsg_free|vfree|of_node_put|fput|pci_dev_put|dev_put|put_device|sock_put|clk_put"
    r"|ip_rt_put|dst_release|fwnode_handle_put|usb_put_dev|usb_free_urb|dev_kfree_skb\w*|kobject_put)\((?P<what>\w+)\);$"
)


def _drop_put(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        gives = _GIVES.match(line)
        takes = gives and re.compile(rf"\b{gives['what']} =\s+\(?(?:{_TAKES_MEMORY}|{_TAKES_REFERENCE})\(")
        if takes and takes.search("\n".join(body.lines[:at])):
            yield without(body, at)


def _drop_unlock(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        gives = _LOCKS.match(line)
        if gives and any("lock" in one and _takes(gives, one) for one in body.lines[:at]):
            yield without(body, at)


def _takes(gives: re.Match[str], line: str) -> bool:
    verb = "down_" if gives["sem"] else "lock"
    return f"({gives['lock']}" in line and verb in line and "unlock" not in line


def _drop_rcu(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        if re.match(r"\s*rcu_read_unlock(?:_bh)?\(\);$", line) and _opened(body, at):
            yield without(body, at)


def _wrong_flavour(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        if re.match(r"\s*rcu_read_unlock(?:_bh|_sched)?\(\);$", line) and _opened(body, at):
            other = "rcu_read_unlock_bh" if "unlock()" in line else "rcu_read_unlock"
            yield Edit(at, re.sub(r"rcu_read_unlock\w*", other, line))


def _opened(body: Body, at: int) -> bool:
    return any("rcu_read_lock" in line for line in body.lines[:at])


def _access_pointer(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        loads = re.search(r"(\w+) = rcu_dereference(?:_bh|_sched)?\((?!.*rcu_dereference)", line)
        if loads and not line.lstrip().startswith("*") and _followed(body, at, loads):
            yield Edit(at, re.sub(r"rcu_dereference(?:_bh|_sched)?\(", "rcu_access_pointer(", line))


def _followed(body: Body, at: int, loads: re.Match[str]) -> bool:
    """Whether the pointer is followed before it is loaded anew, as far as the next lines tell."""
    for line in body.lines[at + 1 : at + 12]:
        if re.search(rf"\b{loads[1]}->", line):
            return True
        if re.search(rf"\b{loads[1]} = ", line):
            return False
    return False


def _gfp_in(opens: str, closes: str) -> Callable[[Body], Iterator[Edit]]:
    """Edits of an atomic allocation between two calls, as the text has them."""

    def edits(body: Body) -> Iterator[Edit]:
        inside = False
        for at, line in enumerate(body.lines):
            if re.match(r"\s*(?:/\*|\*)", line):
                continue
            if re.search(opens, line):
                inside = True
            elif re.search(closes, line) or (line.startswith("}") or re.match(r"^\w+:$", line)):
                inside = False
            if inside and re.search(r"[(,|] ?GFP_ATOMIC\b(?! *[?=])", line) and "?" not in line:
                yield Edit(at, line.replace("GFP_ATOMIC", "GFP_KERNEL"))

    return edits


def _goto_to_return(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        jump = re.match(r"^(\s+)goto (\w+);$", line)
        below = "\n".join(body.lines[at:])
        label = jump and re.search(rf"^\s*{jump[2]}:\n((?:.*\n){{1,6}})", below, re.M)
        given = [one for one in (label[1].split("\n") if label else ()) if _GIVES.match(one) or _LOCKS.match(one)]
        dead = "BUG()" in body.lines[at - 1]
        if jump and not dead and any(_held(body, at, one) for one in given):
            yield Edit(at, jump[1] + _failing(body.returned))


def _failing(returned: str) -> str:
    """How a function that returns this leaves when it fails."""
    if "*" in returned:
        return "return NULL;"
    kind = returned.split()[-1:]
    return "return;" if kind == ["void"] else "return false;" if kind == ["bool"] else "return -EINVAL;"


def _held(body: Body, at: int, line: str) -> bool:
    """Whether what ``line`` gives back is taken before the jump, and not just found missing."""
    lock, gives = _LOCKS.match(line), _GIVES.match(line)
    before = body.lines[: max(at - 1, 0)]
    if lock:
        return _locked(before, lock)
    assert gives is not None
    takes = re.search(
        rf"\b{gives['what']} =\s+\(?(?:{_TAKES_MEMORY}|{_TAKES_REFERENCE})\(", "\n".join(before)
    )
    absent = rf"!{gives['what']}\b|\b{gives['what']} == NULL|IS_ERR\w*\({gives['what']}\)"
    missing = re.search(absent, "\n".join(body.lines[max(at - 3, 0) : at]))
    return takes is not None and missing is None


def _locked(before: Sequence[str], lock: re.Match[str]) -> bool:
    """Whether the lock is held after these lines; an unlock that leaves at once is another path's."""
    held = False
    for at, line in enumerate(before):
        gives = _LOCKS.match(line)
        if _takes(lock, line):
            held = True
        elif gives and gives["lock"] == lock["lock"]:
            leaves = any(re.match(r"\s*(?:return|goto|continue|break)\b", one) for one in before[at + 1 : at + 4])
            held = held and leaves
    return held


def _iterator_exit(body: Body) -> Iterator[Edit]:
    walked: set[str] = set()
    for at, line in enumerate(body.lines):
        loop = re.search(r"\bfor_each_\w*(?:child|endpoint|node|property)\w*_?\w*\((.*)\)", line)
        if loop and ("of_node" in line or "endpoint" in line or "compatible" in line or "fwnode" in line):
            walked |= set(re.findall(r"\w+", loop[1]))
        puts = re.match(r"^\s*(?:of_node_put|fwnode_handle_put)\((\w+)\);$", line)
        ends = at + 1 < len(body.lines) and re.match(r"\s*(?:return|goto|break)\b", body.lines[at + 1])
        if puts and ends and puts[1] in walked:
            yield without(body, at)


def _drop_key_dec(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        if re.match(r"^\s*static_branch_(?:slow_)?(?:dec|disable)\w*\(&\w+\);$", line):
            yield without(body, at)


def _cookie_zero(body: Body) -> Iterator[Edit]:
    for at, line in enumerate(body.lines):
        asked = re.search(r"\b(?:__)?(?:sk_)?dst_check\((.*), ([^,()]*cookie)\)", line)
        if asked:
            yield Edit(at, line[: asked.start(2)] + "0" + line[asked.end(2) :])


OPS: Mapping[str, Op] = {
    "access-pointer": Op(("RCU003",), "rcu_dereference", _access_pointer),
    "cookie-zero": Op(("DST001",), "dst_check(", _cookie_zero),
    "drop-key-dec": Op(("KEY001", "KEY002", "KEY003"), "static_branch_d", _drop_key_dec),
    "drop-put": Op(_LEAKS, "", _drop_put),
    "drop-rcu-unlock": Op(("RCU001",), "rcu_read_unlock", _drop_rcu),
    "drop-unlock": Op(("LCK001",), "lock", _drop_unlock),
    "gfp-in-rcu": Op(
        ("RCU004", "ATM001"), "GFP_ATOMIC", _gfp_in(r"\brcu_read_lock(?:_bh)?\(\)", r"\brcu_read_unlock")
    ),
    "gfp-in-spinlock": Op(
        ("ATM001",), "GFP_ATOMIC",
        _gfp_in(r"\b(?:spin|read|write)_lock(?:_bh|_irq|_irqsave)?\(", r"\b(?:spin|read|write)_unlock"),
    ),
    "goto-to-return": Op((*_LEAKS, "LCK001", "RCU001"), "goto ", _goto_to_return),
    "iterator-exit": Op(("REF004", "REF001"), "for_each_", _iterator_exit),
    "wrong-rcu-flavour": Op(("RCU001",), "rcu_read_unlock", _wrong_flavour),
}  # fmt: skip


def without(body: Body, at: int) -> Edit:
    """The line removed, or made empty where it is all that a condition or a label governs."""
    before = next((one for one in reversed(body.lines[:at]) if one.strip()), "")
    after = next((one.strip() for one in body.lines[at + 1 :] if one.strip()), "")
    indent = re.match(r"\s*", body.lines[at])
    alone = re.search(r"(?:\)|\belse)$", before) or (re.match(r"\s*\w+:$", before) and after in ("", "}"))
    return Edit(at, (indent[0] if indent else "") + ";" if alone else None)
