"""review room: see docs/architecture.md."""
