"""Figures, tables and pages from a fitted result; reads results only."""
