"""The path engine: explores a function's control-flow graph with symbolic states. Knows no kernel name."""

from patchlint.dataflow.callees import Callees
from patchlint.dataflow.explore import explore
from patchlint.dataflow.matching import SEED
from patchlint.dataflow.report import Event, Exit, PathReport, Policy, Released, Site
from patchlint.dataflow.state import Hold, Mark, State, Trail, marks
from patchlint.dataflow.values import Key, Value

__all__ = [
    "SEED", "Callees", "Event", "Exit", "Hold", "Key", "Mark", "PathReport", "Policy", "Released", "Site", "State",
    "Trail", "Value", "explore", "marks",
]
