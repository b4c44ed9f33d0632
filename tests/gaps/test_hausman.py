"""Hausman's test of plain against paired: algebra, and its size and power in quick simulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, f, t

from maskedadv.engines.embedded import Embedded
from maskedadv.gaps.hausman import Shift, compare_all, compare_gaps, find_shift
from maskedadv.likelihoods import paired
from maskedadv.maximum_likelihood.marginal import fit_marginal
from tests.simulate import block, copies, languages

ENGINE = Embedded()


def shift_of(answers: np.ndarray, prefix: str = "") -> Shift:
    """The shift of a block (local cells first) from its marginal fit."""
    models = len(answers) // 2
    found = fit_marginal(answers, ENGINE, interval="robust", seed=1)
    with np.errstate(invalid="ignore"):
        gap = found.ability[:models] - found.ability[models:]
    influence = found.uncertainty[:, :models] - found.uncertainty[:, models:]
    score, information = paired.conditional_score(paired.find_pairs(*languages(answers)), gap)
    keys = np.array([f"{prefix}{i}" for i in range(answers.shape[1])], dtype=object)
    return find_shift(score, information, influence, keys)


def rejections(make, sets: int, seed: int = 0) -> float:
    rng = np.random.default_rng(seed)
    return float(np.mean([compare_gaps(shift_of(make(rng)))[2].p < 0.05 for _ in range(sets)]))


def test_rows_are_the_derivative_of_the_shift_by_item_weight() -> None:
    """By weighting an item: score and plain gap both move; checked against doubling each item in turn."""
    answers = block(np.random.default_rng(5), -0.8, 4, 150)
    base = shift_of(answers)
    again = np.array(
        [shift_of(np.concatenate([answers, answers[:, [i]]], axis=1)).estimate for i in range(20)]
    )
    moved = again - base.estimate
    assert np.corrcoef(moved, base.rows[:20])[0, 1] > 0.98
    assert moved == pytest.approx(base.rows[:20], abs=0.25 * np.abs(base.rows).max())


def test_shift_is_the_first_step_towards_one_common_change_of_all_gaps() -> None:
    answers = block(np.random.default_rng(2), -0.8, 5, 3000)
    pairs = paired.find_pairs(*languages(answers))
    gap = np.full(5, -0.7)
    score, information = paired.conditional_score(pairs, gap)
    nothing = np.zeros((3000, 5))
    found = find_shift(score, information, nothing, np.arange(3000).astype(object))
    n10, n01 = paired.counts(pairs)
    pooled = np.log(n10.sum() / n01.sum())
    assert found.estimate == pytest.approx(pooled + 0.7, abs=0.02)


def test_one_contrast_is_a_t_test_and_a_difference_takes_satterthwaites_degrees() -> None:
    rng = np.random.default_rng(0)
    one = Shift(0.3, np.arange(50).astype(object), 0.02 * rng.standard_normal(50), 40)
    other = Shift(-0.1, np.arange(50, 90).astype(object), 0.03 * rng.standard_normal(40), 21)
    estimate, sd, outcome = compare_gaps(one)
    assert sd == pytest.approx(np.sqrt((one.rows**2).sum()))
    assert outcome.p == pytest.approx(2 * t.sf(0.3 / sd, 39))
    estimate, sd, outcome = compare_gaps(one, other)
    a, b = (one.rows**2).sum(), (other.rows**2).sum()
    assert estimate == pytest.approx(0.4)
    assert sd == pytest.approx(np.sqrt(a + b))
    assert outcome.df == pytest.approx((a + b) ** 2 / (a**2 / 39 + b**2 / 20))


def test_shifts_that_share_items_are_tested_by_hotelling_and_others_add_up() -> None:
    rng = np.random.default_rng(1)
    keys = np.arange(60).astype(object)
    rows = 0.02 * rng.standard_normal((60, 3)) + 0.02 * rng.standard_normal((60, 1))
    value = np.array([0.1, -0.2, 0.15])
    shared = [Shift(v, keys, r, 60) for v, r in zip(value, rows.T, strict=True)]
    squared = value @ np.linalg.solve(rows.T @ rows, value)
    p = f.sf(squared * (59 - 3 + 1) / (59 * 3), 3, 57)
    found = compare_all(shared)
    assert found.df == 3
    assert found.p == pytest.approx(p, rel=1e-6)
    apart = Shift(0.2, np.arange(100, 160).astype(object), 0.02 * rng.standard_normal(60), 60)
    both = compare_all([*shared, apart])
    assert both.df == 4
    assert both.statistic == pytest.approx(found.statistic + compare_all([apart]).statistic)
    assert both.p == pytest.approx(chi2.sf(both.statistic, 4))


def test_directions_without_variance_do_not_count() -> None:
    rng = np.random.default_rng(3)
    keys = np.arange(40).astype(object)
    row = 0.02 * rng.standard_normal(40)
    twice = [Shift(0.1, keys, row, 40), Shift(0.1, keys, row, 40)]
    assert compare_all(twice).df == 1
    assert compare_all(twice).p == pytest.approx(compare_gaps(twice[0])[2].p, rel=1e-3)
    still = Shift(1e-12, keys, np.zeros(40), 40)
    assert np.isnan(compare_gaps(still)[2].p)
    assert compare_all([still]).df == 0
    unknown = Shift(np.nan, keys, np.zeros(40), 0)
    assert np.isnan(compare_all([unknown]).p)


@pytest.mark.parametrize(("models", "items", "sets"), [(3, 60, 80), (20, 60, 30)])
def test_size_quick(models: int, items: int, sets: int) -> None:
    assert rejections(lambda rng: block(rng, -0.8, models, items), sets) < 0.15


def test_power_quick() -> None:
    assert rejections(lambda rng: copies(rng, -0.8, 6, 600, copied=3), 15) > 0.7


def test_one_model_has_nothing_to_disagree_with() -> None:
    """Marginal and conditional estimates of one model differ by rounding of the normal assumption only."""
    found = compare_gaps(shift_of(block(np.random.default_rng(4), -0.8, 1, 400)))
    assert abs(found[0]) < 0.05
