"""Tails and quantiles are those of SciPy's distributions, which take a second to import."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from maskedadv.likelihoods import tails

DFS = (1, 2, 5.5, 30, 400.0)
CLOSE = {"rtol": 1e-11, "atol": 1e-300}


@pytest.mark.parametrize("df", [*DFS, np.inf])
def test_t(df: float):
    for x in (-30.0, -1.3, 0.0, 0.4, 6.0):
        np.testing.assert_allclose(tails.t_below(x, df), stats.t.cdf(x, df), **CLOSE)
        np.testing.assert_allclose(tails.t_above(x, df), stats.t.sf(x, df), **CLOSE)
    p = np.array([1e-9, 0.025, 0.3, 0.5, 0.975, 1 - 1e-9])
    np.testing.assert_allclose(tails.t_quantile(p, df), stats.t.ppf(p, df), rtol=1e-11, atol=1e-12)
    assert np.ndim(tails.t_quantile(0.9, df)) == 0


@pytest.mark.parametrize("df", DFS)
def test_chi_square_and_f(df: float):
    for x in (-1e-9, 0.0, 1e-6, 0.7, 3.84, 80.0, 600.0):
        np.testing.assert_allclose(tails.chi2_above(x, df), stats.chi2.sf(x, df), **CLOSE)
        for rest in DFS:
            np.testing.assert_allclose(tails.f_above(x, df, rest), stats.f.sf(x, df, rest), **CLOSE)
    for p in (1e-300, 1e-12, 0.05, 0.5, 0.99):
        np.testing.assert_allclose(tails.chi2_upper(p, df), stats.chi2.isf(p, df), **CLOSE)
    for rest in DFS:
        np.testing.assert_allclose(tails.f_quantile(0.95, df, rest), stats.f.ppf(0.95, df, rest), **CLOSE)


def test_without_degrees_of_freedom_there_is_no_number():
    unknown = (
        tails.t_below(1.0, 0),
        tails.t_quantile(0.9, 0),
        tails.chi2_above(1.0, 0),
        tails.f_above(1.0, 3, 0),
    )
    assert np.isnan(unknown).all()


def test_beta():
    n = np.array([1.0, 2.0, 10.0, 500.0])
    for p in (0.05, 0.95, 0.975):
        np.testing.assert_allclose(tails.beta_quantile(p, 1.0, n), stats.beta.ppf(p, 1.0, n), **CLOSE)
