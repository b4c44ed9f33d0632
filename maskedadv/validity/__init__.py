"""Is a translated benchmark a valid proxy for a native one? Ranking, incremental validity, stability.

The question and its statistics follow Thellmann et al. (2026), "Gold vs. Translation: Are We Measuring
Language, Knowledge, or Locality in Translated Benchmarks?". `study` runs all of it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Settings", "Study", "read_pairings", "study"]


def __getattr__(name: str) -> Any:
    """Import on first use: statsmodels is heavy (PEP 562)."""
    if name in {"Settings", "Study", "study"}:
        # Not `import maskedadv.validity.study`: the function shares its module's name.
        from maskedadv.validity import runner

        return getattr(runner, name)
    if name == "read_pairings":
        from maskedadv.validity.pairings import read_pairings

        return read_pairings
    raise AttributeError(f"module 'maskedadv.validity' has no attribute {name!r}")
