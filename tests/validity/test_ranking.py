"""Kendall's tau_b against scipy and R, its resamples against resampled rows, the rule for ties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from maskedadv.errors import NotEstimable
from maskedadv.validity.ranking import kendall_tau, studentised_interval, tau_draws, top_k_overlap
from maskedadv.validity.resample import model_weights


def test_weighted_tau_is_tau_b_of_the_resampled_rows() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 6, 12).astype(float), rng.integers(0, 6, 12).astype(float)
    weights = model_weights(12, 50, rng)
    for row, tau in zip(weights, tau_draws(weights, x, y), strict=True):
        rows = np.repeat(np.arange(12), row.astype(int))
        assert tau == pytest.approx(stats.kendalltau(x[rows], y[rows]).statistic, abs=1e-12, nan_ok=True)


def test_tau_of_perturbed_scores_is_taken_row_by_row() -> None:
    rng = np.random.default_rng(4)
    weights = model_weights(9, 1201, rng)  # more than one slice, and a ragged last one
    x, y = rng.normal(size=(2, 1201, 9))
    draws = tau_draws(weights, x, y)
    for b in (0, 999, 1000, 1200):
        rows = np.repeat(np.arange(9), weights[b].astype(int))
        assert draws[b] == pytest.approx(stats.kendalltau(x[b][rows], y[b][rows]).statistic, abs=1e-12)


def test_a_resample_of_one_model_only_has_no_tau() -> None:
    weights = np.array([[3.0, 0, 0], [1, 1, 1]])
    assert np.isnan(tau_draws(weights, np.arange(3.0), np.arange(3.0))).tolist() == [True, False]


@pytest.mark.parametrize("flat", [0, 1])
def test_constant_scores_are_refused_by_name(flat: int) -> None:
    sides = [np.arange(8.0), np.arange(8.0)]
    sides[flat] = np.full(8, 0.4)
    with pytest.raises(NotEstimable, match=["first", "second"][flat]):
        kendall_tau(*sides)


def test_top_k_without_ties_is_the_plain_count() -> None:
    x = np.array([9, 8, 7, 6, 5, 4, 3.0])
    y = np.array([8, 9, 1, 7, 6, 2, 3.0])
    assert top_k_overlap(x, y, 3) == 2  # models 0 and 1
    assert top_k_overlap(x, y, 5) == 4
    assert top_k_overlap(x, x, 5) == 5


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=5, max_size=6), st.integers(1, 3))
def test_top_k_is_the_mean_over_every_way_to_break_ties(scores: list[tuple[int, int]], k: int) -> None:
    x, y = (np.array(side, dtype=float) for side in zip(*scores, strict=True))

    def tops(side: np.ndarray) -> list[set[int]]:
        orders = itertools.permutations(range(len(side)))
        return [
            set(order[:k])
            for order in orders
            if all(side[a] >= side[b] for a, b in itertools.pairwise(order))
        ]

    expected = np.mean([len(a & b) for a in tops(x) for b in tops(y)])
    assert top_k_overlap(x, y, k) == pytest.approx(expected)


def test_top_k_does_not_depend_on_the_order_of_models() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 4, (2, 10)).astype(float)
    order = rng.permutation(10)
    assert top_k_overlap(x, y, 3) == pytest.approx(top_k_overlap(x[order], y[order], 3))


def test_the_top_five_of_five_models_is_refused() -> None:
    with pytest.raises(NotEstimable, match="top 5 of 5"):
        top_k_overlap(np.arange(5.0), np.arange(5.0), 5)


def test_studentised_interval_holds_the_estimate_and_is_tighter_at_high_tau() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=29)
    y = x + 0.3 * rng.normal(size=29)
    weights = model_weights(29, 4000, rng)
    interval = studentised_interval(weights, x, y, 0.95)
    tau, _ = kendall_tau(x, y)
    draws = tau_draws(weights, x, y)
    assert interval.lower < tau < interval.upper < 1
    assert interval.upper - interval.lower < np.ptp(np.quantile(draws, [0.025, 0.975]))


def test_studentised_interval_says_why_it_is_missing_at_a_perfect_ranking() -> None:
    x = np.arange(10.0)
    interval = studentised_interval(model_weights(10, 200, np.random.default_rng(1)), x, 2 * x, 0.95)
    assert np.isnan(interval.lower)
    assert "tau is 1" in interval.reason
