"""The tree: who defines, calls, stores and exports what, and what a call does according to the callee's body."""

from patchlint.callgraph.context import Contexts
from patchlint.callgraph.index import TreeIndex
from patchlint.callgraph.names import choose, include_paths, world
from patchlint.callgraph.postings import BUCKETS, MAX_FILES, bucket_of, invert, look_up, pack
from patchlint.callgraph.scan import CallSite, Definition, FileScan
from patchlint.callgraph.sites import (
    KeySite,
    RcuField,
    TableEntry,
    Write,
    key_sites,
    rcu_fields,
    static_keys,
    table_entries,
    writers,
)
from patchlint.callgraph.store import NoStore, Store
from patchlint.callgraph.summaries import FileCallees, TreeCallees
from patchlint.callgraph.words import token, tokens

__all__ = [
    "BUCKETS",
    "MAX_FILES",
    "CallSite",
    "Contexts",
    "Definition",
    "FileCallees",
    "FileScan",
    "KeySite",
    "NoStore",
    "RcuField",
    "Store",
    "TableEntry",
    "TreeCallees",
    "TreeIndex",
    "Write",
    "bucket_of",
    "choose",
    "include_paths",
    "invert",
    "key_sites",
    "look_up",
    "pack",
    "rcu_fields",
    "static_keys",
    "table_entries",
    "token",
    "tokens",
    "world",
    "writers",
]
