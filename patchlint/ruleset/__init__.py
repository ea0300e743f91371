"""ruleset room: see docs/architecture.md."""
