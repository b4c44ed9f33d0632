"""The test of one item: the exact distribution, size without a difference, power with one, and relatives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import false_discovery_control, hypergeom, norm

from maskedadv.likelihoods import conditional, item_difference
from maskedadv.likelihoods.difference_spread import difference_spread
from maskedadv.likelihoods.inflation import clipped_mean, inflation
from tests.assumptions.simulated import block, run_tests


def _spread(theta: np.ndarray, rows: np.ndarray, focal: np.ndarray) -> item_difference.Distributions:
    return item_difference.distributions(conditional.group_totals(rows), theta, focal)


def test_distribution_is_the_sum_over_all_answers() -> None:
    theta = np.array([0.5, -0.3, 1.2, 0.1, -1.0])
    focal = np.array([True, False, True, False, False])
    rows = np.array([[1, 1, 0, 0, 1.0]])
    found = _spread(theta, rows, focal).at(np.array([0.6]))[0]
    brute = np.zeros(3)
    for y in product((0, 1), repeat=5):
        if sum(y) == 3:
            brute[int(np.array(y)[focal].sum())] += np.exp(np.array(y) @ (theta + 0.6 * focal))
    assert found == pytest.approx(brute / brute.sum(), abs=1e-12)


def test_equal_abilities_are_fishers_exact_test() -> None:
    rows = np.array([[1, 1, 1, 0, 0, 0, 1, 0.0]])
    focal = np.arange(8) < 4
    found = _spread(np.zeros(8), rows, focal).at(np.zeros(1))[0]
    assert found == pytest.approx(hypergeom(8, 4, 4).pmf(np.arange(5)), abs=1e-12)


def test_effect_and_ratio_against_a_grid() -> None:
    theta = np.linspace(-1, 1.5, 10)
    focal = np.arange(10) < 5
    rng = np.random.default_rng(2)
    rows = (rng.random((30, 10)) < 0.5).astype(float)
    spread = _spread(theta, rows, focal)
    right = rows[:, focal].sum(axis=1)
    found = item_difference.test_items(spread, right)
    grid = np.linspace(-30, 30, 60001)
    t = np.arange(6)
    for i in range(30):
        if not found.variance[i]:
            assert np.isnan(found.effect[i])
            continue
        weight = spread.log_weight[spread.group[i]] + grid[:, None] * t
        p = np.exp(weight - np.logaddexp.reduce(weight, axis=1)[:, None])
        log_p = np.log(np.maximum(p[:, int(right[i])], 1e-300))
        variance = p @ t**2 - (p @ t) ** 2
        penalised = log_p + 0.5 * np.log(np.maximum(variance, 1e-300))
        assert found.effect[i] == pytest.approx(grid[np.argmax(penalised)], abs=2e-3)
        null = log_p[30000]
        assert found.likelihood_ratio[i] == pytest.approx(2 * (log_p.max() - null), abs=1e-4)


def test_limits_turn_the_test_round() -> None:
    """At a limit, the mid-p value of the answers is the one that the quantile belongs to."""
    theta = np.linspace(-1, 1.5, 12)
    focal = np.arange(12) < 6
    rows = np.array([[1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0.0]])
    spread = _spread(theta, rows, focal)
    lower, upper = item_difference.limits(spread, np.array([4.0]), quantile=1.96, inflation=1.0)
    for edge, side in ((lower, 1), (upper, -1)):
        p = spread.at(edge)[0]
        t = np.arange(7)
        assert p[(t - 4) * side > 0].sum() + p[4] / 2 == pytest.approx(norm.sf(1.96), abs=1e-6)
    wider = item_difference.limits(spread, np.array([4.0]), quantile=1.96, inflation=2.0)
    assert wider[0][0] < lower[0] < upper[0] < wider[1][0]
    edge = item_difference.limits(spread, np.array([5.0]), quantile=1.96, inflation=1.0)
    assert np.isinf(edge[1][0])  # five right answers, all in the focal language


def test_scores_of_all_items_add_up_to_nothing() -> None:
    """Abilities are at their maximum, so that no language can be easier on all items: that is the gap."""
    answers = block(np.random.default_rng(3), 6, difference=2.0)
    found, _ = run_tests(answers, 6)
    assert float((found.right - found.expected).sum()) == pytest.approx(0.0, abs=1e-5)
    assert abs(np.nanmean(found.effect)) < 0.3


def test_size_without_a_difference() -> None:
    """4 to 6% at 40 models, up to three Monte Carlo errors; exact p never more."""
    score, exact, n = 0, 0, 0
    for seed in range(6):
        found, factor = run_tests(block(np.random.default_rng(seed), 40), 40)
        z = found.z[np.isfinite(found.z)]
        score += int((np.abs(found.score[np.isfinite(found.score)]) > 1.96).sum())
        exact += int((np.abs(z) > 1.96).sum())
        n += len(z)
        assert factor < 1.5
    slack = 3 * np.sqrt(0.05 * 0.95 / n)
    assert 0.04 - slack < score / n < 0.06 + slack
    assert exact / n < 0.05 + slack


def test_power_is_what_the_information_allows() -> None:
    """A difference of δ is found with the power of a normal deviate of mean δ√V; 1.5 logits at 40: 80%."""
    found_1, found_15, mean = [], [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        for size, hits in ((1.0, found_1), (1.5, found_15)):
            difference = np.where(np.arange(200) < 10, size * np.where(np.arange(200) % 2, 1, -1), 0.0)
            own, _ = run_tests(block(rng, 40, difference=difference, central=10), 40)
            hits += list(np.abs(own.z[:10]) > 1.96)
            if size == 1.0:
                mean += list(own.variance[:10])
    expected = float(np.mean(norm.sf(1.96 - np.sqrt(mean)) + norm.cdf(-1.96 - np.sqrt(mean))))
    assert np.mean(found_1) == pytest.approx(expected, abs=3 * np.sqrt(0.25 / len(found_1)))
    assert np.mean(found_15) > 0.75
    assert expected < 0.65  # no test of 40 answers against 40 finds one logit in 80% of cases


def test_relatives_inflate_and_are_counted() -> None:
    plain, robust, n = 0, 0, 0
    for seed in range(4):
        found, factor = run_tests(block(np.random.default_rng(seed), 24, family=6, family_sd=1.0), 24)
        z = found.z[np.isfinite(found.z)]
        plain += int((np.abs(z) > 1.96).sum())
        robust += int((np.abs(z) / np.sqrt(factor) > 1.96).sum())
        n += len(z)
    assert plain / n > 0.09
    assert robust / n < 0.06 + 3 * np.sqrt(0.05 * 0.95 / n)


def test_copies_of_one_model_flag_nothing() -> None:
    answers = block(np.random.default_rng(5), 1, 300)
    copies = np.repeat(answers, 6, axis=0)
    found, factor = run_tests(copies, 6)
    z = found.z[np.isfinite(found.z)]
    assert factor == 6.0
    # taken as six models, the items that go against the gap are all but certain to differ
    assert false_discovery_control(2 * norm.sf(np.abs(z))).min() < 1e-4
    assert false_discovery_control(2 * norm.sf(np.abs(z) / np.sqrt(factor))).min() > 0.05


def test_clipped_mean_is_an_expectation() -> None:
    x = np.random.default_rng(1).standard_normal(400_000) ** 2
    for factor in (1.0, 3.0):
        value = np.minimum(factor * x, 2.0)
        assert clipped_mean(factor) == pytest.approx(value.mean(), abs=5 * value.std() / np.sqrt(len(x)))


def test_few_items_are_not_told_from() -> None:
    answers = block(np.random.default_rng(4), 1, 12)
    copies = np.repeat(answers, 6, axis=0)
    fitted = conditional.fit(copies.T)
    totals = conditional.group_totals(copies.T)
    spread = item_difference.distributions(totals, np.nan_to_num(fitted.ability), np.arange(12) < 6)
    found = item_difference.test_items(spread, copies[:6].sum(axis=0))
    assert inflation(spread, found.z, 6.0) == 1.0


@pytest.mark.parametrize("tau", [0.0, 0.6, 1.5])
def test_spread_of_differences_is_recovered(tau: float) -> None:
    estimates, p = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        answers = block(rng, 30, difference=tau * rng.standard_normal(200))
        fitted = conditional.fit(answers.T)
        totals = conditional.group_totals(answers.T)
        spread = item_difference.distributions(totals, fitted.ability, np.arange(60) < 30)
        found = difference_spread(spread, answers[:30].sum(axis=0))
        estimates.append(found.tau)
        p.append(found.p)
    assert np.mean(estimates) == pytest.approx(tau, abs=0.22 if tau == 0 else 0.12 + 0.05 * tau)
    assert (np.array(p) < 0.01).all() if tau else np.median(p) > 0.05
