"""Figures, tables and pages from a fitted result; reads results only."""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
