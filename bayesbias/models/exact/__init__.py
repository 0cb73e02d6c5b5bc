"""The exact engine; DESIGN.md explains its mathematics."""
