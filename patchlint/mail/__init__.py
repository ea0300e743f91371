"""mail room: see docs/architecture.md."""
