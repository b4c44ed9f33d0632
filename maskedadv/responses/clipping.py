"""Probabilities so near to 0 or 1 that their logits are held back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

EPSILON = 1e-6
"""Probabilities are held this far from 0 and 1 where no log-odds are given: logits of at most ±13.8."""


def count_clipped(p: NDArray[np.float64], logit: NDArray[np.float64] | None) -> int:
    """How many probabilities without log-odds lie within `EPSILON` of 0 or 1."""
    used = np.isnan(logit) if logit is not None else np.ones(len(p), dtype=bool)
    return int((used & ((p < EPSILON) | (p > 1.0 - EPSILON))).sum())
