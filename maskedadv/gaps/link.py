"""The scale link: how far apart the same models stand on CS and on CA items, in English.

Logits are measured in units of the items' discrimination. If CS items discriminate less than CA items,
every CS gap shrinks with them and a knowledge gap appears from nothing. The pivot-language abilities of the
same models on both pools tell the ratio: λ = sd θ(CS, pivot) / sd θ(CA, pivot), the noise of estimation taken
out. The linked knowledge gap is local_gap/λ − global_gap. It assumes that in the pivot language the models
spread equally on both pools.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.likelihoods.tails import t_quantile

Array = NDArray[np.float64]

FEWEST = 8
"""Fewer models than this say too little about a ratio of spreads."""
FEW = 20
"""Under this many models λ is shown with a warning."""
LOOSE = 0.5
"""Under this correlation of CA and CS abilities λ is shown with a warning."""


@dataclass(frozen=True)
class Link:
    """The ratio of spreads.

    Attributes
    ----------
    ratio : λ; NaN where it cannot be told
    slope : the same by orthogonal regression of CS on CA abilities, noise taken out of both
    log_sd : standard error of log λ
    lower, upper : 95% interval of λ
    models : models it rests on
    correlation : of CA and CS abilities in the pivot language, noise taken out
    rows_ca, rows_cs : shapes (K_ca,), (K_cs,); change of log λ along the uncertainty rows of either block
    own_sd : part of log_sd that is not in those rows (few models, noise of the noise), widened from normal
        quantiles to those of t, since intervals of linked gaps use the former
    reason : why the ratio is not known, empty where it is
    """

    ratio: float
    slope: float
    log_sd: float
    lower: float
    upper: float
    models: int
    correlation: float
    rows_ca: Array
    rows_cs: Array
    own_sd: float
    reason: str = ""


def find_link(ca: Array, rows_ca: Array, cs: Array, rows_cs: Array) -> Link:
    """λ from the pivot-language abilities of the same models on both subsets.

    Parameters
    ----------
    ca, cs : shape (J,), abilities (logit); NaN or infinite ones are left out
    rows_ca, rows_cs : shapes (K_ca, J), (K_cs, J); covariance of the abilities is rows.T @ rows

    Returns
    -------
    Link
        The variance of log λ has three parts: the abilities' uncertainty (delta method), the noise of the
        noise correction, and that J models are a sample: (1 − ρ²)/(J − 1) for correlation ρ (Pitman-Morgan),
        which takes abilities for normal; where leaving out one model after the other shows more (skewed
        abilities), that counts instead. The interval uses t with J − 2 degrees of freedom.
    """
    use = np.isfinite(ca) & np.isfinite(cs)
    models = int(use.sum())
    if models < FEWEST:
        return _unknown(
            len(rows_ca), len(rows_cs), models, f"a link needs {FEWEST} models, here are {models}"
        )
    variance_ca, gradient_ca, noise_ca = _spread(ca[use], rows_ca[:, use])
    variance_cs, gradient_cs, noise_cs = _spread(cs[use], rows_cs[:, use])
    if min(variance_ca, variance_cs) <= 0:
        return _unknown(
            len(rows_ca), len(rows_cs), models, "the models' pivot abilities do not spread beyond noise"
        )
    along_ca, along_cs = -0.5 * gradient_ca / variance_ca, 0.5 * gradient_cs / variance_cs
    covariance = float(np.cov(ca[use], cs[use])[0, 1])
    correlation = float(np.clip(covariance / np.sqrt(variance_ca * variance_cs), -1.0, 1.0))
    own = (
        (1.0 - correlation**2) / (models - 1)
        + (0.5 * noise_ca / variance_ca) ** 2
        + (0.5 * noise_cs / variance_cs) ** 2
    )
    carried = float(along_ca @ along_ca + along_cs @ along_cs)
    own = max(own, _jackknife(ca[use], rows_ca[:, use], cs[use], rows_cs[:, use]) - carried)
    log_sd = float(np.sqrt(carried + own))
    reach = float(t_quantile(0.975, models - 2))
    ratio = float(np.sqrt(variance_cs / variance_ca))
    return Link(
        ratio=ratio,
        slope=_major_axis(variance_ca, variance_cs, covariance),
        log_sd=log_sd,
        lower=float(ratio * np.exp(-reach * log_sd)),
        upper=float(ratio * np.exp(reach * log_sd)),
        models=models,
        correlation=correlation,
        rows_ca=along_ca,
        rows_cs=along_cs,
        own_sd=float(np.sqrt(own)) * reach / 1.959964,
    )


def link_from_draws(ca: Array, cs: Array, spread_ca: Array, spread_cs: Array, correlation: Array) -> Link:
    """λ from the posterior of the hierarchical scales, draw by draw.

    Parameters
    ----------
    ca, cs : shape (J,), posterior means of the pivot-language abilities; NaN leaves a model out of the count
    spread_ca, spread_cs : shape (S,), draws of the sd of pivot-language abilities over models
    correlation : shape (S,), draws of the models' correlation between the two

    Returns
    -------
    Link
        `ratio` is the geometric mean of the draws of λ, the interval equal-tailed.
    """
    models = int((np.isfinite(ca) & np.isfinite(cs)).sum())
    if models < FEWEST:
        return _unknown(0, 0, models, f"a link needs {FEWEST} models, here are {models}")
    log_ratio = np.log(spread_cs / spread_ca)
    slopes = [
        _major_axis(a**2, b**2, a * b * r) for a, b, r in zip(spread_ca, spread_cs, correlation, strict=True)
    ]
    lower, upper = np.quantile(spread_cs / spread_ca, [0.025, 0.975])
    return Link(
        ratio=float(np.exp(log_ratio.mean())),
        slope=float(np.median(slopes)),
        log_sd=float(log_ratio.std(ddof=1)),
        lower=float(lower),
        upper=float(upper),
        models=models,
        correlation=float(correlation.mean()),
        rows_ca=np.zeros(0),
        rows_cs=np.zeros(0),
        own_sd=0.0,
    )


def _spread(ability: Array, rows: Array) -> tuple[float, Array, float]:
    """Variance over models less that of noise, its change along the rows, the sd of the noise's own share."""
    n = len(ability)
    centred = ability - ability.mean()
    noise = rows - rows.mean(axis=1, keepdims=True)
    variance = float(centred @ centred - (noise**2).sum()) / (n - 1)
    along = 2.0 * (noise @ centred) / (n - 1)
    gram = noise.T @ noise
    return variance, along, float(np.sqrt(2.0 * (gram**2).sum()) / (n - 1))


