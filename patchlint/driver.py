"""The pipeline: the only place that touches files, git, the clock and processes (through host/)."""
