"""syntax room: see docs/architecture.md."""
