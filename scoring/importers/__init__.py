"""Readers of other harnesses' logs: one file each, pure functions from paths to tidy rows."""
