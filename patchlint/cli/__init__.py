"""cli room: see docs/architecture.md."""
