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
    return _criterion(_prepare(y, covariance, factors), variance).value


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
    problem = _prepare(y, covariance, factors)
    start = max(float(np.var(y, ddof=1) - np.mean(np.diag(covariance))), 0.01 * float(np.var(y)), 1e-6)
    variance = np.full(len(factors), start / len(factors))
    now = _criterion(problem, variance)
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
            new = _criterion(problem, trial)
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
class _Problem:
    """The model on axes along which the known covariance is diagonal.

    Σ = V + Σ τ_k² Z_k Z_k' is there a diagonal matrix, the factor included whose every estimate is a level of
    its own, plus a matrix of as low a rank as the other factors have levels. All that REML wants of Σ⁻¹ are
    sums over its products with those levels, 1 and y: one decomposition of V serves all variances.

    Attributes
    ----------
    own : shape (N,), eigenvalues of V
    columns : shape (N, L + 2), the levels of the factors that share some, 1 and y on the axes
    level_factor : shape (L,), factor of every such level
    single : the factor of single estimates; None without one
    factors : number of factors
    """

    own: Array
    columns: Array
    level_factor: NDArray[np.intp]
    single: int | None
    factors: int


def _prepare(y: Array, covariance: Array, factors: Sequence[NDArray[np.intp]]) -> _Problem:
    n = len(y)
    codes = [np.unique(f, return_inverse=True)[1].reshape(-1) for f in factors]
    single = next((k for k, f in enumerate(codes) if len(np.unique(f)) == n), None)
    shared = [k for k in range(len(codes)) if k != single]
    levels = [np.eye(int(codes[k].max()) + 1)[codes[k]] for k in shared]
    columns = np.concatenate([*levels, np.ones((n, 1)), y[:, None]], axis=1)
    own, turned = np.empty(n), np.empty_like(columns)
    joined = covariance != 0
    count, label = 1, np.zeros(n, dtype=np.intp)
    if not joined.all():
        from scipy.sparse import csr_array  # reading a result takes none of it
        from scipy.sparse.csgraph import connected_components

        count, found = connected_components(csr_array(joined), directed=False)
        label = found.astype(np.intp)
    for block in range(count):  # estimates that share no noise have axes of their own
        at = np.flatnonzero(label == block)
        own[at], axes = np.linalg.eigh(covariance[np.ix_(at, at)])
        turned[at] = axes.T @ columns[at]
    of_level = np.repeat(np.array(shared, dtype=np.intp), [z.shape[1] for z in levels])
    return _Problem(np.maximum(own, 0.0), turned, of_level, single, len(codes))


@dataclass(frozen=True)
class _Criterion:
    value: float
    gradient: Array
    information: Array
    mean: float
    se: float


def _criterion(problem: _Problem, variance: Array) -> _Criterion:
    """REML criterion, its gradient and expected information at given variances of the factors.

    By the Woodbury identity: Σ⁻¹ X = D⁻¹ X K for the columns X, with D the diagonal part.
    """
    levels = len(problem.level_factor)
    alone = 0.0 if problem.single is None else float(variance[problem.single])
    jitter = 1e-12 * max(float(problem.own.mean() + variance.sum()), 1e-12)
    d = problem.own + alone + jitter
    x = problem.columns
    g1, g2, g3 = ((x / d[:, None] ** power).T @ x for power in (1, 2, 3))
    root = np.sqrt(variance[problem.level_factor])
    inner = np.eye(levels) + root[:, None] * g1[:levels, :levels] * root
    try:
        factor = cho_factor(inner, lower=True)
    except np.linalg.LinAlgError:
        return _Criterion(-np.inf, np.zeros(len(variance)), np.eye(len(variance)), np.nan, np.nan)
    a = root[:, None] * cho_solve(factor, np.diag(root))
    k = np.eye(levels + 2)
    k[:levels] -= a @ g1[:levels]
    h1, h2 = g1 @ k, k.T @ g2 @ k  # X' Σ⁻¹ X and X' Σ⁻² X
    z, one, last = slice(levels), levels, levels + 1
    weight, mean = float(h1[one, one]), float(h1[one, last] / h1[one, one])
    h = h1[z, one]
    within = h1[z, z] - np.outer(h, h) / weight  # Z' P Z
    twice = h2[z, one]
    squared = h2[z, z] - (np.outer(twice, h) + np.outer(h, twice)) / weight
    squared += np.outer(h, h) * h2[one, one] / weight**2  # Z' P P Z
    along = h1[z, last] - mean * h  # Z' P y
    log_det = float(np.log(d).sum() + 2.0 * np.log(np.diag(factor[0])).sum())
    left = float(h1[last, last] - mean * h1[one, last])
    value = -0.5 * (log_det + np.log(weight) + left)

    gradient, information = np.zeros(len(variance)), np.zeros((len(variance),) * 2)
    for one_factor in np.unique(problem.level_factor):
        at = problem.level_factor == one_factor
        gradient[one_factor] = 0.5 * float((along[at] ** 2).sum() - np.trace(within[np.ix_(at, at)]))
        for other in np.unique(problem.level_factor):
            to = problem.level_factor == other
            information[one_factor, other] = 0.5 * float((within[np.ix_(at, to)] ** 2).sum())
    if (single := problem.single) is not None:
        ones = float(h2[one, one])
        trace = float((1.0 / d).sum() - (a * g2[z, z]).sum()) - ones / weight
        loading = g2[z] @ k[:, one]  # Z' D⁻¹ Σ⁻¹ 1
        cubed = float(k[:, one] @ g3 @ k[:, one] - loading @ a @ loading)  # 1' Σ⁻³ 1
        middle = a @ g2[z, z]
        square = float((1.0 / d**2).sum() - 2.0 * (a * g3[z, z]).sum() + (middle * middle.T).sum())
        square += -2.0 * cubed / weight + (ones / weight) ** 2  # tr(P P)
        y_squared = float(h2[last, last] - 2.0 * mean * h2[one, last] + mean**2 * ones)
        gradient[single] = 0.5 * (y_squared - trace)
        information[single, single] = 0.5 * square
        for other in np.unique(problem.level_factor):
            cross = 0.5 * float(np.diag(squared)[problem.level_factor == other].sum())
            information[single, other] = information[other, single] = cross
    return _Criterion(value, gradient, information, mean, 1.0 / np.sqrt(weight))
