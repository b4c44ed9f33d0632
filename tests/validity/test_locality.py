"""The descriptive trend over pairings."""

from __future__ import annotations

import numpy as np
import pytest

from maskedadv.errors import NotEstimable
from maskedadv.validity.locality import trend

SHARE = np.array([0.143, 0.451, 0.954, 0.978])


def test_open_ended_benchmarks_do_not_bend_the_line() -> None:
    measure = 0.9 - 0.5 * SHARE
    measure[3] = 5.0
    line = trend(SHARE, measure, np.array([False, False, False, True]))
    assert (line.intercept, line.slope, line.r) == pytest.approx((0.9, -0.5, -1))
    assert line.n_pairings == 3


def test_pairings_without_a_number_are_left_out() -> None:
    measure = np.array([0.9, 0.8, 0.1, np.nan])
    assert trend(SHARE, measure, np.zeros(4, dtype=bool)).n_pairings == 3


def test_two_pairings_make_no_trend() -> None:
    with pytest.raises(NotEstimable, match="2 multiple-choice pairings"):
        trend(SHARE[:2], SHARE[:2], np.zeros(2, dtype=bool))


def test_equal_shares_make_no_trend() -> None:
    with pytest.raises(NotEstimable, match="same share"):
        trend(np.full(4, 0.4), SHARE, np.zeros(4, dtype=bool))
