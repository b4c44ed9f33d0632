"""Multiple-choice items: one schema, read from public sets."""
