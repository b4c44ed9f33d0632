"""Numbers and names in words, and plain text for terminals."""
