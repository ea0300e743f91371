"""host room: see docs/architecture.md."""
