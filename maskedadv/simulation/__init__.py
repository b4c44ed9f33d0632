"""Simulated response tables with a known truth, from plain numbers or in the likeness of a result."""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
