"""Which language gives a language model better access to local knowledge?

From item-level answers of many models, asked the same questions in a local
language and in a pivot language, `fit` estimates abilities on one logit scale
and three contrasts (`global_gap`, `local_gap`, `knowledge_gap`) with intervals.
"""

from maskedadv.lazily import attach_stub

__version__ = "0.1.0"

# Names are imported when first used, so that `import maskedadv` stays far under a second. Which names there
# are, and where from, stands once, in the stub beside this file, which type checkers read as well.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
