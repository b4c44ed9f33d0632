"""How well do annotators agree on what an item needs, and a language model with their majority?

Fields and statistics follow Thellmann et al. (2026), "Gold vs. Translation".
"""

from __future__ import annotations

from typing import Any

__all__ = ["AnnotationResult", "evaluate"]


def __getattr__(name: str) -> Any:
    """Import on first use (PEP 562)."""
    if name in __all__:
        from maskedadv.annotation import evaluation

        return getattr(evaluation, name)
    raise AttributeError(f"module 'maskedadv.annotation' has no attribute {name!r}")
