"""Scores against hand calculation and other people's code."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit
from scipy.stats import mannwhitneyu

from maskedadv.cross_validation import scores

Y = np.array([1.0, 0.0, 1.0, 1.0])
P = np.array([0.9, 0.2, 0.4, 0.8])


def test_measures_of_four_answers_by_hand() -> None:
    found = scores.measure(Y, P)
    assert found["bce"] == pytest.approx(-(np.log(0.9) + np.log(0.8) + np.log(0.4) + np.log(0.8)) / 4)
    assert found["brier"] == pytest.approx((0.01 + 0.04 + 0.36 + 0.04) / 4)
    assert found["auc"] == 1.0
    assert found["accuracy"] == 0.75
    # Bins of a tenth hold one answer each, so the error is the mean of |y − p|.
    assert found["calibration_error"] == pytest.approx((0.1 + 0.2 + 0.6 + 0.2) / 4)


def test_auc_is_the_mann_whitney_statistic_with_ties() -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(300) < 0.6).astype(float)
    p = np.round(rng.random(300) + 0.3 * y, 1)
    u = mannwhitneyu(p[y == 1], p[y == 0]).statistic
    assert scores.auc(y, p) == pytest.approx(u / ((y == 1).sum() * (y == 0).sum()))
    assert np.isnan(scores.auc(np.ones(3), P[:3]))


def test_bins_keep_every_answer() -> None:
    rng = np.random.default_rng(2)
    p = np.append(rng.random(500), [0.0, 1.0])
    y = (rng.random(502) < p).astype(float)
    bins = scores.calibration_bins(y, p)
    assert bins.n.sum() == 502
    assert bins.n @ bins.predicted == pytest.approx(p.sum())
    assert bins.n @ bins.observed == pytest.approx(y.sum())


def test_recalibration_is_a_logistic_regression_on_the_logit() -> None:
    rng = np.random.default_rng(3)
    p = expit(rng.normal(size=400))
    y = (rng.random(400) < expit(0.3 + 0.6 * np.log(p / (1 - p)))).astype(float)
    fitted = sm.Logit(y, sm.add_constant(np.log(p / (1 - p)))).fit(disp=0)
    np.testing.assert_allclose(scores.recalibrate(y, p), fitted.params, atol=1e-6)
    assert np.isnan(scores.recalibrate(y, np.full(400, 0.3))).all(), "one prediction has no slope"
    assert np.isnan(scores.recalibrate(np.array([0.0, 0, 1, 1]), np.array([0.1, 0.2, 0.8, 0.9]))).all()


def test_clustered_difference_is_that_of_a_regression_on_a_constant() -> None:
    rng = np.random.default_rng(4)
    cluster = rng.integers(0, 40, 300)
    a, b = rng.normal(size=300) + 0.5 * rng.normal(size=40)[cluster], rng.normal(size=300)
    fitted = sm.OLS(a - b, np.ones(300)).fit(cov_type="cluster", cov_kwds={"groups": cluster})
    mean, se = scores.clustered_difference(a, b, cluster)
    # statsmodels also multiplies by (n − 1)/(n − 1) for one parameter: the same.
    assert mean == pytest.approx(float(fitted.params[0]))
    assert se == pytest.approx(float(fitted.bse[0]), rel=1e-9)


def test_a_certain_prediction_that_is_wrong_costs_much_but_not_without_bound() -> None:
    assert scores.losses(np.array([1.0]), np.array([0.0]))[0] == pytest.approx(-np.log(scores.SMALLEST))
