"""Which language gives a language model better access to local knowledge?

From item-level answers of many models, asked the same questions in a local
language and in a pivot language, `fit` estimates abilities on one logit scale
and three contrasts (`global_gap`, `local_gap`, `knowledge_gap`) with intervals.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# Names are imported when first used, so that `import maskedadv` stays far under a second.
_LAZY: dict[str, str] = {
    "check": "maskedadv.design.check:check",
    "datasets": "maskedadv.datasets",
    "fit": "maskedadv.fitting:fit",
    "load": "maskedadv.result.save:load",
    "read_responses": "maskedadv.responses:read_responses",
}

__all__ = ["__version__", *_LAZY]


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    target = _LAZY.get(name)
    if target is None:
        raise AttributeError(f"module 'maskedadv' has no attribute {name!r}")
    module = importlib.import_module(target.partition(":")[0])
    attribute = target.partition(":")[2]
    return getattr(module, attribute) if attribute else module


def __dir__() -> list[str]:
    return sorted(__all__)
