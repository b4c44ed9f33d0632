"""Random effects of models and locales on gaps whose estimates have a known covariance, by REML.

y = μ + Σ_k Z_k u_k + e, u_k ~ N(0, τ_k²), e ~ N(0, V), V known from the fit: the multilevel model of
meta-analysis (Harville 1977, doi:10.1080/01621459.1977.10480998; Viechtbauer 2010,
doi:10.18637/jss.v036.i03), here for the mean gap of "models like these" and of locales like these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RandomEffects:
    """A fitted mean with variance components.

    Attributes
    ----------
    mean, se : the mean and its standard error (logit)
    variance : τ² of every factor, shape (K,); 0 where a factor adds nothing
    information : expected information on τ², shape (K, K)
    log_likelihood : restricted, up to a constant that does not depend on τ²
    converged : whether the search ended at a maximum
    """

    mean: float
    se: float
    variance: Array
    information: Array
    log_likelihood: float
    converged: bool


def restricted_log_likelihood(
    y: Array, covariance: Array, factors: Sequence[NDArray[np.intp]], variance: Array
) -> float:
    """REML criterion at given τ²: −½(log|Σ| + log 1'Σ⁻¹1 + r'Σ⁻¹r), without constants."""
    return _criterion(y, covariance, _indicators(factors), variance).value


def fit_random_effects(
    y: Array, covariance: Array, factors: Sequence[NDArray[np.intp]], *, max_steps: int = 200
) -> RandomEffects:
    """REML by Fisher scoring with halved steps, τ² held at 0 or above.

    Parameters
    ----------
    y : shape (N,), estimates
    covariance : shape (N, N), of the estimates; positive semi-definite
    factors : labels 0, 1, ... of every estimate under each factor, each of shape (N,)
    """
    indicators = _indicators(factors)
    start = max(float(np.var(y, ddof=1) - np.mean(np.diag(covariance))), 0.01 * float(np.var(y)), 1e-6)
    variance = np.full(len(factors), start / len(factors))
    now = _criterion(y, covariance, indicators, variance)
    scale = max(float(np.var(y)), 1e-12)
    converged = False
    for _ in range(max_steps):
        free = (variance > 0) | (now.gradient > 0)
        if not free.any() or np.abs(now.gradient[free]).max() * scale < 1e-6:
            converged = True
            break
        step = np.zeros_like(variance)
        information = now.information[np.ix_(free, free)]
        step[free] = np.linalg.lstsq(information, now.gradient[free], rcond=None)[0]
        size, moved = 1.0, False
        while size > 1e-6:
            trial = np.maximum(variance + size * step, 0.0)
            new = _criterion(y, covariance, indicators, trial)
            if new.value >= now.value - 1e-12 * abs(now.value):
                moved = not np.allclose(trial, variance, rtol=1e-9, atol=1e-14)
                variance, now = trial, new
                break
            size /= 2
        if not moved:
            converged = True
            break
    return RandomEffects(now.mean, now.se, variance, now.information, now.value, converged)


@dataclass(frozen=True)
class _Levels:
    """Z of a factor, without its zeros: estimates in the order of their levels, and where each begins."""

    order: NDArray[np.intp]
    first: NDArray[np.intp]
    same: Array

    def sums(self, values: Array) -> Array:
        """Z'values: sums over the estimates of each level, along the first axis."""
        return np.asarray(np.add.reduceat(values[self.order], self.first, axis=0))


def _indicators(factors: Sequence[NDArray[np.intp]]) -> list[_Levels]:
    out = []
    for factor in factors:
        order = np.argsort(factor, kind="stable")
        first = np.flatnonzero(np.diff(factor[order], prepend=factor[order[0]] - 1))
        out.append(_Levels(order, first, (factor[:, None] == factor).astype(np.float64)))
    return out


@dataclass(frozen=True)
class _Criterion:
    value: float
    gradient: Array
    information: Array
    mean: float
    se: float


def _criterion(y: Array, covariance: Array, indicators: Sequence[_Levels], variance: Array) -> _Criterion:
    total = covariance + sum(
        (v * z.same for v, z in zip(variance, indicators, strict=True)), np.zeros_like(covariance)
    )
    total = total + 1e-12 * max(float(np.trace(total)) / len(y), 1e-12) * np.eye(len(y))
    try:
        factor = cho_factor(total, lower=True)
    except np.linalg.LinAlgError:
        nothing = np.zeros(len(variance))
        return _Criterion(-np.inf, nothing, np.eye(len(variance)), np.nan, np.nan)
    inverse = cho_solve(factor, np.eye(len(y)))
    ones = inverse.sum(axis=1)
    weight = float(ones.sum())
    mean = float(ones @ y) / weight
    p = inverse - np.outer(ones, ones) / weight
    projected = p @ y
    log_det = 2.0 * float(np.log(np.diag(factor[0])).sum())
    value = -0.5 * (log_det + np.log(weight) + float(y @ projected))
    # tr(P ZZ') and tr(P ZZ' P ZZ') by way of PZ, whose columns are levels
    own = [z.sums(p).T for z in indicators]
    within = [[z.sums(q) for q in own] for z in indicators]
    gradient = np.array(
        [
            0.5 * (float((z.sums(projected) ** 2).sum()) - float(np.trace(row[k])))
            for k, (z, row) in enumerate(zip(indicators, within, strict=True))
        ]
    )
    information = np.array([[0.5 * float((m**2).sum()) for m in row] for row in within])
    return _Criterion(value, gradient, information, mean, 1.0 / np.sqrt(weight))
