"""NumPy core of the test of one item: is it as much easier or harder in one language as the others are?

Given that s of an item's cells answered it right, the number T of right answers in the focal language has
the distribution P(T = t | s; δ) ∝ γ_t(focal) γ_{s−t}(others) e^{δt}: the item's difficulty is gone, δ is how
much easier the item is in the focal language than the abilities say (logit), and T less its expectation at
δ = 0 is the score of δ in the fitted model (Rao 1948; in the conditional Rasch likelihood, Glas & Verhelst
1995, doi:10.1007/978-1-4612-4230-7_5). No normal approximation is needed, as T takes a few values only: the
test is referred to this distribution, by mid-p (Lancaster 1961, doi:10.1080/01621459.1961.10482105). The
likelihood ratio of the same δ stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from maskedadv.likelihoods.conditional import (
    Totals,
    log_epsilon,
    log_sum,
    profile_information,
    row_levels,
    symmetric_functions,
    variances,
)

Array = NDArray[np.float64]

_LARGEST = 40.0
"""Bound (logit) of δ while it is searched for."""


@dataclass(frozen=True)
class Distributions:
    """Of T given the total, one for every group of items that have it in common.

    Attributes
    ----------
    log_weight : shape (G, F + 1), log γ_t(focal) γ_{s−t}(others); -inf where T cannot be t
    shrink : shape (G,), share of the variance of the score that is left once abilities are estimated
    group : shape (N,), group of every item
    """

    log_weight: Array
    shrink: Array
    group: NDArray[np.intp]

    def at(self, delta: Array) -> Array:
        """P(T = t | s; δ), shape (G, F + 1), for δ (G,)."""
        tilted = self.log_weight + delta[:, None] * np.arange(self.log_weight.shape[1])
        return np.asarray(np.exp(tilted - log_sum(tilted)[:, None]))


def distributions(totals: Totals, ability: Array, focal: NDArray[np.bool_]) -> Distributions:
    """Distributions of the focal right answers of every group of items.

    Parameters
    ----------
    totals : of the items
    ability : shape (K,)
    focal : shape (K,), the cells of the focal language
    """
    eps = log_epsilon(totals, ability)
    inside = symmetric_functions(eps[:, focal])[totals.pattern]
    outside = symmetric_functions(eps[:, ~focal])[totals.pattern]
    t = np.arange(inside.shape[1])
    rest = totals.total[:, None] - t
    possible = (rest >= 0) & (rest < outside.shape[1])
    other = np.take_along_axis(outside, np.where(possible, rest, 0), axis=1)
    weight = np.where(possible, inside + other, -np.inf)
    return Distributions(weight, _shrink(totals, ability, focal), totals.group)


def _shrink(totals: Totals, ability: Array, focal: NDArray[np.bool_]) -> Array:
    """1 − c'W⁻c/V of every group: abilities follow the items that they are estimated from."""
    d = variances(totals, ability, row_levels(totals, ability))
    whole = np.maximum(d.sum(axis=1), 1e-300)
    share = d[:, focal].sum(axis=1) / whole
    cross = d * (focal - share[:, None])
    own = cross[:, focal].sum(axis=1)
    inverse = np.linalg.pinv(profile_information(totals, ability), hermitian=True)
    taken = np.einsum("gk,kl,gl->g", cross, inverse, cross)
    return np.asarray(np.clip(1.0 - np.where(own > 0, taken / np.maximum(own, 1e-300), 0.0), 0.05, 1.0))


@dataclass(frozen=True)
class ItemDifference:
    """One test an item; all of shape (N,).

    Attributes
    ----------
    right, expected : focal right answers, and their expectation given the total
    variance : of the former, 0 where the total leaves nothing to chance
    score : (right − expected) over its standard deviation
    z : normal deviate of the mid-p value of T, its tails those of the exact distribution
    effect : δ, logit, positive where the item is easier in the focal language; see `effects`
    lower, upper : limits of δ, infinite where the answers set none
    likelihood_ratio, p_ratio : twice the log likelihood ratio against δ = 0, and p from χ² with 1 df
    """

    right: Array
    expected: Array
    variance: Array
    score: Array
    z: Array
    effect: Array
    lower: Array
    upper: Array
    likelihood_ratio: Array
    p_ratio: Array


def test_items(spread: Distributions, right: Array) -> ItemDifference:
    """Score test, effect without limits, and likelihood ratio of every item.

    Parameters
    ----------
    right : shape (N,), right answers in the focal language
    """
    group, n = spread.group, len(right)
    t = np.arange(spread.log_weight.shape[1])
    null = spread.at(np.zeros(len(spread.log_weight)))
    mean = null @ t
    variance = np.maximum(null @ t**2 - mean**2, 0.0)
    variance = np.where((null > 0).sum(axis=1) > 1, variance, 0.0)
    free = variance[group] > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        score = (right - mean[group]) / np.sqrt(variance[group] * spread.shrink[group])
    z = deviate(null[group], right) / np.sqrt(spread.shrink[group])
    ratio = likelihood_ratio(spread, right)
    nan = np.full(n, np.nan)
    return ItemDifference(
        right=right,
        expected=mean[group],
        variance=variance[group],
        score=np.where(free, score, np.nan),
        z=np.where(free, z, np.nan),
        effect=np.where(free, effects(spread, right), np.nan),
        lower=nan,
        upper=nan,
        likelihood_ratio=np.where(free, ratio, np.nan),
        p_ratio=np.where(free, chi2.sf(ratio, 1), np.nan),
    )


