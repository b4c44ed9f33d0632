"""Difficulties drawn back have their exact conditional distribution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from maskedadv.sampling.grid import build_grid
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.redraw import draw_difficulties, replicate_totals
from maskedadv.sampling.starts import rough
from tests import simulate
from tests.monte_carlo import ALARM, assert_moments, bound


def _exact_cdf(answers: np.ndarray, ability: np.ndarray, sigma: float, at: np.ndarray) -> np.ndarray:
    b = np.linspace(-10 * sigma - 5, 10 * sigma + 5, 40001)
    seen = ~np.isnan(answers)
    log = -(b**2) / (2 * sigma**2) - np.logaddexp(0, ability[seen][:, None] - b).sum(axis=0)
    log = log - answers[seen].sum() * b
    density = np.exp(log - log.max())
    cdf = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return np.interp(at, b, cdf / cdf[-1])


@pytest.mark.parametrize(("models", "missing"), [(1, 0.0), (6, 0.3), (60, 0.0)])
def test_draws_follow_the_exact_distribution(models: int, missing: float):
    """Probability transforms of 4,000 draws of every item are uniform, in pairs independent."""
    rng = np.random.default_rng(models)
    answers = simulate.block(rng, -0.8, models, 12)
    answers[rng.random(answers.shape) < missing] = np.nan
    answers[0, np.isnan(answers).all(axis=0)] = 1.0
    grid = build_grid(answers, rough(answers, continuous=False), Priors())
    ability = rng.normal(0.8, 0.7, 2 * models)
    sigma = 1.3
    draws = np.array([draw_difficulties(grid.margins, grid.node, ability, sigma, rng) for _ in range(4000)])
    u = np.array([_exact_cdf(answers[:, i], ability, sigma, draws[:, i]) for i in range(12)])
    p = [stats.kstest(row, "uniform").pvalue for row in (*u, u.ravel())]
    assert min(p) > ALARM / len(p), p
    normal = stats.norm.ppf(np.clip(u, 1e-9, 1 - 1e-9))
    assert_moments(normal.T, mean=0.0, sd=1.0, independent=True)
    correlation = np.corrcoef(normal)[np.triu_indices(12, 1)]
    assert np.abs(correlation).max() < bound(len(correlation)) / np.sqrt(4000)


def test_replicated_totals_have_the_mean_and_variance_of_their_bernoullis():
    rng = np.random.default_rng(1)
    answers = simulate.block(rng, -0.8, 3, 10)
    answers[0, :4] = np.nan
    ability, b = rng.normal(0.5, 1, 6), rng.normal(0, 1, 10)
    p = np.where(np.isnan(answers), 0.0, expit(ability[:, None] - b))
    reps = [replicate_totals(answers, ability, b, rng) for _ in range(20000)]
    for axis in (0, 1):
        got = np.array([r[axis] for r in reps])
        mean, variance = p.sum(axis=1 - axis), (p * (1 - p)).sum(axis=1 - axis)
        assert_moments(got, mean=mean, sd=np.sqrt(variance), independent=True)
