"""Corrected regressions: a published example, least squares as a limit, maximum likelihood, simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

from maskedadv.validity.errors_in_variables import corrected
from maskedadv.validity.regression import incremental
from maskedadv.validity.reliability import GIVEN, ITEMS, Measured
from tests.validity import imperfect


def exact(measured: Measured) -> Measured:
    """The same scores, thought to be free of error."""
    return replace(measured, variance=np.zeros(len(measured.values)), basis="exact")


def with_moments(moments: np.ndarray, n: int) -> np.ndarray:
    """Columns of n centred numbers with exactly these variances and covariances (n - 1)."""
    columns = np.linalg.qr(np.random.default_rng(1).normal(size=(n, len(moments) + 1)) + 0.0)[0]
    columns = columns - columns.mean(axis=0)
    columns = columns[:, : len(moments)]
    white = np.linalg.solve(np.linalg.cholesky(columns.T @ columns / (n - 1)), columns.T).T
    return white @ np.linalg.cholesky(moments).T


def test_stata_eivreg() -> None:
    """Stata's `eivreg write female read, r(read .9)` on hsb2: .6289607 of read, 5.555659 of female.

    Output in UCLA's "Regression with Stata", chapter 4. The data's moments are worked back from the
    output of `regress` there, and from 109 women of 200: coefficients .5658869 and 5.486894 with
    standard errors .0493849 and 1.014261, residual mean square 50.8759077, total 17878.875.
    """
    n, slopes, residual = 200, np.array([0.5658869, 5.486894]), 50.8759077
    inverse = np.array([0.0493849, 1.014261]) ** 2 / residual
    female = 109 * 91 / 200
    shared = 1 - 1 / inverse[1] / female
    read = 1 / inverse[0] / (1 - shared)
    between = -np.sqrt(shared * read * female)  # women read less well: with the other sign female is 5.418
    inner = np.array([[read, between], [between, female]])
    across = inner @ slopes
    moments = np.block([[inner, across[:, None]], [across[None, :], np.array([[17878.875]])]]) / (n - 1)
    columns = with_moments(moments, n)
    names = ("read", "female", "write")
    x, f, y = (Measured(name, "control", columns[:, c]) for c, name in enumerate(names))
    unreliable = replace(x, given=0.9, basis=GIVEN)
    assert corrected(y, [f], unreliable).beta == pytest.approx(0.6289607, abs=2e-6)
    assert corrected(y, [unreliable], f).beta == pytest.approx(5.555659, abs=2e-4)


def test_exact_scores_give_the_f_test_and_the_t_interval() -> None:
    native, controls, proxy = imperfect.measured(
        np.random.default_rng(3), imperfect.Truth(0.9, 0.6, unique=0.7), 29
    )
    found = corrected(exact(native), [exact(c) for c in controls], exact(proxy), 0.9)
    plain = incremental(native.values, np.column_stack([c.values for c in controls]), proxy.values)
    half = stats.t.ppf(0.95, plain.df_resid) * plain.beta_se
    assert found.p == pytest.approx(plain.p_f, rel=1e-9)
    assert found.beta == pytest.approx(plain.beta, rel=1e-9)
    assert (found.lower, found.upper) == pytest.approx((plain.beta - half, plain.beta + half), rel=1e-8)
    assert found.partial_r == pytest.approx(plain.partial_r, rel=1e-9)
    assert (found.r2_base, found.delta_r2) == pytest.approx((plain.r2_base, plain.delta_r2), rel=1e-9)


def test_no_controls_is_spearmans_correction() -> None:
    native, _, proxy = imperfect.measured(np.random.default_rng(4), imperfect.Truth(1.0, benchmark=0.8), 40)
    r = np.corrcoef(native.values, proxy.values)[0, 1]
    found = corrected(native, [], proxy)
    assert found.partial_r == pytest.approx(r / np.sqrt(native.reliability * proxy.reliability))


def test_it_is_the_maximum_of_the_likelihood() -> None:
    """Normal scores: moments less error variances maximise the likelihood where they are a covariance."""
    rng = np.random.default_rng(8)
    native, controls, proxy = imperfect.measured(rng, imperfect.Truth(0.9, 0.6, unique=0.8), 60)
    data = np.column_stack([*(c.values for c in controls), proxy.values, native.values])
    observed = np.cov(data.T, bias=True)
    scale = 59 / 60  # errors are set against variances with n - 1
    errors = np.diag([m.errors().mean() * scale for m in (*controls, proxy, native)])
    lower = np.tril_indices(4)

    def covariance(parameters: np.ndarray) -> np.ndarray:
        root = np.zeros((4, 4))
        root[lower] = parameters
        return root @ root.T

    def deviance(parameters: np.ndarray) -> float:
        implied = covariance(parameters) + errors
        return float(np.linalg.slogdet(implied)[1] + np.trace(np.linalg.solve(implied, observed)))

    start = np.linalg.cholesky(observed)[lower] * 0.9
    best = optimize.minimize(deviance, start, method="BFGS", options={"gtol": 1e-9})
    latent = covariance(best.x)
    beta = np.linalg.solve(latent[:3, :3], latent[:3, 3])[-1]
    assert corrected(native, controls, proxy).beta == pytest.approx(beta, rel=1e-4)


def test_units_do_not_matter() -> None:
    native, controls, proxy = imperfect.measured(
        np.random.default_rng(3), imperfect.Truth(0.9, 0.6, unique=0.7), 29, stated=True
    )
    found = corrected(native, controls, proxy)
    scaled = replace(proxy, values=3 + 100 * proxy.values)
    again = corrected(native, controls, scaled)
    assert again.p == pytest.approx(found.p)
    assert (100 * again.beta, 100 * again.lower, 100 * again.upper) == pytest.approx(
        (found.beta, found.lower, found.upper)
    )


def test_the_test_and_the_interval_agree() -> None:
    """Zero lies outside the 95% interval exactly where p < .05."""
    rng = np.random.default_rng(9)
    for _ in range(200):
        truth = imperfect.Truth(rng.choice([0.9, 0.97]), rng.choice([0, 0.8]), unique=rng.choice([0.1, 0.6]))
        found = corrected(*imperfect.measured(rng, truth, 20, stated=bool(rng.random() < 0.5)))
        assert (found.lower > 0 or found.upper < 0) == (found.p < 0.05)
        assert (found.lower > 0) == (found.p < 0.05 and found.positive)


def test_a_control_that_is_nothing_but_error() -> None:
    native, controls, proxy = imperfect.measured(np.random.default_rng(1), imperfect.Truth(0.9), 29)
    noisy = replace(controls[1], variance=np.full(29, 2 * controls[1].values.var()))
    found = corrected(native, [controls[0], noisy], proxy)
    assert np.isnan(found.p)
    assert "no more than their errors" in found.reason


def test_a_proxy_that_is_nothing_but_error_beyond_the_controls() -> None:
    native, controls, proxy = imperfect.measured(np.random.default_rng(1), imperfect.Truth(0.9), 29)
    found = corrected(native, controls, replace(proxy, variance=np.full(29, 0.5)))
    assert np.isnan(found.beta)
    assert np.isfinite(found.p)  # whether anything is shared can still be asked
    assert "the proxy varies no more than its error" in found.reason
    assert found.p == pytest.approx(corrected(native, controls, proxy).p)


def size_and_coverage(truth: imperfect.Truth, n: int, n_studies: int, *, stated: bool) -> tuple[float, float]:
    """Share of studies with p < .05 and beta above zero, and of intervals that hold the true beta."""
    rng = np.random.default_rng(11)
    fits = [corrected(*imperfect.measured(rng, truth, n, stated=stated)) for _ in range(n_studies)]
    positive = np.mean([fit.p < 0.05 and fit.positive for fit in fits])
    return float(positive), float(np.mean([fit.lower <= truth.beta <= fit.upper for fit in fits]))


@pytest.mark.parametrize("stated", [False, True])
def test_coverage_of_the_true_coefficient(stated: bool) -> None:
    """400 studies: Monte Carlo error .011 at .95."""
    _, covered = size_and_coverage(imperfect.Truth(0.95, 0.8, unique=0.5), 29, 400, stated=stated)
    assert covered == pytest.approx(0.95, abs=3 * 0.011)


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 12, 29, 80])
@pytest.mark.parametrize("stated", [False, True])
@pytest.mark.parametrize("tails", [False, True])
def test_size_and_coverage(n: int, stated: bool, tails: bool) -> None:
    """1,000 studies a line: Monte Carlo error .007 at .95, .005 at .025, .009 at .08. Printed with -s."""
    for reliability in (0.9, 0.95, 0.97, 1.0):
        for beta, unique in ((0.0, 0.1), (0.0, 0.5), (0.8, 0.5)):
            truth = imperfect.Truth(reliability, beta, unique, tails=tails)
            positive, covered = size_and_coverage(truth, n, 1000, stated=stated)
            print(
                f"{n} models, {'stated' if stated else 'known'}, {'tails' if tails else 'normal'}, "
                f"control {reliability}, beta {beta}, unique {unique}: "
                f"above zero {positive:.3f}, covered {covered:.3f}",
                flush=True,
            )
            if (
                beta == 0
            ):  # the only case that is not at its level: a low reliability that is stated, and tails
                assert positive <= (0.10 if stated and tails else 0.05)
            assert covered >= 0.89


def test_item_counts_and_standard_errors_are_one_thing() -> None:
    native, controls, proxy = imperfect.measured(np.random.default_rng(2), imperfect.Truth(0.9), 29)
    other = [replace(c, basis="standard errors") if c.basis == ITEMS else c for c in controls]
    assert corrected(native, controls, proxy) == corrected(native, other, proxy)
