"""Andersen's test: are the columns' parameters the same in groups of rows?

Twice the conditional log likelihood gained by fitting each group of rows for itself (Andersen 1973,
doi:10.1007/BF02291180); eRm's `LRtest`. In this project rows are items: split by difficulty, it asks whether
models stand as far apart on easy items as on hard ones, that is, whether all discriminate alike.

Where cells are split (by language, by ability, by family), one would compare the items' difficulties in
groups of a few cells each, for which χ² is no reference. The same hypothesis, given the items' totals, is
that no item is easier for one group than abilities say: the sum of the items' likelihood ratios, whose
distribution under the model is known item by item (see `item_difference`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from maskedadv.likelihoods import conditional
from maskedadv.likelihoods.item_difference import Distributions, likelihood_ratio

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LikelihoodRatio:
    """A likelihood ratio and what it is referred to.

    Attributes
    ----------
    statistic : twice the log likelihood gained; NaN where nothing can be compared
    expected : its expectation under the model: degrees of freedom of χ², or the mean of its distribution
    p : of a larger one
    """

    statistic: float
    expected: float
    p: float


NOTHING = LikelihoodRatio(float("nan"), float("nan"), float("nan"))


def andersen_test(rows: Array, group: NDArray[np.intp]) -> LikelihoodRatio:
    """The test by groups of rows; columns that are not determined in a group are left out of all of them.

    Parameters
    ----------
    rows : shape (N, K), 0, 1 and NaN
    group : of every row, shape (N,); rows of a negative group do not count
    """
    used = [rows[group == g] for g in np.unique(group[group >= 0])]
    keep = np.ones(rows.shape[1], dtype=bool)
    while True:
        found = [conditional.determined(part[:, keep]) for part in used]
        if all(f.all() for f in found):
            break
        keep[np.flatnonzero(keep)[~np.logical_and.reduce(found)]] = False
        if keep.sum() < 2:
            return NOTHING
    if keep.sum() < 2 or len(used) < 2:
        return NOTHING
    apart = sum(conditional.fit(part[:, keep]).log_likelihood for part in used)
    together = conditional.fit(np.concatenate(used)[:, keep]).log_likelihood
    statistic, df = 2 * (apart - together), (int(keep.sum()) - 1) * (len(used) - 1)
    return LikelihoodRatio(statistic, float(df), float(chi2.sf(statistic, df)))


def split_test(
    spread: Distributions, right: Array, rng: np.random.Generator, draws: int = 4000
) -> LikelihoodRatio:
    """The test by two groups of columns: does any item favour one of them?

    Parameters
    ----------
    spread : of the right answers in one of the groups
    right : shape (N,), those right answers
    draws : of the sum under the model, for its p
    """
    null = spread.at(np.zeros(len(spread.log_weight)))
    counts = np.bincount(spread.group, minlength=len(null))
    ratios = np.zeros_like(null)
    each = Distributions(spread.log_weight, spread.shrink, np.arange(len(null)))
    for t in range(null.shape[1]):
        ratios[:, t] = np.where(null[:, t] > 0, likelihood_ratio(each, np.full(len(null), float(t))), 0.0)
    ratios = np.nan_to_num(ratios) / spread.shrink[:, None]
    free = (null > 0).sum(axis=1) > 1
    if not free[spread.group].any():
        return NOTHING
    statistic = float(ratios[spread.group, right.astype(np.intp)][free[spread.group]].sum())
    sums = np.zeros(draws)
    for g in np.flatnonzero(free & (counts > 0)):
        drawn = rng.multinomial(counts[g], null[g] / null[g].sum(), size=draws)
        sums += drawn @ ratios[g]
    expected = float((counts[free] * (null * ratios).sum(axis=1)[free]).sum())
    return LikelihoodRatio(statistic, expected, float((1 + (sums >= statistic - 1e-9).sum()) / (draws + 1)))
