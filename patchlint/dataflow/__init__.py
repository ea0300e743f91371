"""dataflow room: see docs/architecture.md."""
