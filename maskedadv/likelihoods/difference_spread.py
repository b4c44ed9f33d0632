"""How much items differ in what a language does to them: the sd τ of their differences δ ~ N(0, τ²).

One number for a whole subset beside the tests of single items. Given an item's total, T has a distribution in
δ alone (see `item_difference`), which is integrated over δ; the likelihood is maximised in τ. As it takes
models as independent, relatives raise it: with them τ is an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from maskedadv.likelihoods.conditional import log_sum
from maskedadv.likelihoods.item_difference import Distributions

Array = NDArray[np.float64]

_Z = np.linspace(-5.5, 5.5, 45)
_LOG_WEIGHT = -0.5 * _Z**2 - log_sum(-0.5 * _Z**2)
_LARGEST = 8.0


@dataclass(frozen=True)
class Spread:
    """The sd of differences.

    Attributes
    ----------
    tau : logit; NaN where nothing is known
    likelihood_ratio : twice the log likelihood gained against τ = 0
    p : of τ = 0, from the mixture of 0 and χ² with 1 df in equal parts, τ being at its bound (Self & Liang
        1987, doi:10.1080/01621459.1987.10478472)
    """

    tau: float
    likelihood_ratio: float
    p: float


def difference_spread(spread: Distributions, right: Array) -> Spread:
    """Maximum likelihood of τ.

    Parameters
    ----------
    right : shape (N,), right answers in the focal language
    """
    possible = np.isfinite(spread.log_weight).sum(axis=1) > 1
    free = possible[spread.group]
    if not free.any():
        return Spread(float("nan"), float("nan"), float("nan"))
    pairs, count = np.unique(
        np.stack([spread.group[free], right[free].astype(np.intp)]), axis=1, return_counts=True
    )
    weight, t = spread.log_weight[pairs[0]], np.arange(spread.log_weight.shape[1])
    at = np.take_along_axis(weight, pairs[1][:, None], axis=1)[:, 0]

    def log_likelihood(tau: float) -> float:
        terms = []
        for z, log_mass in zip(_Z, _LOG_WEIGHT, strict=True):
            norm = log_sum(weight + tau * z * t)
            terms.append(log_mass + at + tau * z * pairs[1] - norm)
        return float(count @ log_sum(np.stack(terms, axis=1)))

    found = minimize_scalar(lambda tau: -log_likelihood(tau), bounds=(0.0, _LARGEST), method="bounded")
    none = log_likelihood(0.0)
    gained = max(2 * (-float(found.fun) - none), 0.0)
    tau = float(found.x) if gained > 1e-6 else 0.0
    return Spread(tau, gained, float(chi2.sf(gained, 1) / 2) if gained > 0 else 1.0)
