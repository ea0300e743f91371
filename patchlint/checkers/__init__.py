"""Kernel meaning: what paths, pairs, sections, keys and routes must look like. No rule ids here."""

from patchlint.checkers.context import CheckResult, FunctionContext, Mode
from patchlint.checkers.function import check_function

__all__ = ["CheckResult", "FunctionContext", "Mode", "check_function"]
