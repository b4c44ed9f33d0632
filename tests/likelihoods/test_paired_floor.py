"""The paired gap with a guessing floor: derivatives, brute force, the case without a floor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from maskedadv.likelihoods import paired, paired_floor
from tests.simulate import block, floored_block, languages

Array = np.ndarray


def patterns_of(local: Array, pivot: Array, chance: Array) -> paired_floor.Patterns:
    pairs = paired.find_pairs(local, pivot)
    return paired_floor.count_patterns(paired_floor.indicators(pairs, local), chance)


@pytest.fixture
def mixed() -> paired_floor.Patterns:
    """Three models, 300 items with 4 or 2 options, some answers missing."""
    rng = np.random.default_rng(8)
    local, pivot = languages(floored_block(rng, -0.7, 3, 300, chance=0.25, model_item=0.5))
    local[rng.random(local.shape) < 0.1] = np.nan
    return patterns_of(local, pivot, np.where(np.arange(300) < 200, 0.25, 0.5))


def test_pattern_probabilities_equal_adaptive_quadrature() -> None:
    theta = np.array([[-0.4, 0.9, np.log(1.6)], [2.0, 2.5, np.log(7.5)], [-1.0, 0.0, np.log(0.06)]])
    chance = np.array([0.0, 0.25])
    found = paired_floor.probabilities(theta, chance)
    assert found.sum(axis=2) == pytest.approx(np.ones((3, 2)))
    for j, (local, pivot, log_s) in enumerate(theta):
        for f, c in enumerate(chance):
            for k, (a, b) in enumerate(((1, 1), (1, 0), (0, 1), (0, 0))):

                def density(z: float, a=a, b=b, c=c, local=local, pivot=pivot, log_s=log_s) -> float:
                    p, q = (c + (1 - c) * expit(t + np.exp(log_s) * z) for t in (local, pivot))
                    return (p if a else 1 - p) * (q if b else 1 - q) * norm.pdf(z)

                whole = quad(density, -8.5, 8.5, epsabs=1e-12, limit=400, points=[0])[0]
                assert found[j, f, k] == pytest.approx(whole, abs=1e-9)


def test_counts_hold_every_pair_once(mixed: paired_floor.Patterns) -> None:
    assert mixed.chance.tolist() == [0.25, 0.5]
    assert mixed.count[:, 0].sum() < 3 * 200
    assert (mixed.count >= 0).all()


def test_score_and_expected_information_are_derivatives(mixed: paired_floor.Patterns) -> None:
    theta = np.array([[-0.5, 0.6, 0.2], [0.1, 1.2, 0.6], [0.4, 0.3, -0.4]])
    here = paired_floor.at(theta, mixed)
    n = mixed.count.sum(axis=2, keepdims=True)
    p = paired_floor.probabilities(theta, mixed.chance)
    for k in range(3):
        step = np.zeros(3)
        step[k] = 1e-5
        up, down = (paired_floor.at(theta + d, mixed) for d in (step, -step))
        assert here.gradient[:, k] == pytest.approx(
            (up.log_likelihood - down.log_likelihood) / 2e-5, abs=1e-5
        )
        along = np.einsum("jfk,jfka->ja", n * p, (up.score - down.score) / 2e-5)
        assert here.information[:, k] == pytest.approx(-along, abs=1e-4)


def test_the_maximum_equals_a_general_optimiser(mixed: paired_floor.Patterns) -> None:
    found = paired_floor.solve(mixed, paired_floor.start_values(mixed), reduce_bias=False)
    for j in range(3):

        def loss(v: Array, j: int = j) -> float:
            p = paired_floor.probabilities(v[None], mixed.chance)[0]
            return float(-(mixed.count[j] * np.log(p)).sum())

        best = minimize(
            loss, found.theta[j] + 0.3, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-11}
        )
        assert found.theta[j] == pytest.approx(best.x, abs=1e-4)


def test_without_a_floor_the_maximum_is_the_log_ratio() -> None:
    """Whatever the sd of the effect, the ratio of discordant probabilities is e^gap."""
    local, pivot = languages(block(np.random.default_rng(1), -0.9, 5, 500, model_item=0.8))
    found = paired_floor.solve(
        patterns := patterns_of(local, pivot, np.zeros(500)),
        paired_floor.start_values(patterns),
        reduce_bias=False,
    )
    gap = paired.log_ratio(*paired.counts(paired.find_pairs(local, pivot)))
    assert found.theta[:, 0] - found.theta[:, 1] == pytest.approx(gap, abs=1e-6)
    assert (found.point.bound == 0).all()


def test_where_nothing_is_shared_the_reduced_estimate_adds_half_a_count_to_each() -> None:
    """Answers that avoid each other hold s at its bound; what is left are two independent proportions."""
    count = np.array([[[10.0, 50.0, 30.0, 10.0]]])
    patterns = paired_floor.Patterns(np.zeros(1), count, np.zeros(100, dtype=int))
    found = paired_floor.solve(patterns, np.array([[0.0, 0.0, np.log(0.05)]]))
    assert found.point.bound[0] == -1
    assert found.gradient[0] < 1e-5
    assert found.theta[0, 0] == pytest.approx(np.log(60.5 / 40.5), abs=0.002)
    assert found.theta[0, 1] == pytest.approx(np.log(40.5 / 60.5), abs=0.002)


def test_reduced_estimates_stay_finite_where_the_maximum_runs_away() -> None:
    """A cell hardly above chance: its maximum is far below, the reduced one is not."""
    count = np.array([[[40.0, 8.0, 60.0, 42.0]]])
    patterns = paired_floor.Patterns(np.array([0.25]), count, np.zeros(150, dtype=int))
    found = paired_floor.solve(patterns, paired_floor.start_values(patterns))
    assert found.gradient[0] < 1e-5
    assert -6 < found.theta[0, 0] < 0
