"""A second opinion on the link: one pivot-language ability per model for both pools, one slope per pool.

Where a model's CA and CS answers in the pivot language rest on one and the same ability, a 2PL with one
discrimination per subset is identified: θ(CS, pivot) = α + λ θ(CA, pivot). Its likelihood is maximised here
in the quadratic form that the two subsets' estimates and their covariances give it (York 1966,
doi:10.1139/p66-090, there for uncorrelated errors). How much worse it fits than free abilities tests the
assumption.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.likelihoods.tails import chi2_above, chi2_upper, f_above, f_quantile

Array = NDArray[np.float64]

FEWEST = 4
"""Two models fix a line; the test wants some beyond."""
_RANGE = (np.log(0.02), np.log(50.0))


@dataclass(frozen=True)
class CommonTrait:
    """Discrimination of CS items relative to CA items under one common trait.

    Attributes
    ----------
    ratio : λ; NaN where it is not identified
    lower, upper : 95% profile interval; NaN where it is unbounded
    misfit, df, p : twice the log likelihood lost against free abilities, its degrees of freedom, p-value
    reason : why it is not identified, empty where it is
    """

    ratio: float
    lower: float
    upper: float
    misfit: float
    df: int
    p: float
    reason: str = ""


def fit_common_trait(
    ca: Array,
    covariance_ca: Array,
    cs: Array,
    covariance_cs: Array,
    *,
    freedom: tuple[float, float] = (np.inf, np.inf),
) -> CommonTrait:
    """λ of a common trait from the pivot-language abilities of the same models on both subsets.

    Parameters
    ----------
    ca, cs : shape (J,), abilities (logit); NaN or infinite ones are left out
    covariance_ca, covariance_cs : shape (J, J)
    freedom
        Degrees of freedom of the two covariances where they are estimates (items or replicates, less one).

    Notes
    -----
    Given λ, the residuals cs − λ ca have covariance Σ_cs + λ² Σ_ca; α and the abilities are profiled out.
    With estimated covariances the misfit is Hotelling's T² (Anderson 2003, An Introduction to Multivariate
    Statistical Analysis, section 5.2), referred to F; χ² would reject too often. The sum of two has degrees
    of freedom after Satterthwaite. The interval uses Rao's F for one more dimension.
    """
    use = np.isfinite(ca) & np.isfinite(cs)
    n = int(use.sum())
    if n < FEWEST:
        return _unknown(f"a common trait needs {FEWEST} models, here are {n}")
    from scipy.optimize import brentq, minimize_scalar  # a tenth of a second to import

    one, other = covariance_ca[np.ix_(use, use)], covariance_cs[np.ix_(use, use)]
    x, y = ca[use], cs[use]
    try:
        share, turned = _share_out(one, other, np.stack([x, y, np.ones(n)], axis=1))
    except np.linalg.LinAlgError:
        return _unknown("the abilities' covariance is not positive definite")

    def misfit(log_ratio: float) -> float:
        ratio = np.exp(log_ratio)
        variance = (1.0 - share) + ratio**2 * share
        if variance.min() <= 0:
            return float("nan")
        (x, y, u), weight = turned.T, 1.0 / variance
        r = y - ratio * x
        return float(weight @ r**2 - (weight @ (u * r)) ** 2 / (weight @ u**2))

    grid = np.linspace(*_RANGE, 81)
    values = np.array([misfit(g) for g in grid])
    if not np.isfinite(values).all():
        return _unknown("the abilities' covariance is not positive definite")
    at = int(np.argmin(values))
    if at in (0, len(grid) - 1):
        return _unknown("the models' pivot abilities on CA and CS do not rise together")
    found = minimize_scalar(misfit, bounds=(grid[at - 1], grid[at + 1]), method="bounded")
    best, least = float(found.x), float(found.fun)
    df = n - 2
    shares = np.array([np.exp(2 * best) * np.trace(one), np.trace(other)])
    precision = float((shares**2 / np.array(freedom)).sum())
    rise, p = chi2_upper(0.05, 1), chi2_above(least, df)
    if precision > 0:
        whole = float(shares.sum() ** 2) / precision
        rest = whole - df
        if rest <= 1:
            return _unknown("too few items or replicates to judge a common trait of so many models")
        rise = f_quantile(0.95, 1, rest) * (whole + least) / rest
        p = f_above(least * (rest + 1) / (whole * df), df, rest + 1)

    def above(log_ratio: float) -> float:
        return misfit(log_ratio) - least - rise

    edges = [brentq(above, *sorted((best, end))) if above(end) > 0 else np.nan for end in _RANGE]
    lower, upper = np.exp(edges)
    return CommonTrait(
        ratio=float(np.exp(best)),
        lower=float(lower),
        upper=float(upper),
        misfit=least,
        df=df,
        p=p,
    )


def _share_out(one: Array, other: Array, columns: Array) -> tuple[Array, Array]:
    """Axes on which both covariances are diagonal and add up to 1, so that any mixture of them is at once.

    Parameters
    ----------
    one, other : shape (J, J)
    columns : shape (J, K)

    Returns
    -------
    share, turned : shape (J,), variance that `one` has along each axis; shape (J, K), the columns on the axes

    Raises
    ------
    LinAlgError
        Their sum is not positive definite.
    """
    from scipy.linalg import solve_triangular

    root = np.linalg.cholesky(one + other)
    half = solve_triangular(root, one, lower=True)
    share, axes = np.linalg.eigh(solve_triangular(root, half.T, lower=True))
    return np.clip(share, 0.0, 1.0), axes.T @ solve_triangular(root, columns, lower=True)


def _unknown(reason: str) -> CommonTrait:
    nan = float("nan")
    return CommonTrait(nan, nan, nan, nan, 0, nan, reason)
