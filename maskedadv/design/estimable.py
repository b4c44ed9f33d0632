"""Which differences between cells an estimator will find finite, told before anything is fitted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.components import find_components

Array = NDArray[np.float64]

FEW_CELLS = 40
"""Below this many cells an item, joint maximum likelihood inflates gaps by over 2.5%."""


def joint_parts(answers: Array) -> NDArray[np.intp]:
    """Under joint maximum likelihood, shape (C,): cells and items have to dominate each other in turn.

    Here and below: inside one label differences will be finite and known; −1 for none.
    """
    label = np.full(len(answers), -1, dtype=np.intp)
    for k, (cells, _) in enumerate(find_components(answers).finite_parts()):
        label[cells] = k
    return label


def marginal_parts(answers: Array) -> NDArray[np.intp]:
    """With difficulties integrated out, shape (C,): cells must be neither all right nor all wrong.

    Answers in perfect order have no finite spread of difficulties, and no cell a level.
    """
    components = find_components(answers)
    label = np.full(len(answers), -1, dtype=np.intp)
    if components.finite_parts():
        mean = np.nanmean(answers, axis=1)
        inside = (mean > 0) & (mean < 1)
        label[inside] = components.cell_weak[inside]
    return label


def continuous_parts(answers: Array) -> NDArray[np.intp]:
    """With continuous responses, shape (C,): a chain of items is enough."""
    return find_components(np.where(np.isnan(answers), np.nan, 0.5)).cell_weak
