"""Sufficiency: items and cells that must share one estimate, collapsed into groups before fitting.

Under the Rasch likelihood two items with the same observed cells and the same total may be exchanged
without changing the likelihood, so at its unique maximum they share one difficulty; likewise cells with
the same observed items and total share one ability. Holds for any pattern of missing answers and for
answers between 0 and 1 (Andersen 1977, doi:10.1007/BF02293746).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Groups:
    """A block collapsed to (cell group × item group) counts.

    Attributes
    ----------
    cell_group, item_group
        Group of every cell (C,) and item (I,).
    trials, successes
        Answers and right answers of each pair of groups, shape (C', I').
    """

    cell_group: NDArray[np.intp]
    item_group: NDArray[np.intp]
    trials: NDArray[np.float64]
    successes: NDArray[np.float64]


def group_rows(answers: NDArray[np.float64]) -> NDArray[np.intp]:
    """Group of every row of `answers`: same observed columns and same total, shape (n_rows,)."""
    seen = ~np.isnan(answers)
    whole = bool(seen.all())
    # Totals of soft answers come from sums in one order, so equal answers give equal bits; adding 0.0
    # turns -0.0 into 0.0.
    total = (np.ascontiguousarray(answers) if whole else np.where(seen, answers, 0.0)).sum(axis=1) + 0.0
    if whole:  # all patterns are one; whole numbers sort faster than bytes, and in the same order
        return np.unique(total.view(np.uint64).byteswap(), return_inverse=True)[1]
    pattern = np.packbits(seen, axis=1)
    key = np.concatenate([pattern, total[:, None].view(np.uint8)], axis=1)
    rows = np.ascontiguousarray(key).view(np.dtype((np.void, key.shape[1])))[:, 0]
    return np.unique(rows, return_inverse=True)[1]


def collapse(answers: NDArray[np.float64], *, cells: bool = True) -> Groups:
    """Collapse a block, shape (C, I), into groups; `cells=False` keeps every cell apart.

    The bootstrap keeps cells apart: cells with equal totals differ once items are weighted.
    """
    item_group = group_rows(answers.T)
    cell_group = group_rows(answers) if cells else np.arange(answers.shape[0])
    shape = int(cell_group.max(initial=-1)) + 1, int(item_group.max(initial=-1)) + 1
    pair = (cell_group[:, None] * shape[1] + item_group).ravel()
    seen = ~np.isnan(answers).ravel()
    flat = answers.ravel()
    if not seen.all():
        pair, flat = pair[seen], flat[seen]
    trials = np.bincount(pair, minlength=shape[0] * shape[1]).astype(np.float64)
    successes = np.bincount(pair, flat, minlength=shape[0] * shape[1]).astype(np.float64, copy=False)
    return Groups(cell_group, item_group, trials.reshape(shape), successes.reshape(shape))
