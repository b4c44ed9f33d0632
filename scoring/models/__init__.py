"""Hugging Face models: log-probabilities of options."""
