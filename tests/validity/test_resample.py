"""Weights and intervals of the model bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from maskedadv.validity.resample import (
    bias_corrected_interval,
    expanded_level,
    generator,
    model_weights,
    percentile_interval,
)


def test_every_resample_has_as_many_models() -> None:
    weights = model_weights(7, 500, np.random.default_rng(1))
    assert (weights.sum(axis=1) == 7).all()
    assert abs(weights.mean() - 1) < 1e-12


def test_families_are_drawn_whole() -> None:
    clusters = np.array([0, 0, 0, 1, 2, 2])
    weights = model_weights(6, 500, np.random.default_rng(1), clusters)
    assert (weights[:, 0] == weights[:, 2]).all()
    assert (weights[:, 4] == weights[:, 5]).all()
    assert (weights[:, [0, 3, 4]].sum(axis=1) == 3).all()


def test_an_analysis_has_its_own_stream() -> None:
    draws = [generator(1, name, label).random() for name in ("a", "b") for label in ("x", "y")]
    assert len(set(draws)) == 4
    assert generator(1, "a", "x").random() == draws[0]
    assert generator(2, "a", "x").random() != draws[0]


def test_percentile_interval_is_the_quantiles() -> None:
    interval = percentile_interval(np.arange(1001.0), 0.9)
    assert (interval.lower, interval.upper) == pytest.approx((50, 950))


def test_a_few_undefined_draws_are_set_aside_and_many_withhold_the_interval() -> None:
    draws = np.arange(1000.0)
    draws[:100] = np.nan
    assert np.isfinite(percentile_interval(draws, 0.95).lower)
    draws[100] = np.nan
    interval = percentile_interval(draws, 0.95)
    assert np.isnan(interval.lower)
    assert interval.reason == "undefined in 101 of 1,000 resamples"


def test_expanded_level_turns_normal_into_t_quantiles() -> None:
    level = expanded_level(0.95, 25)
    assert stats.norm.ppf((1 + level) / 2) == pytest.approx(2.0595, abs=1e-4)  # t table, 25 df
    assert expanded_level(0.95, 10**9) == pytest.approx(0.95)


def test_bias_correction_changes_nothing_at_the_median_and_moves_the_right_way() -> None:
    draws = np.random.default_rng(1).normal(0.7, 0.1, 20_001)
    plain = percentile_interval(draws, 0.95)
    same = bias_corrected_interval(draws, float(np.median(draws)), 0.95)
    assert (same.lower, same.upper) == pytest.approx((plain.lower, plain.upper), abs=1e-3)
    # The estimate lies 0.1 above the draws' median, so the error-free value lies 0.1 above the estimate.
    moved = bias_corrected_interval(draws, 0.8, 0.95)
    assert (moved.lower, moved.upper) == pytest.approx((0.9 - 0.196, 0.9 + 0.196), abs=0.02)


def test_bias_correction_survives_an_estimate_outside_all_draws() -> None:
    interval = bias_corrected_interval(np.linspace(0, 1, 200), 5.0, 0.95)
    assert interval.lower <= interval.upper <= 1