test_items.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's


def deviate(probability: Array, right: Array) -> Array:
    """Normal deviate of P(T < t) + P(T = t)/2, from the smaller tail, shape (N,)."""
    t = np.arange(probability.shape[1])
    at = np.where(t == right[:, None], probability, 0.0).sum(axis=1) / 2
    below = np.where(t < right[:, None], probability, 0.0).sum(axis=1) + at
    above = np.where(t > right[:, None], probability, 0.0).sum(axis=1) + at
    small = np.maximum(np.minimum(below, above), 1e-300)
    return np.asarray(np.where(below < above, ndtri(small), -ndtri(small)))


def effects(spread: Distributions, right: Array) -> Array:
    """δ of every item by penalised maximum likelihood, shape (N,); finite at the edges of T's range.

    The penalty is half the log of the information, which takes the first-order bias out of the estimate
    (Firth 1993, doi:10.1093/biomet/80.1.27): it solves T − E + K₃/(2V) = 0.
    """
    group = spread.group
    t = np.arange(spread.log_weight.shape[1])
    low, high = np.full(len(right), -_LARGEST), np.full(len(right), _LARGEST)
    weight = spread.log_weight[group]
    for _ in range(60):
        middle = (low + high) / 2
        tilted = weight + middle[:, None] * t
        p = np.exp(tilted - log_sum(tilted)[:, None])
        mean = p @ t
        off = t - mean[:, None]
        variance = (p * off**2).sum(axis=1)
        skew = (p * off**3).sum(axis=1)
        slope = right - mean + np.where(variance > 1e-12, skew / np.maximum(2 * variance, 1e-12), 0.0)
        edge = variance <= 1e-12  # all mass on one end: the penalty draws back with a slope of one half
        slope = np.where(edge, right - mean - np.sign(middle) * 0.5, slope)
        up = slope > 0
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    return np.asarray((low + high) / 2)


def likelihood_ratio(spread: Distributions, right: Array) -> Array:
    """2 log of P(T | s; δ̂) over P(T | s; 0), shape (N,); at the edge of T's range P(T | s; δ̂) is 1."""
    t = np.arange(spread.log_weight.shape[1])
    weight = spread.log_weight[spread.group]
    possible = np.isfinite(weight)
    first = np.argmax(possible, axis=1)
    last = weight.shape[1] - 1 - np.argmax(possible[:, ::-1], axis=1)
    at = np.take_along_axis(weight, right.astype(np.intp)[:, None], axis=1)[:, 0]
    null = at - log_sum(weight)
    inner = (right > first) & (right < last)
    low, high = np.full(len(right), -_LARGEST), np.full(len(right), _LARGEST)
    for _ in range(60):
        middle = (low + high) / 2
        tilted = weight + middle[:, None] * t
        mean = np.exp(tilted - log_sum(tilted)[:, None]) @ t
        up = mean < right
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    delta = (low + high) / 2
    best = at + delta * right - log_sum(weight + delta[:, None] * t)
    return np.asarray(np.maximum(2 * (np.where(inner, best, 0.0) - null), 0.0))


def limits(spread: Distributions, right: Array, *, quantile: float, inflation: float) -> tuple[Array, Array]:
    """Limits of δ: where the deviate of the mid-p value, over √inflation, is ± the normal quantile.

    The same test as that of δ = 0, turned round; infinite where T is at the edge of its range.

    Parameters
    ----------
    quantile : of the normal distribution, such as 1.96
    inflation : variance of deviates of items without a difference
    """
    bound = quantile * np.sqrt(inflation)
    weight = spread.log_weight[spread.group]
    t = np.arange(weight.shape[1])
    possible = np.isfinite(weight)
    first = np.argmax(possible, axis=1)
    last = weight.shape[1] - 1 - np.argmax(possible[:, ::-1], axis=1)

    def search(sign: float) -> Array:
        low, high = np.full(len(right), -_LARGEST), np.full(len(right), _LARGEST)
        target = float(ndtr(-bound))
        for _ in range(50):
            middle = (low + high) / 2
            tilted = weight + middle[:, None] * t
            p = np.exp(tilted - log_sum(tilted)[:, None])
            beyond = (t - right[:, None]) * sign
            tail = np.where(beyond > 0, p, 0.0).sum(axis=1) + np.where(beyond == 0, p, 0.0).sum(axis=1) / 2
            # sign −1: P(T ≤ t) falls as δ grows, the upper limit; sign 1: P(T ≥ t) rises, the lower one
            up = tail > target if sign < 0 else tail < target
            low, high = np.where(up, middle, low), np.where(up, high, middle)
        return (low + high) / 2

    lower = np.where(right > first, search(1.0), -np.inf)
    upper = np.where(right < last, search(-1.0), np.inf)
    fixed = first == last
    return np.where(fixed, np.nan, lower), np.where(fixed, np.nan, upper)
