"""Function variants as control-flow graphs."""

from patchlint.cfg.build import build
from patchlint.cfg.flatten import hides_flow, parts, render, walk
from patchlint.cfg.graph import (
    Block,
    Branch,
    Cfg,
    Choice,
    Cleanup,
    EnterGuard,
    Halt,
    Havoc,
    Jump,
    Leave,
    LeaveGuard,
    Op,
    Select,
    Terminator,
    Turn,
    successors,
)
from patchlint.cfg.loops import loop_places, loops

__all__ = [
    "Block", "Branch", "Cfg", "Choice", "Cleanup", "EnterGuard", "Halt", "Havoc", "Jump", "Leave", "LeaveGuard",
    "Op", "Select", "Terminator", "Turn", "build", "hides_flow", "loop_places", "loops", "parts", "render",
    "successors", "walk",
]
