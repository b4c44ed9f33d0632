"""Which differences between cells an estimator will find finite, told before anything is fitted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.components import find_components

Array = NDArray[np.float64]

FEW_CELLS = 40
"""Below this many cells an item, joint maximum likelihood inflates gaps by over 2.5%."""


def chosen_estimator(answers: Array, estimator: str, response: str) -> str:
    """`joint` or `marginal` for `auto`, by the median number of cells an item; else what was asked for."""
    if response != "binary":
        return "joint"
    if estimator != "auto":
        return estimator
    typical = float(np.median((~np.isnan(answers)).sum(axis=0)))
    return "joint" if typical >= FEW_CELLS else "marginal"


def known_parts(answers: Array, estimator: str, response: str) -> NDArray[np.intp]:
    """Label of every cell, shape (C,): inside one label differences will be finite and known; −1 for none.

    Joint maximum likelihood needs cells and items that dominate each other in turn; with difficulties
    integrated out it is enough that a cell is neither all right nor all wrong, unless the answers are in
    perfect order; continuous responses need a chain of items only.
    """
    if response == "crm":
        return find_components(np.where(np.isnan(answers), np.nan, 0.5)).cell_weak
    components = find_components(answers)
    parts = components.finite_parts()
    label = np.full(len(answers), -1, dtype=np.intp)
    if chosen_estimator(answers, estimator, response) == "joint":
        for k, (cells, _) in enumerate(parts):
            label[cells] = k
    elif parts:
        mean = np.nanmean(answers, axis=1)
        inside = (mean > 0) & (mean < 1)
        label[inside] = components.cell_weak[inside]
    return label
