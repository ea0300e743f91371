"""patchlint: a static reviewer for Linux kernel patch series."""

__version__ = "0.1.0"
