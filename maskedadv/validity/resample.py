"""The model bootstrap: how often each model is drawn, and the intervals made from the draws.

A resample of n models with replacement is its vector of counts. Every statistic here takes counts as
weights, so 10,000 resamples are a few matrix products, and drawing whole families is the same thing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

MAX_UNDEFINED = 0.1
"""Largest share of resamples in which a statistic may be undefined before its interval is withheld."""


@dataclass(frozen=True)
class Interval:
    """Two limits, NaN with a `reason` where they cannot be given."""

    lower: float
    upper: float
    reason: str = ""


def generator(seed: int, *labels: str) -> np.random.Generator:
    """A generator for one analysis, so that no result depends on which others run or in what order."""
    return np.random.default_rng([seed, *(zlib.crc32(label.encode()) for label in labels)])


def model_weights(
    n_models: int, n_resamples: int, rng: np.random.Generator, clusters: NDArray[np.integer] | None = None
) -> NDArray[np.float64]:
    """How often each model occurs in each resample.

    Parameters
    ----------
    clusters
        Cluster index of every model, shape (n_models,). If given, whole clusters (model families) are
        drawn with replacement, as many as there are, and the size of a resample varies.

    Returns
    -------
    ndarray, shape (n_resamples, n_models)
    """
    if clusters is None:
        draws = rng.multinomial(n_models, np.full(n_models, 1 / n_models), size=n_resamples)
    else:
        n_clusters = int(clusters.max()) + 1
        draws = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=n_resamples)[
            :, clusters
        ]
    return draws.astype(np.float64)


def in_chunks(
    statistic: Callable[..., NDArray[np.float64]],
    weights: NDArray[np.float64],
    *scores: NDArray[np.float64],
    size: int = 1000,
) -> NDArray[np.float64]:
    """`statistic(weights, *scores)` on a slice of the resamples at a time, to bound the memory.

    Scores of shape (B, n) belong to their resample and are sliced along; others serve every slice.
    """
    slices = (slice(start, start + size) for start in range(0, len(weights), size))
    return np.concatenate(
        [
            statistic(weights[rows], *(s[rows] if s.shape == weights.shape else s for s in scores))
            for rows in slices
        ]
    )


def percentile_interval(draws: NDArray[np.float64], level: float) -> Interval:
    """Equal-tailed percentile interval (Efron & Tibshirani 1993, ch. 13) of the defined draws."""
    tail = (1 - level) / 2
    return _quantiles(draws, (tail, 1 - tail))


def expanded_level(level: float, df: int) -> float:
    """Level at which normal quantiles are as wide as those of t(df) at `level`.

    Percentile intervals of a regression with few observations are too narrow much as normal ones are;
    taking the quantiles at this level mends it (Hesterberg 2015, doi:10.1080/00031305.2015.1089789).
    """
    return float(2 * stats.norm.cdf(stats.t.ppf((1 + level) / 2, df)) - 1)


def bias_corrected_interval(draws: NDArray[np.float64], estimate: float, level: float) -> Interval:
    """Bias-corrected percentile interval (Efron 1981, doi:10.2307/3314608).

    For draws that carry measurement error once more than the estimate does (each draw perturbs scores
    that are already estimates): their median lies as far below the estimate as the estimate lies below
    the error-free value, and this interval moves by twice that.
    """
    finite = draws[np.isfinite(draws)]
    if not len(finite) or not np.isfinite(estimate):
        return _quantiles(draws, (0.5, 0.5))
    below = np.mean(finite < estimate) + 0.5 * np.mean(finite == estimate)
    # One draw short of all or none, so that the correction stays finite.
    shift = stats.norm.ppf(np.clip(below, 1 / (len(finite) + 1), 1 - 1 / (len(finite) + 1)))
    tail = stats.norm.ppf((1 - level) / 2)
    low, high = stats.norm.cdf(2 * shift + np.array([tail, -tail]))
    return _quantiles(draws, (float(low), float(high)))


def _quantiles(draws: NDArray[np.float64], probabilities: tuple[float, float]) -> Interval:
    finite = draws[np.isfinite(draws)]
    undefined = len(draws) - len(finite)
    if len(draws) == 0:
        return Interval(np.nan, np.nan, "no resamples were asked for")
    if undefined > MAX_UNDEFINED * len(draws):
        return Interval(np.nan, np.nan, f"undefined in {undefined:,} of {len(draws):,} resamples")
    if np.ptp(finite) == 0:
        return Interval(np.nan, np.nan, "the same in every resample, which says nothing of its spread")
    lower, upper = np.quantile(finite, probabilities)
    return Interval(float(lower), float(upper))
