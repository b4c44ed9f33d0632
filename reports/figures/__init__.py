"""Figures: each function takes a tidy table and returns a plotnine figure, to which layers can be added."""

from __future__ import annotations

import importlib
from typing import Any

_LAZY = {
    "ability_accuracy": "ability",
    "cross_validation": "crossval",
    "diagnostics": "checks",
    "forest": "forests",
    "gap_heatmap": "heatmap",
    "masked_advantage": "advantage",
    "predictive_checks": "checks",
    "resource_trend": "resources",
    "scale_curves": "scale",
    "wright_map": "wright",
}

__all__ = sorted(_LAZY)


def __getattr__(name: str) -> Any:
    """Import on first use (PEP 562)."""
    if name not in _LAZY:
        raise AttributeError(f"module 'maskedadv.reports.figures' has no attribute {name!r}")
    return getattr(importlib.import_module(f"maskedadv.reports.figures.{_LAZY[name]}"), name)
