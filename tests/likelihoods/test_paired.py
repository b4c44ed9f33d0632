"""The paired gap's arithmetic against independent computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from scipy.stats import binom

from maskedadv.likelihoods import paired
from tests.simulate import block, languages


@pytest.fixture
def answers() -> tuple[np.ndarray, np.ndarray]:
    """Four models, 80 items, a tenth of the answers missing."""
    rng = np.random.default_rng(3)
    local, pivot = languages(block(rng, -0.8, 4, 80))
    return tuple(np.where(rng.random(a.shape) < 0.1, np.nan, a) for a in (local, pivot))


def test_equals_the_maximum_of_the_conditional_likelihood(answers: tuple) -> None:
    local, pivot = answers
    pairs = paired.find_pairs(local, pivot)
    gap = paired.log_ratio(*paired.counts(pairs))
    for j in range(4):
        a, b = local[j], pivot[j]
        one = (a + b) == 1

        def loss(g: float, a: np.ndarray = a, one: np.ndarray = one) -> float:
            return -np.log(np.where(a[one] == 1, expit(g), expit(-g))).sum()

        assert gap[j] == pytest.approx(minimize_scalar(loss, bracket=(-1, 1), tol=1e-12).x, abs=1e-6)


def test_equals_half_the_joint_maximum_of_one_model(answers: tuple) -> None:
    """With one model, joint maximum likelihood gives exactly twice the conditional estimate."""
    local, pivot = (a[0] for a in answers)
    seen = ~np.isnan(local + pivot)
    a, b = local[seen], pivot[seen]

    def loss(v: np.ndarray) -> float:
        eta = np.stack([v[0] - v[1:], -v[1:]])
        y = np.stack([a[a != b], b[a != b]])
        return np.logaddexp(0, -(2 * y - 1) * eta).sum()

    found = minimize(loss, np.zeros(1 + int((a != b).sum())), method="BFGS", options={"gtol": 1e-8})
    gap = paired.log_ratio(*paired.counts(paired.find_pairs(local[None], pivot[None])))[0]
    assert found.x[0] / 2 == pytest.approx(gap, abs=1e-5)


def test_influence_is_the_derivative_by_item_weight(answers: tuple) -> None:
    pairs = paired.find_pairs(*answers)
    influence = paired.influence(pairs)
    for i in (0, 17, 44):
        weight = np.ones((2, 80))
        weight[0, i] += 1e-5
        weight[1, i] -= 1e-5
        up, down = paired.log_ratio(*paired.counts(pairs, weight))
        assert influence[i] == pytest.approx((up - down) / 2e-5, abs=1e-8)


def test_squared_influences_are_the_inverse_conditional_information(answers: tuple) -> None:
    pairs = paired.find_pairs(*answers)
    n10, n01 = paired.counts(pairs)
    assert (paired.influence(pairs) ** 2).sum(axis=0) == pytest.approx(1 / n10 + 1 / n01)
    score, information = paired.conditional_score(pairs, paired.log_ratio(n10, n01))
    assert score.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    assert 1 / information == pytest.approx(1 / n10 + 1 / n01)


def test_counts_of_zero_are_infinite_and_their_interval_is_exact() -> None:
    local = np.array([[0, 0, 1, 0.0], [1, 1, 1, 1], [1, 1, 0, 0], [np.nan] * 4])
    pivot = np.array([[1, 1, 1, 0.0], [0, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]])
    pairs = paired.find_pairs(local, pivot)
    n10, n01 = paired.counts(pairs)
    gap = paired.log_ratio(n10, n01)
    assert gap[0] == -np.inf
    assert gap[1] == np.inf
    assert np.isnan(gap[2:]).all()
    lower, upper = paired.one_sided(n10, n01, 0.95)
    assert lower[0] == -np.inf
    assert upper[1] == np.inf
    assert binom.pmf(0, 2, expit(upper[0])) == pytest.approx(0.025)  # two discordant pairs, none local
    assert binom.pmf(3, 3, expit(lower[1])) == pytest.approx(0.025)
    assert np.isnan(lower[2:]).all()
    assert np.isnan(upper[2:]).all()
    assert not paired.influence(pairs).any()


def test_probabilities_that_follow_the_model_give_the_gap_exactly() -> None:
    b = np.linspace(-3, 3, 40)
    p = expit(np.array([0.3, 1.1])[:, None] - b)
    pairs = paired.find_pairs(p[:1], p[1:])
    assert paired.log_ratio(*paired.counts(pairs))[0] == pytest.approx(-0.8, abs=1e-12)


def test_mean_difference_and_its_influence() -> None:
    rng = np.random.default_rng(0)
    local, pivot = rng.standard_normal((2, 3, 30))
    local[0, :5] = np.nan
    pivot[2] = np.nan
    mean, influence = paired.mean_difference(local, pivot)
    assert mean[0] == pytest.approx(np.mean(local[0, 5:] - pivot[0, 5:]))
    assert np.isnan(mean[2])
    assert not influence[:, 2].any()
    assert influence[0, 0] == 0
    assert (influence[:, 1] ** 2).sum() == pytest.approx(np.var(local[1] - pivot[1]) / 30)
