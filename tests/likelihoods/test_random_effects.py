"""REML with known covariance: a published meta-analysis, brute force, recovery."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from maskedadv.likelihoods.random_effects import (
    _criterion,
    _prepare,
    fit_random_effects,
    restricted_log_likelihood,
)

# BCG vaccine trials (Colditz et al. 1994): tuberculosis and none, vaccinated and not.
BCG = np.array(
    [
        (4, 119, 11, 128),
        (6, 300, 29, 274),
        (3, 228, 11, 209),
        (62, 13536, 248, 12619),
        (33, 5036, 47, 5761),
        (180, 1361, 372, 1079),
        (8, 2537, 10, 619),
        (505, 87886, 499, 87892),
        (29, 7470, 45, 7232),
        (17, 1699, 65, 1600),
        (186, 50448, 141, 27197),
        (5, 2493, 3, 2338),
        (27, 16886, 29, 17825),
    ],
    dtype=float,
)


def test_equals_the_published_reml_of_the_bcg_trials() -> None:
    """τ² = 0.3132, mean log risk ratio −0.7145 (0.1798): Viechtbauer 2010, table of the metafor paper."""
    a, b, c, d = BCG.T
    y = np.log(a / (a + b)) - np.log(c / (c + d))
    v = 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)
    found = fit_random_effects(y, np.diag(v), [np.arange(13)])
    assert found.converged
    assert found.variance[0] == pytest.approx(0.3132, abs=1e-4)
    assert found.mean == pytest.approx(-0.7145, abs=1e-4)
    assert found.se == pytest.approx(0.1798, abs=1e-4)


@pytest.fixture
def crossed() -> tuple:
    rng = np.random.default_rng(4)
    model, locale = (v.ravel() for v in np.indices((7, 6)))
    root = 0.2 * rng.standard_normal((42, 60)) / np.sqrt(60) + 0.02 * rng.standard_normal((1, 60))
    v = root @ root.T + 0.02 * np.eye(42)
    y = 0.4 + 0.5 * rng.standard_normal(7)[model] + 0.3 * rng.standard_normal(6)[locale]
    y = y + 0.2 * rng.standard_normal(42) + rng.multivariate_normal(np.zeros(42), v)
    return y, v, [model, locale, np.arange(42)]


def test_criterion_is_the_density_of_error_contrasts(crossed: tuple) -> None:
    """REML is the likelihood of any full set of contrasts that do not see the mean (Harville 1977)."""
    y, v, factors = crossed
    contrasts = null_space(np.ones((1, 42)))

    def density(t: np.ndarray) -> float:
        total = v + sum(k * (f[:, None] == f) for k, f in zip(t, factors, strict=True))
        return multivariate_normal.logpdf(contrasts.T @ y, np.zeros(41), contrasts.T @ total @ contrasts)

    one, other = np.array([0.3, 0.1, 0.05]), np.array([0.1, 0.2, 0.01])
    ours = [restricted_log_likelihood(y, v, factors, t) for t in (one, other)]
    assert ours[0] - ours[1] == pytest.approx(density(one) - density(other), abs=1e-6)

    best = minimize(
        lambda u: -density(np.exp(u)), np.log(one), method="Nelder-Mead", options={"maxiter": 4000}
    )
    found = fit_random_effects(y, v, factors)
    assert found.converged
    assert found.variance == pytest.approx(np.exp(best.x), rel=0.01)


def test_a_factor_that_adds_nothing_gets_zero() -> None:
    y = np.array([0.1, 0.12, 0.09, 0.11, 0.1])
    found = fit_random_effects(y, 0.04 * np.eye(5), [np.arange(5)])
    assert found.converged
    assert found.variance[0] == 0
    assert found.mean == pytest.approx(y.mean())
    assert found.se == pytest.approx(0.2 / np.sqrt(5), rel=1e-6)


def test_variances_are_recovered() -> None:
    rng = np.random.default_rng(5)
    model, locale = (v.ravel() for v in np.indices((30, 30)))
    rows = []
    for _ in range(10):
        y = 0.5 * rng.standard_normal(30)[model] + 0.3 * rng.standard_normal(30)[locale]
        y = y + 0.2 * rng.standard_normal(900)
        rows.append(fit_random_effects(y, 0.04 * np.eye(900), [model, locale]).variance)
    assert np.mean(rows, axis=0) == pytest.approx([0.25, 0.09], rel=0.2)


def _dense(y: np.ndarray, v: np.ndarray, factors: list, variance: np.ndarray) -> tuple:
    """Criterion, gradient, information and mean from matrices of all by all, as in the textbook."""
    same = [(f[:, None] == f).astype(float) for f in factors]
    total = v + sum(s * z for s, z in zip(variance, same, strict=True))
    inverse = np.linalg.inv(total)
    ones = inverse.sum(axis=1)
    p = inverse - np.outer(ones, ones) / ones.sum()
    value = -0.5 * (np.linalg.slogdet(total)[1] + np.log(ones.sum()) + y @ p @ y)
    gradient = [0.5 * (y @ p @ z @ p @ y - np.trace(p @ z)) for z in same]
    information = [[0.5 * np.trace(p @ z @ p @ w) for w in same] for z in same]
    return value, gradient, information, ones @ y / ones.sum()


@pytest.mark.parametrize("rank", [500, 30])
@pytest.mark.parametrize("shared", [True, False])
def test_criterion_on_its_axes_is_that_of_all_by_all(rank: int, shared: bool) -> None:
    """Unbalanced factors, with and without one of single estimates; noise of full and of low rank; blocks."""
    rng = np.random.default_rng(rank)
    kept = rng.random(90) < 0.8
    model, locale = (x.ravel()[kept] for x in np.indices((15, 6)))
    n = len(model)
    rows = rng.standard_normal((rank, n)) / np.sqrt(rank)
    v = 0.05 * rows.T @ rows
    if not shared:
        v = v * (locale[:, None] == locale)
    y = rng.standard_normal(n)
    for factors in (
        [model // 3, model, locale, np.arange(n)],
        [np.arange(n)],
        [model, np.arange(n)],
        [model],
    ):
        alone = any(len(np.unique(f)) == n for f in factors)
        noise = v if alone else v + 0.03 * np.eye(n)
        problem = _prepare(y, noise, factors)
        for variance in (rng.random(len(factors)), np.r_[np.zeros(len(factors) - 1), 0.2]):
            found, (value, gradient, information, mean) = (
                _criterion(problem, variance),
                _dense(y, noise, factors, variance),
            )
            assert found.value == pytest.approx(value, rel=1e-9)
            np.testing.assert_allclose(found.gradient, gradient, rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(found.information, information, rtol=1e-8)
            assert found.mean == pytest.approx(mean, rel=1e-8)
