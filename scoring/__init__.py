"""Produce answers: items, prompts, models, and importers of logs people already have."""
