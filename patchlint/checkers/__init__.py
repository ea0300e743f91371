"""Kernel meaning: what paths, pairs, sections, keys and routes must look like. No rule ids here."""

from patchlint.checkers.context import CheckResult, FunctionContext, Mode
from patchlint.checkers.file_facts import FileFacts, file_facts
from patchlint.checkers.function import check_function
from patchlint.checkers.relevance import Relevance, expanded, mentioned
from patchlint.checkers.teardown import Teardowns, other_teardowns, teardowns

__all__ = [
    "CheckResult", "FileFacts", "FunctionContext", "Mode", "Relevance", "Teardowns", "check_function", "expanded",
    "file_facts", "mentioned", "other_teardowns", "teardowns",
]  # fmt: skip
