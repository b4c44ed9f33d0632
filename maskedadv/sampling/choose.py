"""Joint or marginal: the same posterior, so only the cost of a gradient decides."""

from __future__ import annotations

import numpy as np

from maskedadv.sampling.grid import Grid
from maskedadv.sampling.layout import Layout

# Nanoseconds an operation, measured with the embedded engine on one core; only their ratios matter.
_ANSWER = 13.0
_PRODUCT, _LOG, _PATTERN, _SHARE = 5.0, 10.0, 2.0, 4.0


def joint_cost(layout: Layout) -> float:
    """Milliseconds a gradient of the program with explicit difficulties, roughly."""
    return float(sum(a.size for a in layout.answers)) * _ANSWER * 1e-6


def marginal_cost(grids: tuple[Grid, Grid]) -> float:
    """Milliseconds a gradient of the program with difficulties integrated out, roughly."""
    total = 0.0
    for g in grids:
        patterns, cells = g.margins.seen.shape
        nodes, groups = len(g.node), len(g.count)
        per_cell = _PRODUCT if patterns == 1 else _LOG + _PATTERN * patterns
        total += nodes * (cells * per_cell + groups * _SHARE)
    return float(np.asarray(total)) * 1e-6


def too_many_patterns(layout: Layout, limit: int = 2000) -> bool:
    """Whether the patterns of observed cells are so many that building a grid is not worth the try."""
    for answers in layout.answers:
        if answers.shape[1] > limit:
            seen = ~np.isnan(answers)
            if len(np.unique(np.packbits(seen, axis=0), axis=1).T) > limit:
                return True
    return False
