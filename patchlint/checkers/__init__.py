"""Kernel meaning: what paths, pairs, sections, keys and routes must look like. No rule ids here."""

from patchlint.checkers.beside import NOTHING_BESIDE, Beside, followers, shown_beside
from patchlint.checkers.context import CheckResult, FunctionContext, Mode
from patchlint.checkers.file_facts import FileFacts, file_facts
from patchlint.checkers.function import check_function
from patchlint.checkers.relevance import Relevance, expanded, mentioned
from patchlint.checkers.teardown import Teardowns, other_teardowns, teardowns, undone

__all__ = [
    "NOTHING_BESIDE", "Beside", "CheckResult", "FileFacts", "FunctionContext", "Mode", "Relevance", "Teardowns",
    "check_function", "expanded", "file_facts", "followers", "mentioned", "other_teardowns", "shown_beside",
    "teardowns", "undone",
]  # fmt: skip
