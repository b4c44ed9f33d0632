"""Does any sign or clearness of the gaps change with the choices of an analysis, and what does it hang on?"""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
