"""How much more the test statistics of most items spread than independent models would have it.

Relatives answer alike: six copies of one model are one answer, counted six times, and any test that takes
them as six finds differences everywhere. How much the deviates of the bulk of the items exceed what the model
says measures that, whatever its cause, as genomic control does for relatives among people (Devlin & Roeder
1999, doi:10.1111/j.0006-341X.1999.00997.x). Small differences of all translations count towards it, too: what
stands out afterwards stands out of the bulk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import chi2

from maskedadv.likelihoods.item_difference import Distributions, deviate

Array = NDArray[np.float64]

CLIP = 2.0
"""Squared deviates count up to this: items with a real difference shall not hide themselves."""
CLEAR = 1.645
"""Standard errors by which the mean clipped square must exceed its expectation, or nothing is inflated."""
FEWEST = 20
"""Items that a factor is estimated from; with fewer it is not known, and 1 is taken."""


def clipped_mean(factor: float) -> float:
    """E[min(φX, CLIP)] of X ~ χ² with 1 df."""
    edge = CLIP / factor
    return float(factor * chi2.cdf(edge, 3) + CLIP * chi2.sf(edge, 1))


def inflation(spread: Distributions, z: Array, most: float) -> float:
    """Factor φ ≥ 1 by which the variance of deviates exceeds its value for independent models.

    1 where the excess is not clear of chance. T is discrete, so that its deviates spread less than normal
    ones: what is compared is the mean clipped square with its expectation under the exact distributions.

    Parameters
    ----------
    z : shape (N,), deviates of the items, NaN where there is none
    most : largest factor there can be: the number of models, of whom all are copies then
    """
    known = np.isfinite(z)
    if known.sum() < FEWEST or most <= 1.0:
        return 1.0
    null = spread.at(np.zeros(len(spread.log_weight)))
    first, second = np.zeros(len(null)), np.zeros(len(null))
    for value in range(null.shape[1]):
        own = deviate(null, np.full(len(null), value)) / np.sqrt(spread.shrink)
        square = np.minimum(own**2, CLIP)
        first += null[:, value] * square
        second += null[:, value] * square**2
    group = spread.group[known]
    expected = float(first[group].mean())
    error = float(np.sqrt((second - first**2)[group].sum())) / int(known.sum())
    observed = float(np.minimum(z[known] ** 2, CLIP).mean())
    if observed <= expected + CLEAR * error:
        return 1.0
    target = observed / expected * clipped_mean(1.0)
    if target >= clipped_mean(most):
        return float(most)
    return float(brentq(lambda f: clipped_mean(f) - target, 1.0, most))
