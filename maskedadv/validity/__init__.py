"""Is a translated benchmark a valid proxy for a native one? Ranking, incremental validity, stability.

The question and its statistics follow Thellmann et al. (2026), "Gold vs. Translation: Are We Measuring
Language, Knowledge, or Locality in Translated Benchmarks?". `study` runs all of it.
"""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
