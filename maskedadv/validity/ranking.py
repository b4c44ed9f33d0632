"""Do two benchmarks rank the models alike? Kendall's tau_b, its intervals, and the overlap of the top."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from maskedadv.errors import NotEstimable
from maskedadv.validity.resample import Interval, in_chunks

Floats = NDArray[np.float64]
FISHER_FROM, STUDENTISED_FROM = 16, 30
"""Models from which these intervals of tau are gone by; with fewer, percentiles of the resamples."""


def kendall_tau(
    x: Floats, y: Floats, names: tuple[str, str] = ("the first benchmark", "the second benchmark")
) -> tuple[float, float]:
    """Kendall's tau_b and its asymptotic two-sided p (ties corrected).

    Parameters
    ----------
    x, y
        Scores of the same models, shape (n,).
    names
        What they are called, for reasons.

    Raises
    ------
    NotEstimable
        All scores of one side are equal, or there are fewer than three models.

    References
    ----------
    Kendall (1945), doi:10.2307/2332303.
    """
    if len(x) < 3:
        raise NotEstimable(f"{len(x)} models, but a ranking needs 3")
    for name, scores in zip(names, (x, y), strict=True):
        if np.ptp(scores) == 0:
            raise NotEstimable(f"all {len(scores)} models have the same score on {name}")
    result = stats.kendalltau(x, y, variant="b", method="asymptotic")
    return float(result.statistic), float(result.pvalue)


def tau_draws(weights: Floats, x: Floats, y: Floats) -> Floats:
    """tau_b of every resample.

    A model drawn twice ties with itself on both sides, which is what tau_b of the resampled rows gives.

    Parameters
    ----------
    weights
        Shape (B, n), from `model_weights`.
    x, y
        Scores, shape (n,); or (B, n) where every resample perturbs them.

    Returns
    -------
    ndarray, shape (B,)
        NaN where a resample has all scores of a side equal.
    """
    return in_chunks(lambda *part: _weighted_tau(*part)[0], weights, x, y)


def studentised_interval(weights: Floats, x: Floats, y: Floats, level: float) -> Interval:
    """Bootstrap-t interval of tau_b on Fisher's z scale, beside the percentile interval of the paper.

    The percentile interval is too wide at high tau with few models (docs/how-to/validity.md has the coverage
    of both). Standard errors are infinitesimal-jackknife ones, computed in every resample.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, sec. 12.5 and 21.
    """
    tau, variance = _weighted_tau(np.ones((1, len(x))), x, y)
    estimate, error = float(tau[0]), float(np.sqrt(variance[0]))
    if not abs(estimate) < 1 - 1e-12:  # NaN as well as +-1
        return Interval(np.nan, np.nan, "not defined where tau is 1 or -1")
    if not error > 0:
        return Interval(np.nan, np.nan, "the ranks leave no variance to resample")
    draws, variances = in_chunks(lambda *part: np.column_stack(_weighted_tau(*part)), weights, x, y).T
    usable = (np.abs(draws) < 1 - 1e-12) & (variances > 1e-12)
    draws, variances = draws[usable], variances[usable]
    if len(draws) < 0.5 * len(weights):
        return Interval(np.nan, np.nan, "tau is 1 or -1 in most resamples")
    z, z_error = np.arctanh(estimate), error / (1 - estimate**2)
    pivots = (np.arctanh(draws) - z) / (np.sqrt(variances) / (1 - draws**2))
    low, high = np.quantile(pivots, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(np.tanh(z - high * z_error)), float(np.tanh(z - low * z_error)))


def interval_for(n_models: int) -> str:
    """Which interval of tau to go by: of those that keep their level at this size, the narrowest.

    docs/how-to/validity.md has the coverage and the width of each.
    """
    if n_models < FISHER_FROM:
        return "percentile"
    return "Fisher z" if n_models < STUDENTISED_FROM else "studentised"


def fisher_interval(x: Floats, y: Floats, level: float) -> Interval:
    """Interval of tau_b on Fisher's z scale, from its infinitesimal-jackknife standard error and t(n - 2).

    For studies too small to resample a standard error, where the studentised interval is too narrow
    (docs/how-to/validity.md has the coverage of all).

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, sec. 21; Fieller, Hartley & Pearson
    (1957), doi:10.2307/2332878, for the scale.
    """
    tau, variance = _weighted_tau(np.ones((1, len(x))), x, y)
    estimate, error = float(tau[0]), float(np.sqrt(variance[0]))
    if not abs(estimate) < 1 - 1e-12:  # NaN as well as +-1
        return Interval(np.nan, np.nan, "not defined where tau is 1 or -1")
    if not error > 0:
        return Interval(np.nan, np.nan, "the ranks leave no variance")
    half = stats.t.ppf((1 + level) / 2, len(x) - 2) * error / (1 - estimate**2)
    return Interval(float(np.tanh(np.arctanh(estimate) - half)), float(np.tanh(np.arctanh(estimate) + half)))


def _weighted_tau(weights: Floats, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """tau_b and its infinitesimal-jackknife variance under each row of weights."""
    sign_x = np.sign(x[..., :, None] - x[..., None, :])
    sign_y = np.sign(y[..., :, None] - y[..., None, :])
    concordance, differ_x, differ_y = (
        (weights[..., None, :] @ pairs).squeeze(-2) if pairs.ndim == 3 else weights @ pairs
        for pairs in (sign_x * sign_y, np.abs(sign_x), np.abs(sign_y))
    )
    total, total_x, total_y = ((weights * rows).sum(-1) for rows in (concordance, differ_x, differ_y))
    defined = (total_x > 0) & (total_y > 0)
    total_x, total_y = np.where(defined, total_x, np.nan), np.where(defined, total_y, np.nan)
    scale = np.sqrt(total_x * total_y)
    tau = total / scale
    # Half the derivative of tau in the weights: a ratio of quadratic forms. Only its spread counts.
    influence = concordance / scale[:, None] - 0.5 * tau[:, None] * (
        differ_x / total_x[:, None] + differ_y / total_y[:, None]
    )
    size = weights.sum(-1)
    centred = influence - ((weights * influence).sum(-1) / size)[:, None]
    return tau, 4 * (weights * centred**2).sum(-1)


def top_k_overlap(x: Floats, y: Floats, k: int) -> float:
    """How many of the k best models on one benchmark are among the k best on the other, 0 to k.

    Ties at the k-th place are broken at random and the expected overlap is returned: a model strictly
    above the k-th score is in with probability 1, one tied at it with (places left)/(models tied), and
    the two benchmarks break their ties independently. Without such ties this is the plain count. It
    never depends on the order of the models.

    Raises
    ------
    NotEstimable
        There are no more than k models, so that all of them are the top.
    """
    if len(x) <= k:
        raise NotEstimable(f"the top {k} of {len(x)} models is all of them")
    return float(_membership(x, k) @ _membership(y, k))


def _membership(scores: Floats, k: int) -> Floats:
    cut = np.sort(scores)[-k]
    above, tied = scores > cut, scores == cut
    return above + tied * (k - above.sum()) / tied.sum()
