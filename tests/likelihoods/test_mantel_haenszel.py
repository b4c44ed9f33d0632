"""Mantel–Haenszel: R's mantelhaen.test on fixed tables, and ETS classes at their bounds."""

from __future__ import annotations

import numpy as np
import pytest

from maskedadv.likelihoods.mantel_haenszel import count_tables, ets_class, mantel_haenszel
from tests.assumptions.r_numbers import numbers

# R's arrays run down the columns; ours are [stratum, row, column].
UCB = [
    512,
    313,
    89,
    19,
    353,
    207,
    17,
    8,
    120,
    205,
    202,
    391,
    138,
    279,
    131,
    244,
    53,
    138,
    94,
    299,
    22,
    351,
    24,
    317,
]
FOUR = [2, 5, 6, 1, 3, 4, 2, 7, 8, 1, 5, 5, 0, 2, 3, 4]
SMALL = [10, 4, 7, 9, 1, 0, 0, 1, 12, 3, 8, 8]


@pytest.mark.parametrize(("name", "values"), [("ucb", UCB), ("four", FOUR), ("small", SMALL)])
def test_r(name: str, values: list[int]) -> None:
    tables = np.array(values, dtype=float).reshape(-1, 2, 2).transpose(0, 2, 1)[None]
    found = mantel_haenszel(tables)
    plain = mantel_haenszel(tables, correct=False)
    assert found.log_odds[0] == pytest.approx(numbers()[f"{name}_log_odds"], rel=1e-8)
    assert found.sd[0] == pytest.approx(numbers()[f"{name}_sd"], rel=1e-8)
    assert found.statistic[0] == pytest.approx(numbers()[f"{name}_corrected"], rel=1e-8)
    assert found.p[0] == pytest.approx(numbers()[f"{name}_p"], rel=1e-8)
    assert plain.statistic[0] == pytest.approx(numbers()[f"{name}_uncorrected"], rel=1e-8)


def test_strata_of_one_language_say_nothing() -> None:
    tables = np.array([[[[3, 4], [0, 0]], [[0, 0], [5, 2]]]], dtype=float)
    found = mantel_haenszel(tables)
    assert np.isnan([found.log_odds[0], found.p[0]]).all()


def test_tables_are_counted_from_answers() -> None:
    answers = np.array([[1, 0, np.nan], [0, 0, 1], [1, 1, 1], [1, np.nan, 0]])
    tables = count_tables(answers, np.array([True, False, True, False]), np.array([0, 0, 1, 1]))
    assert tables[0].tolist() == [[[1, 0], [0, 1]], [[1, 0], [1, 0]]]
    assert tables[1].tolist() == [[[0, 1], [0, 1]], [[1, 0], [0, 0]]]
    assert tables[2].tolist() == [[[0, 0], [1, 0]], [[1, 0], [0, 1]]]


def test_ets_classes() -> None:
    effect = np.array([0.3, 0.9, 0.9, -0.9, 0.5, 3.0, np.nan, 0.7])
    sd = np.array([0.01, 0.1, 0.5, 0.1, 0.01, 0.1, 0.1, 0.2])
    p = np.array([0.0, 0.0, 0.04, 0.0, 0.0, 0.2, 0.0, 0.001])
    # 0.9 logit is 2.1 on the delta scale: C where it is clearly above 1, B where not; 3 logits with p .2: A
    assert ets_class(effect, sd, p).tolist() == ["A", "C", "B", "C", "B", "A", "", "B"]
