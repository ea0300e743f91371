"""Source room: what files were before and are after each patch, in memory."""

from patchlint.source.apply import AppliedPatch, apply_patch, apply_series
from patchlint.source.blob import blob_id, is_placeholder
from patchlint.source.reader import TreeReader

__all__ = ["AppliedPatch", "TreeReader", "apply_patch", "apply_series", "blob_id", "is_placeholder"]
