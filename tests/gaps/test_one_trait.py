"""λ of a common trait: against the 2PL-by-subset likelihood itself, simulation, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from maskedadv.engines.embedded import Embedded
from maskedadv.gaps.one_trait import fit_common_trait
from maskedadv.maximum_likelihood.marginal import fit_marginal

Array = np.ndarray
Z = np.linspace(-7, 7, 141)


def _answers(rng: np.random.Generator, ability: Array, items: int, slope: float) -> Array:
    eta = slope * (ability[:, None] - 1.2 * rng.standard_normal(items))
    return (rng.random(eta.shape) < expit(eta)).astype(float)


def _log_likelihood(answers: Array, theta: Array, sigma: float) -> float:
    """Marginal Rasch log likelihood on a fixed grid, written for this test."""
    eta = theta[:, None] - sigma * Z
    joint = answers.T @ eta - np.logaddexp(0, eta).sum(axis=0) - Z**2 / 2
    return float((logsumexp(joint, axis=1) + np.log((Z[1] - Z[0]) / np.sqrt(2 * np.pi))).sum())


def test_ratio_and_misfit_equal_those_of_the_2pl_by_subset():
    """The 2PL with one slope a subset and one ability a model, maximised directly: same λ, same lost fit."""
    rng = np.random.default_rng(3)
    ability = np.linspace(-1.5, 1.5, 7)
    ca, cs = _answers(rng, ability, 1500, 1.0), _answers(rng, ability, 1200, 0.6)
    one, other = (fit_marginal(a, Embedded(), interval="information", seed=1) for a in (ca, cs))
    found = fit_common_trait(
        one.ability,
        one.uncertainty.T @ one.uncertainty,
        other.ability,
        other.uncertainty.T @ other.uncertainty,
    )

    def loss(q: Array) -> float:
        theta, (shift, slope, s1, s2) = q[:7], q[7:]
        return -_log_likelihood(ca, theta, np.exp(s1)) - _log_likelihood(
            cs, shift + slope * theta, np.exp(s2)
        )

    start = np.concatenate([one.ability, [0.0, 0.6, 0.1, -0.3]])
    best = minimize(loss, start, method="BFGS", options={"gtol": 1e-3})
    free = one.log_likelihood + other.log_likelihood
    assert found.ratio == pytest.approx(best.x[8], abs=0.003)
    assert found.misfit == pytest.approx(2 * (best.fun + free), rel=0.03)
    assert found.df == 5


def test_known_errors_coverage_and_the_test_of_the_assumption():
    """Straight line with correlated errors of known size: unbiased, 95% covered, p uniform; else rejected."""
    rng = np.random.default_rng(4)
    n, hits, ratios, ps, away = 12, 0, [], [], []
    root = 0.15 * np.linalg.cholesky(0.5 * np.eye(n) + 0.5)
    cov = root @ root.T
    for _ in range(600):
        theta = rng.normal(size=n)
        x, e = theta + root @ rng.normal(size=n), 2 * root @ rng.normal(size=n)
        found = fit_common_trait(x, cov, 0.3 + 0.7 * theta + e, 4 * cov)
        ratios.append(found.ratio)
        ps.append(found.p)
        hits += found.lower < 0.7 < found.upper
        bent = 0.7 * theta + 0.5 * rng.normal(size=n)
        away.append(fit_common_trait(x, cov, bent + e, 4 * cov).p)
    assert np.median(ratios) == pytest.approx(0.7, abs=0.01)
    assert 0.93 < hits / 600 < 0.97
    assert np.mean(np.array(ps) < 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(np.array(away) < 0.05) > 0.9


def test_what_cannot_be_identified_is_refused_with_the_reason():
    rng = np.random.default_rng(5)
    x = rng.normal(size=9)
    small = 0.01 * np.eye(9)
    few = np.where(np.arange(9) < 3, x, np.nan)
    assert fit_common_trait(few, small, x, small).reason == "a common trait needs 4 models, here are 3"
    against = fit_common_trait(x, small, -x, small)
    assert np.isnan(against.ratio)
    assert "rise together" in against.reason
    none = fit_common_trait(x, np.zeros((9, 9)), x, np.zeros((9, 9)))
    assert "positive definite" in none.reason
    wide = fit_common_trait(x, small, x, 100 * np.eye(9))
    assert np.isnan(wide.lower) or "rise together" in wide.reason


def test_estimated_covariances_do_not_make_the_test_reject_too_often():
    """Covariances from 60 rows, as a sandwich over 60 items: p stays uniform where χ² rejects too often."""
    rng = np.random.default_rng(6)
    n, rows = 16, 60
    told, blind, hits = [], [], 0
    for _ in range(500):
        theta = rng.normal(size=n)
        one, other = (0.2 / np.sqrt(rows) * rng.normal(size=(rows, n)) for _ in range(2))
        x, y = theta + 0.2 * rng.normal(size=n), 0.7 * theta + 0.2 * rng.normal(size=n)
        found = fit_common_trait(x, one.T @ one, y, other.T @ other, freedom=(rows - 1, rows - 1))
        told.append(found.p)
        hits += found.lower < 0.7 < found.upper
        blind.append(fit_common_trait(x, one.T @ one, y, other.T @ other).p)
    assert np.mean(np.array(blind) < 0.05) > 0.1, "the artefact is there"
    assert 0.02 < np.mean(np.array(told) < 0.05) < 0.075
    assert 0.92 < hits / 500 < 0.975
    huge = fit_common_trait(x, one.T @ one, y, other.T @ other, freedom=(1e9, 1e9))
    assert huge.p == pytest.approx(blind[-1], rel=1e-4), "with endless freedom F is χ²"
    few = fit_common_trait(x, one.T @ one, y, other.T @ other, freedom=(7, 7))
    assert "too few items or replicates" in few.reason


@pytest.mark.parametrize("items", [(200, 150), (20, 25)])
def test_misfit_is_that_of_the_mixed_covariance_solved_anew(items: tuple[int, int]):
    """At the estimate and at both ends of its interval; also where neither covariance is of full rank."""
    rng = np.random.default_rng(5)
    x = np.linspace(-1.5, 1.5, 30)
    rows = [rng.standard_normal((n, 30)) * 0.15 / np.sqrt(n) for n in items]
    one, other = (r.T @ r for r in rows)
    ca, cs = (
        x + rows[0].T @ rng.standard_normal(items[0]),
        0.7 * x + rows[1].T @ rng.standard_normal(items[1]),
    )
    found = fit_common_trait(ca, one, cs, other)

    def misfit(ratio: float) -> float:
        inverse = np.linalg.inv(other + ratio**2 * one)
        u, r = np.ones(30), cs - ratio * ca
        return float(r @ inverse @ r - (u @ inverse @ r) ** 2 / (u @ inverse @ u))

    assert found.misfit == pytest.approx(misfit(found.ratio), rel=1e-8)
    assert found.misfit <= min(misfit(found.ratio * f) for f in (0.999, 1.001))
    for edge in (found.lower, found.upper):
        assert misfit(edge) - found.misfit == pytest.approx(3.841459, abs=1e-6)
