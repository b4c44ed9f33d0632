"""What a reader of the numbers should know: every kind of warning with its sentence, a file for a concern."""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
