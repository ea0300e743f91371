"""checkers room: see docs/architecture.md."""
