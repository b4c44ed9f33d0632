"""The full posterior of one locale after another by NUTS."""
