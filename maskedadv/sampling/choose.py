"""Joint or marginal: the same posterior, so only the cost of a gradient decides.

The cost is a count of operations, the same on every machine. A logarithm or exponential with its derivative
counts as `TRANSCENDENTAL` multiplications with theirs, which is about right for any processor: only the ratio
of two counts is used, and within a factor of two of each other either program will do.
"""

from __future__ import annotations

import numpy as np

from maskedadv.sampling.grid import Grid
from maskedadv.sampling.layout import Layout

TRANSCENDENTAL = 4
"""Multiplications, each with its derivative, that a log or exp and its derivative stand for."""

PATTERN, SHARE = 0.75, 1.5
"""The same for a cell in a pattern, and for a group's share at a node, one factor of which is data."""


def joint_cost(layout: Layout) -> int:
    """Operations a gradient of the program with explicit difficulties.

    An answer costs one log1p(exp()) with its derivative, whose exp is a product of two that exist already.
    """
    answers = sum(a.size for a in layout.answers)
    return answers * (TRANSCENDENTAL + 1)


def marginal_cost(grids: tuple[Grid, Grid]) -> int:
    """Operations a gradient of the program with difficulties integrated out.

    A node meets every cell: in a product of factors 1 + exp(ability) exp(-node), two multiplications forwards
    and backwards, where all items were seen by the same cells, else in a log of its own that enters every
    pattern. And a node meets every group of items.
    """
    total = 0
    for g in grids:
        patterns, cells = g.margins.seen.shape
        nodes, groups = len(g.node), len(g.count)
        per_cell = 2 if patterns == 1 else TRANSCENDENTAL + PATTERN * patterns
        total += round(nodes * (cells * per_cell + groups * SHARE))
    return total


def too_many_patterns(layout: Layout, limit: int = 2000) -> bool:
    """Whether the patterns of observed cells are so many that building a grid is not worth the try."""
    for answers in layout.answers:
        if answers.shape[1] > limit:
            seen = ~np.isnan(answers)
            if len(np.unique(np.packbits(seen, axis=0), axis=1).T) > limit:
                return True
    return False
