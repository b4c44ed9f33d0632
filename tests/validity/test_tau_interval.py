"""Which interval of tau is chosen, and how often each candidate holds the truth, by size of the study.

The small version runs always; `pytest -m slow tests/validity/test_tau_interval.py -s` prints the table of
docs/how-to/validity.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from maskedadv.validity import Settings, study
from maskedadv.validity.pairings import PairingFile
from maskedadv.validity.ranking import (
    _weighted_tau,
    fisher_interval,
    interval_for,
    studentised_interval,
    tau_draws,
)
from maskedadv.validity.resample import Interval, model_weights, percentile_interval

TAUS = (0.3, 0.6, 0.8, 0.9)
SIZES = (8, 12, 20, 29, 40, 80)


def normal(rng: np.random.Generator, n: int, tau: float) -> tuple[np.ndarray, np.ndarray]:
    """Bivariate normal scores; tau = 2/pi asin(rho)."""
    rho = np.sin(np.pi * tau / 2)
    x = rng.normal(size=n)
    return x, rho * x + np.sqrt(1 - rho**2) * rng.normal(size=n)


def clayton(rng: np.random.Generator, n: int, tau: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores that agree most at the bottom (Clayton's copula); tau = theta/(theta + 2)."""
    theta = 2 * tau / (1 - tau)
    u, w = rng.random((2, n))
    return u, ((w ** (-theta / (1 + theta)) - 1) * u ** (-theta) + 1) ** (-1 / theta)


def normal_theory(x: np.ndarray, y: np.ndarray, level: float) -> Interval:
    """Fisher's z with the variance .437/(n - 4) of normal scores (Fieller, Hartley & Pearson 1957)."""
    tau = stats.kendalltau(x, y).statistic
    if abs(tau) == 1:
        return Interval(np.nan, np.nan)
    half = stats.norm.ppf((1 + level) / 2) * np.sqrt(0.437 / (len(x) - 4))
    return Interval(np.tanh(np.arctanh(tau) - half), np.tanh(np.arctanh(tau) + half))


def coverage(
    make: Callable, n: int, tau: float, n_studies: int, n_resamples: int = 1000, seed: int = 7
) -> dict[str, tuple[float, float]]:
    """Of every candidate: share of the intervals given that hold tau, and their median width."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[Interval]] = {}
    for _ in range(n_studies):
        x, y = make(rng, n, tau)
        weights = model_weights(n, n_resamples, rng)
        intervals = {
            "percentile": percentile_interval(tau_draws(weights, x, y), 0.95),
            "studentised": studentised_interval(weights, x, y, 0.95),
            "Fisher z": fisher_interval(x, y, 0.95),
            "normal theory": normal_theory(x, y, 0.95),
        }
        intervals["chosen"] = intervals[interval_for(n)]
        for name, interval in intervals.items():
            found.setdefault(name, []).append(interval)
    table = {}
    for name, given in found.items():
        there = [i for i in given if np.isfinite(i.lower)]
        hits = [i.lower <= tau <= i.upper for i in there]
        table[name] = float(np.mean(hits)), float(np.median([i.upper - i.lower for i in there]))
    return table


def test_standard_error_is_that_of_independent_jackknife() -> None:
    """The infinitesimal jackknife's differs from the delete-one jackknife's by terms of order 1/n."""
    rng = np.random.default_rng(3)
    n = 400
    x, y = normal(rng, n, 0.6)
    _, variance = _weighted_tau(np.ones((1, n)), x, y)
    without = np.array([stats.kendalltau(np.delete(x, i), np.delete(y, i)).statistic for i in range(n)])
    jackknife = (n - 1) / n * ((without - without.mean()) ** 2).sum()
    assert variance[0] == pytest.approx(jackknife, rel=0.03)
    interval = fisher_interval(x, y, 0.9)
    z = np.arctanh(stats.kendalltau(x, y).statistic)
    half = stats.t.ppf(0.95, n - 2) * np.sqrt(jackknife) * np.cosh(z) ** 2  # dz/dtau = cosh(z)^2
    assert (interval.lower, interval.upper) == pytest.approx((np.tanh(z - half), np.tanh(z + half)), abs=2e-3)


def test_no_interval_at_the_edge() -> None:
    assert "tau is 1 or -1" in fisher_interval(np.arange(8.0), np.arange(8.0), 0.95).reason


@pytest.mark.parametrize(("n", "name"), [(12, "percentile"), (20, "Fisher z"), (40, "studentised")])
def test_the_study_says_what_it_chose(n: int, name: str, tau_study: Callable) -> None:
    row = tau_study(n, Settings(300, repeats=2)).ranking.iloc[0]
    assert row["chosen"] == name
    for other, suffix in (("percentile", ""), ("studentised", "_t")):
        limits = (row[f"lower{suffix}"], row[f"upper{suffix}"])
        assert ((row["lower_chosen"], row["upper_chosen"]) == limits) == (name == other)
    assert row["lower_chosen"] < row["tau"] < row["upper_chosen"]


def test_families_keep_the_percentiles_of_their_resamples(tau_study: Callable) -> None:
    row = tau_study(40, Settings(300, repeats=2, resample="families")).ranking.iloc[0]
    assert row["chosen"] == "percentile"
    assert (row["lower_chosen"], row["upper_chosen"]) == (row["lower"], row["upper"])


@pytest.fixture
def tau_study(simulated) -> Callable:
    """A study of n models, every one a family of its own beyond the first eight."""
    import pandas as pd

    pairing = replace(simulated.plan.pairings[0], controls=(), extra_controls=())

    def run(n: int, settings: Settings):
        rng = np.random.default_rng(n)
        x, y = normal(rng, n, 0.6)
        names = [f"m{j:02d}" for j in range(n)]
        rows = [
            pd.DataFrame({"model": names, "benchmark": b, "language": "sv", "accuracy": 1 / (1 + np.exp(-s))})
            for b, s in ((pairing.native, x), (pairing.proxy, y))
        ]
        models = pd.DataFrame({"model": names, "family": [f"f{j % (n - 2)}" for j in range(n)]})
        return study(PairingFile((pairing,)), pd.concat(rows), models, settings)

    return run


def test_the_chosen_interval_keeps_its_level_where_the_studentised_one_does_not() -> None:
    """12 models, tau .8, 400 studies: Monte Carlo error .011 at .95."""
    found = coverage(normal, 12, 0.8, 400, 400)
    assert found["chosen"][0] >= 0.95 - 3 * 0.011
    assert found["studentised"][0] < 0.92


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
def test_coverage_by_size(n: int) -> None:
    """1,000 studies a line: Monte Carlo error .007 at .95."""
    for make in (normal, clayton):
        for tau in TAUS:
            found = coverage(make, n, tau, 1000)
            words = ", ".join(f"{name} {share:.3f} ({width:.2f})" for name, (share, width) in found.items())
            print(f"{n} models, {make.__name__}, tau {tau}: {words}", flush=True)
            assert found["chosen"][0] >= 0.93, (make.__name__, tau)
