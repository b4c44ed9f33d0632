"""Rates of confusion matrices at their edges."""

from __future__ import annotations

import numpy as np
import pytest

from maskedadv.annotation.classification import confusion, rate_intervals, rates


def test_confusion_counts() -> None:
    matrix = confusion(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 0]), 3)
    assert matrix.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_a_label_on_neither_side_is_no_part_of_the_mean() -> None:
    found = rates(np.array([[4, 0, 0], [0, 0, 0], [0, 0, 6]]))
    assert np.isnan(found.f1[1])
    assert found.macro_f1 == 1


def test_a_label_never_predicted_has_f1_zero_and_no_precision() -> None:
    found = rates(np.array([[4, 0], [2, 0]]))
    assert np.isnan(found.precision[1])
    assert (found.recall[1], found.f1[1]) == (0, 0)
    assert found.macro_f1 == pytest.approx(0.4)  # (8/10 + 0) / 2


def test_nothing_counted() -> None:
    empty = np.zeros((2, 2), dtype=int)
    assert np.isnan([rates(empty).accuracy, rates(empty).macro_f1]).all()
    assert np.isnan(rate_intervals(empty, np.random.default_rng(1))).all()


def test_accuracy_interval_is_the_binomial_one() -> None:
    (low, high), (low_f1, high_f1) = rate_intervals(
        np.array([[307, 12], [35, 146]]), np.random.default_rng(1)
    )
    half = 1.96 * np.sqrt(0.906 * 0.094 / 500)
    assert (low, high) == pytest.approx((0.906 - half, 0.906 + half), abs=0.004)
    assert low_f1 < 0.895 < high_f1
