"""NumPy core of the paired gap: each model by itself, on the items that it answered in both languages.

Given one model, one item and that exactly one of its two answers is right, the right one is the local answer
with probability logit⁻¹(gap): the item's difficulty cancels, and with it whatever else the two answers share,
such as that this model happens to know this very item (Cox 1958, doi:10.1111/j.2517-6161.1958.tb00292.x;
Andersen 1970, doi:10.1111/j.2517-6161.1970.tb00842.x). The conditional maximum likelihood estimate is
log(n10/n01). No other model enters, so relatives in the table cannot move it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.likelihoods.tails import beta_quantile

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """A subset's answers as pairs; J models, I items.

    Attributes
    ----------
    local : shape (J, I), 1 where the local answer alone is right, else 0
    pivot : shape (J, I), 1 where the pivot answer alone is right, else 0
    both : shape (J, I), whether the model answered the item in both languages

    Notes
    -----
    For answers between 0 and 1, `local` is y_local(1 − y_pivot) and `pivot` y_pivot(1 − y_local): their
    expectations given an item keep the ratio e^gap as long as the noise of the two is independent.
    """

    local: Array
    pivot: Array
    both: NDArray[np.bool_]


def find_pairs(local: Array, pivot: Array) -> Pairs:
    """Pairs from the answers of the same models to the same items in two languages, (J, I), NaN for none."""
    both = ~(np.isnan(local) | np.isnan(pivot))
    one, other = np.where(both, local, 0.0), np.where(both, pivot, 0.0)
    return Pairs(one * (both - other), other * (both - one), both)


def log_ratio(n_local: Array, n_pivot: Array) -> Array:
    """log(n10/n01): minus or plus infinity where one count is 0, NaN where both are; no clamp."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(n_local) - np.log(n_pivot))


def counts(pairs: Pairs, weight: Array | None = None) -> tuple[Array, Array]:
    """n10 and n01 of every model, shapes (J,); with item weights (B, I), shapes (B, J)."""
    if weight is None:
        return pairs.local.sum(axis=1), pairs.pivot.sum(axis=1)
    return weight @ pairs.local.T, weight @ pairs.pivot.T


def influence(pairs: Pairs) -> Array:
    """Change of every model's log(n10/n01) with the weight of every item, shape (I, J).

    0 for a model whose gap is not finite. For right and wrong answers the squares of a model's column add up
    to 1/n10 + 1/n01, its inverse conditional information.
    """
    n_local, n_pivot = counts(pairs)
    finite = (n_local > 0) & (n_pivot > 0)
    up = np.where(finite, 1.0 / np.where(finite, n_local, 1.0), 0.0)
    down = np.where(finite, 1.0 / np.where(finite, n_pivot, 1.0), 0.0)
    return np.asarray((pairs.local * up[:, None] - pairs.pivot * down[:, None]).T)


def conditional_score(pairs: Pairs, gap: Array) -> tuple[Array, Array]:
    """Every item's conditional score of every model's gap at given gaps (I, J), and the information (J,).

    Its expectation is 0 at the true gaps whatever the items and models share; 0 for a gap that is not finite.
    """
    known = np.isfinite(gap)
    p = np.where(known, expit(np.where(known, gap, 0.0)), 0.0)[:, None]
    score = np.where(known[:, None], pairs.local * (1.0 - p) - pairs.pivot * p, 0.0)
    information = ((pairs.local + pairs.pivot) * p * (1.0 - p)).sum(axis=1)
    return score.T, information


def one_sided(n_local: Array, n_pivot: Array, level: float) -> tuple[Array, Array]:
    """Exact interval (logit) of gaps one of whose counts is 0; NaN elsewhere.

    Clopper & Pearson (1934, doi:10.1093/biomet/26.4.404) for the share of local answers among n discordant
    pairs. The end on the side of the infinite estimate is infinite.
    """
    tail = (1.0 - level) / 2
    n = n_local + n_pivot
    edge = beta_quantile(1.0 - tail, 1.0, np.where(n > 0, n, 1.0))  # largest share that 0 of n leaves open
    with np.errstate(divide="ignore"):  # of soft answers n may be so small that nothing is excluded
        reach = np.log(edge) - np.log1p(-edge)
    lower, upper = np.full(n.shape, np.nan), np.full(n.shape, np.nan)
    never = (n_local == 0) & (n > 0)
    always = (n_pivot == 0) & (n > 0)
    lower[never], upper[never] = -np.inf, reach[never]
    lower[always], upper[always] = -reach[always], np.inf
    return lower, upper


def mean_difference(local: Array, pivot: Array) -> tuple[Array, Array]:
    """Mean paired difference of continuous answers (J,), and its influence by item (I, J).

    The paired gap of the continuous response model, whose item effects cancel in the difference. NaN, with an
    influence of 0, for a model without a pair.
    """
    difference = local - pivot
    both = ~np.isnan(difference)
    n = both.sum(axis=1)
    total = np.where(both, difference, 0.0).sum(axis=1)
    mean = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    off = np.where(both, difference - np.where(n > 0, mean, 0.0)[:, None], 0.0)
    return mean, (off / np.maximum(n, 1)[:, None]).T
