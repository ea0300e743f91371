"""series room: see docs/architecture.md."""
