"""How many items and models a study needs: power and expected width of the knowledge gap's interval."""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
