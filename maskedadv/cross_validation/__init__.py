"""Which model of the answers predicts answers that it has not seen? Folds, candidates, scores."""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
