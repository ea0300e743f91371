"""report room: see docs/architecture.md."""
