"""Tails and quantiles of t, F, chi-square and beta: those of `scipy.stats`, whose import costs a second."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]


def t_below(x: float, df: float) -> float:
    """Probability that Student's t lies below x."""
    return float(special.stdtr(df, x))


def t_above(x: float, df: float) -> float:
    """Probability that Student's t lies above x."""
    return float(special.stdtr(df, -x))


def t_quantile(p: Any, df: float) -> Any:
    """Where Student's t has the probability p below; a number or an array, as p is."""
    return special.stdtrit(df, p) if np.isfinite(df) else special.ndtri(p)


def f_above(x: float, df: float, rest: float) -> float:
    """Probability that F lies above x."""
    return float(special.fdtrc(df, rest, np.maximum(x, 0.0)))


def f_quantile(p: float, df: float, rest: float) -> float:
    """Where F has the probability p below."""
    return float(special.fdtri(df, rest, p))


def chi2_above(x: float, df: float) -> float:
    """Probability that a chi-square lies above x."""
    return float(special.chdtrc(df, np.maximum(x, 0.0))) if df > 0 else np.nan


def chi2_upper(p: float, df: float) -> float:
    """Where a chi-square has the probability p above."""
    return float(special.chdtri(df, p))


def beta_quantile(p: float, a: float | Array, b: float | Array) -> Array:
    """Where a beta distribution has the probability p below."""
    return np.asarray(special.betaincinv(a, b, p))
