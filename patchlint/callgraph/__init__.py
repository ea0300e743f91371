"""callgraph room: see docs/architecture.md."""
