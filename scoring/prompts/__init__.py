"""How a question is asked, as data."""
