"""cfg room: see docs/architecture.md."""
