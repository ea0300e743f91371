"""The path engine: explores a function's control-flow graph with symbolic states. Knows no kernel name."""

from patchlint.dataflow.callees import Callees

__all__ = ["Callees"]
