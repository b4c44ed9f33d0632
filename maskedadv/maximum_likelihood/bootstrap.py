"""Weights of items in the bootstrap, and what replicates vary by.

Every item gets an independent Poisson(1) weight, the limit of drawing n of n items with replacement (Hanley
& MacGibbon 2006, doi:10.1016/j.cmpb.2006.04.006). One weight per item id, whatever the block, so that an
item shared by several locales is resampled in all of them at once, and results do not depend on the order
or the number of workers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def item_weights(seed: int, replicate: int, n_items: int) -> NDArray[np.float64]:
    """Weight of every item of the table in one replicate, shape (n_items,)."""
    return np.random.default_rng([seed, replicate]).poisson(1.0, n_items).astype(np.float64)


def variance_of(rows: NDArray[np.float64], interval: str) -> NDArray[np.float64]:
    """Variances from the rows of an uncertainty, shape (C,): of replicates, or a sum of squares.

    Parameters
    ----------
    rows : shape (N, C); replicates are NaN where they failed, and fewer than two have no variance
    """
    if interval != "bootstrap":
        return np.asarray((rows**2).sum(axis=0))
    out = np.full(rows.shape[1], np.nan)
    enough = np.isfinite(rows).sum(axis=0) > 1
    out[enough] = np.nanvar(rows[:, enough], axis=0, ddof=1)
    return out
