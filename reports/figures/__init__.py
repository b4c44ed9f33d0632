"""Figures: each function takes a tidy table and returns a plotnine figure, to which layers can be added."""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
