"""source room: see docs/architecture.md."""