def _jackknife(ca: Array, rows_ca: Array, cs: Array, rows_cs: Array) -> float:
    """Variance of log λ from leaving out one model after the other; 0 where a spread then vanishes."""
    n = len(ca)
    logs = np.zeros(n)
    for sign, ability, rows in ((-0.5, ca, rows_ca), (0.5, cs, rows_cs)):
        centred = ability - ability.mean()
        noise = rows - rows.mean(axis=1, keepdims=True)
        without = (centred @ centred - centred**2 * n / (n - 1)) / (n - 2) - (noise**2).sum() / (n - 1)
        if without.min() <= 0:
            return 0.0
        logs += sign * np.log(without)
    return float((n - 1) / n * ((logs - logs.mean()) ** 2).sum())


def _major_axis(variance_ca: float, variance_cs: float, covariance: float) -> float:
    """Slope of the major axis: orthogonal regression of CS on CA."""
    if covariance == 0:
        return float("nan")
    difference = variance_cs - variance_ca
    return float((difference + np.sqrt(difference**2 + 4 * covariance**2)) / (2 * covariance))


def _unknown(n_ca: int, n_cs: int, models: int, reason: str) -> Link:
    nan = float("nan")
    return Link(nan, nan, nan, nan, nan, models, nan, np.zeros(n_ca), np.zeros(n_cs), nan, reason)
