"""Approximate gaps from published accuracies."""
