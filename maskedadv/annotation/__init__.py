"""How well do annotators agree on what an item needs, and a language model with their majority?

Fields and statistics follow Thellmann et al. (2026), "Gold vs. Translation".
"""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
