"""The numbers behind the exhibits, as tidy tables with intervals from the joint uncertainty.

Every function takes a fit (or a `Joint`, to build it once) and returns a DataFrame. Definitions:
docs/reports.md.
"""

from __future__ import annotations

import importlib
from typing import Any

_LAZY = {
    "Joint": "joint",
    "ability_accuracy": "cells",
    "adapted_versus_general": "groups",
    "by_family": "groups",
    "by_kind": "groups",
    "by_resource_level": "resources",
    "by_size": "groups",
    "home_versus_others": "groups",
    "locale_facts": "facts",
    "locale_means": "means",
    "model_facts": "facts",
    "model_means": "means",
    "overall_means": "means",
    "resource_trend": "resources",
    "sign_shares": "cells",
    "size_slopes": "groups",
    "variant_means": "means",
    "variant_shares": "cells",
}

__all__ = sorted(_LAZY)


def __getattr__(name: str) -> Any:
    """Import on first use (PEP 562)."""
    if name not in _LAZY:
        raise AttributeError(f"module 'maskedadv.summaries' has no attribute {name!r}")
    return getattr(importlib.import_module(f"maskedadv.summaries.{_LAZY[name]}"), name)
