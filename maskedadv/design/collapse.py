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
    total = np.where(seen, answers, 0.0).sum(axis=1)
    # Totals of soft answers come from sums in one order, so equal answers give equal bits; adding 0.0
    # turns -0.0 into 0.0.
    pattern = np.packbits(seen, axis=1)
    key = np.concatenate([pattern, (total + 0.0)[:, None].view(np.uint8)], axis=1)
    rows = np.ascontiguousarray(key).view(np.dtype((np.void, key.shape[1])))[:, 0]
    return np.unique(rows, return_inverse=True)[1]


def collapse(answers: NDArray[np.float64], *, cells: bool = True) -> Groups:
    """Collapse a block, shape (C, I), into groups; `cells=False` keeps every cell apart.

    The bootstrap keeps cells apart: cells with equal totals differ once items are weighted.
    """
    seen = (~np.isnan(answers)).astype(np.float64)
    right = np.where(seen > 0, answers, 0.0)
    item_group = group_rows(answers.T)
    cell_group = group_rows(answers) if cells else np.arange(answers.shape[0])
    return Groups(
        cell_group=cell_group,
        item_group=item_group,
        trials=_sum_groups(seen, cell_group, item_group),
        successes=_sum_groups(right, cell_group, item_group),
    )


def _sum_groups(
    values: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Sum a matrix over groups of rows and columns, both labelled 0, 1, ... without gaps."""
    return np.ascontiguousarray(_sum_rows(np.ascontiguousarray(_sum_rows(values, rows).T), columns).T)


def _sum_rows(values: NDArray[np.float64], group: NDArray[np.intp]) -> NDArray[np.float64]:
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(group[order[-1]] + 1))
    return np.asarray(np.add.reduceat(values[order], starts, axis=0))
