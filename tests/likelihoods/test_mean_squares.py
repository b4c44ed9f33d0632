"""Mean squares, separation reliability and Andersen's test: eRm's numbers, and published ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maskedadv.likelihoods import conditional, item_difference
from maskedadv.likelihoods.andersen import andersen_test, split_test
from maskedadv.likelihoods.mean_squares import MeanSquares, mean_squares, separation_reliability
from tests.assumptions.r_numbers import numbers, several, table
from tests.assumptions.simulated import block

# eRm 1.0.2, R 4.2.2: itemfit(person.parameter(RM(LSAT6))), 700 persons without extreme scores.
LSAT6_OUTFIT = [0.800754346, 0.957720705, 0.949423887, 0.943763077, 0.872078672]
LSAT6_INFIT = [0.827719522, 0.967995654, 0.972798027, 0.954092967, 0.895298007]


def _fitted(rows: np.ndarray) -> tuple[MeanSquares, np.ndarray, np.ndarray]:
    ability = conditional.fit(rows).ability
    totals = conditional.group_totals(rows)
    level = conditional.row_levels(totals, ability)
    with np.errstate(divide="ignore"):
        error = 1 / np.sqrt(conditional.variances(totals, ability, level).sum(axis=1))
    return mean_squares(rows, ability, level[totals.group]), level[totals.group], error[totals.group]


def test_erm() -> None:
    found, level, error = _fitted(table())
    assert found.column_infit == pytest.approx(several("infit"), abs=1e-4)
    assert found.column_outfit == pytest.approx(several("outfit"), abs=1e-4)
    assert separation_reliability(level, error) == pytest.approx(numbers()["reliability"], abs=1e-4)
    rows = [k for k in numbers() if k.startswith("row_infit_P")]
    assert len(rows) > 100
    for name in rows:
        person = int(name.removeprefix("row_infit_P")) - 1
        assert found.row_infit[person] == pytest.approx(numbers()[name], abs=1e-3)
        outfit = numbers()[name.replace("infit", "outfit")]
        assert found.row_outfit[person] == pytest.approx(outfit, abs=1e-3)


def test_lsat6(shared: Path) -> None:
    found, _, _ = _fitted(pd.read_csv(shared / "reference" / "ltm_LSAT6.csv").to_numpy(float))
    assert found.column_infit == pytest.approx(LSAT6_INFIT, abs=2e-6)
    assert found.column_outfit == pytest.approx(LSAT6_OUTFIT, abs=2e-6)


def test_raschdat1(shared: Path) -> None:
    """Reliability .8373. eRm's LR is 32.54 on 29 df by the median raw score, 30.29 by the mean (13.97)."""
    rows = pd.read_csv(shared / "reference" / "erm_raschdat1.csv").to_numpy(float)
    _, level, error = _fitted(rows)
    assert separation_reliability(level, error) == pytest.approx(0.8373, abs=5e-5)
    score = rows.sum(axis=1)
    median = andersen_test(rows, (score > np.median(score)).astype(int))
    assert (round(median.statistic, 2), median.expected) == (32.54, 29)
    mean = andersen_test(rows, (score > score.mean()).astype(int))
    assert mean.statistic == pytest.approx(30.28794, abs=1e-4)


def test_andersen_erm() -> None:
    rows = table()
    score = rows.sum(axis=1)
    groups = {
        "andersen_median": (score > np.median(score)).astype(int),
        "andersen_mean": (score > score.mean()).astype(int),
        "andersen_alternate": np.arange(len(rows)) % 2,
    }
    for name, group in groups.items():
        found = andersen_test(rows, group)
        assert found.statistic == pytest.approx(numbers()[name], abs=1e-4)
        assert found.expected == numbers()["andersen_df"]


def test_columns_that_a_group_does_not_determine_are_left_out() -> None:
    rows = table()
    group = np.arange(len(rows)) % 2
    rows[group == 1, 0] = 1.0
    found = andersen_test(rows, group)
    assert found.expected == 6
    assert found.statistic == pytest.approx(andersen_test(rows[:, 1:], group).statistic, abs=1e-6)
    assert np.isnan(andersen_test(rows[:, :1], group).statistic)
    assert np.isnan(andersen_test(rows, np.zeros(len(rows), dtype=int)).statistic)


def test_split_by_language_has_its_distribution() -> None:
    """Over tables without a difference p is uniform, and the statistic has the expectation that is told."""
    p, excess = [], []
    rng = np.random.default_rng(3)
    for _ in range(60):
        answers = block(rng, 8, 80)
        fitted = conditional.fit(answers.T)
        keep = fitted.finite
        totals = conditional.group_totals(answers[keep].T)
        focal = (np.arange(16) < 8)[keep]
        spread = item_difference.distributions(totals, fitted.ability[keep], focal)
        found = split_test(spread, answers[keep][focal].sum(axis=0), rng, 500)
        p.append(found.p)
        excess.append(found.statistic - found.expected)
    assert abs(np.mean(p) - 0.5) < 3.5 * np.sqrt(1 / 12 / 60)
    assert abs(np.mean(excess)) < 3.5 * np.std(excess) / np.sqrt(60)


def test_split_by_language_sees_differences() -> None:
    rng = np.random.default_rng(4)
    answers = block(rng, 16, 100, difference=0.9 * rng.standard_normal(100))
    fitted = conditional.fit(answers.T)
    totals = conditional.group_totals(answers.T)
    focal = np.arange(32) < 16
    spread = item_difference.distributions(totals, fitted.ability, focal)
    assert split_test(spread, answers[focal].sum(axis=0), rng).p < 0.001


def test_reliability_of_few_and_of_noise() -> None:
    assert np.isnan(separation_reliability(np.array([1.0]), np.array([0.1])))
    estimate = np.array([0.0, 1.0, 2.0, np.inf])
    assert separation_reliability(estimate, np.array([0.5, 0.5, 0.5, np.nan])) == pytest.approx(0.75)
    assert separation_reliability(estimate, np.full(4, 2.0)) == pytest.approx(-3.0)
