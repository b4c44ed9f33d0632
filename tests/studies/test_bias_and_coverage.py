"""Bias and coverage of the estimators over simulated data; figures: docs/explanation/studies.md."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from maskedadv.engines.embedded import Embedded
from maskedadv.maximum_likelihood.block_estimate import BlockEstimate
from maskedadv.maximum_likelihood.joint import fit_joint
from maskedadv.maximum_likelihood.marginal import fit_marginal
from tests.simulate import block, expit

Array = NDArray[np.float64]
ENGINE = Embedded()
GAP = -0.8


def gaps(found: BlockEstimate) -> tuple[Array, Array]:
    """Gaps of all models (local cells stand first) and their standard errors."""
    models = len(found.ability) // 2
    rows = found.uncertainty[:, :models] - found.uncertainty[:, models:]
    return found.ability[:models] - found.ability[models:], np.sqrt((rows**2).sum(axis=0))


def mean_gap(estimator: str, models: int, items: int, sets: int, seed: int) -> tuple[float, float]:
    """Mean estimated gap over simulated sets and its Monte Carlo standard error."""
    rng = np.random.default_rng(seed)
    fitter = fit_joint if estimator == "joint" else fit_marginal
    means = []
    for _ in range(sets):
        estimate = gaps(fitter(block(rng, GAP, models, items), ENGINE, interval="information", seed=1))[0]
        means.append(estimate[np.isfinite(estimate)].mean())
    return float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(sets))


@pytest.mark.parametrize(("models", "factor"), [(1, 2.0), (2, 1.38), (5, 1.12), (10, 1.05)])
def test_joint_inflates_by_about_c_over_c_minus_one(models: int, factor: float) -> None:
    mean, error = mean_gap("joint", models, 600, 60 if models < 5 else 20, seed=models)
    assert mean / GAP == pytest.approx(factor, abs=0.03 + 3 * error / abs(GAP))


@pytest.mark.parametrize(("models", "sets"), [(1, 150), (2, 100), (5, 50), (20, 15)])
def test_marginal_is_unbiased_quick(models: int, sets: int) -> None:
    mean, error = mean_gap("marginal", models, 400, sets, seed=10 + models)
    assert abs(mean - GAP) < 3.5 * error
    assert error < 0.03


@pytest.mark.slow
@pytest.mark.parametrize(("models", "sets"), [(1, 6000), (2, 4000), (5, 2000), (20, 700), (80, 250)])
def test_marginal_mean_error_is_under_a_hundredth(models: int, sets: int) -> None:
    mean, error = mean_gap("marginal", models, 600, sets, seed=100 + models)
    print(
        f"\nmarginal, {models} models, 600 items, {sets} sets: mean gap {mean:.4f} ± {error:.4f} (true {GAP})"
    )
    assert abs(mean - GAP) < 0.01


def coverage(interval: str, models: int, items: int, sets: int, seed: int) -> tuple[float, float]:
    """Share of 95% intervals of single models, and of the mean over models, that cover the true gap."""
    rng = np.random.default_rng(seed)
    hits, mean_hits = [], []
    for _ in range(sets):
        found = fit_marginal(block(rng, GAP, models, items), ENGINE, interval=interval, seed=1)
        estimate, sd = gaps(found)
        hits.append(np.abs(estimate - GAP) < 1.959964 * sd)
        rows = (found.uncertainty[:, :models] - found.uncertainty[:, models:]).mean(axis=1)
        mean_hits.append(abs(estimate.mean() - GAP) < 1.959964 * np.sqrt(rows @ rows))
    return float(np.mean(hits)), float(np.mean(mean_hits))


@pytest.mark.parametrize("interval", ["robust", "information"])
def test_coverage_quick(interval: str) -> None:
    single, _ = coverage(interval, 3, 300, 120, seed=5)
    assert 0.91 < single < 0.985


@pytest.mark.slow
@pytest.mark.parametrize("interval", ["robust", "information"])
@pytest.mark.parametrize(("models", "sets"), [(1, 4000), (2, 3000), (5, 2000), (20, 600)])
def test_intervals_cover_the_true_gap(interval: str, models: int, sets: int) -> None:
    single, mean = coverage(interval, models, 400, sets, seed=200 + models)
    print(f"\n{interval}, {models} models, 400 items, {sets} sets: covered {single:.3f}, mean row {mean:.3f}")
    assert 0.93 < single < 0.97
    assert 0.93 < mean < 0.97


def misspecified(rng: np.random.Generator, ability: Array, items: int) -> Array:
    """A model × item effect of sd 1 shared by a model's two answers; items of differing discrimination."""
    b = 1.2 * rng.standard_normal(items)
    slope = np.exp(0.4 * rng.standard_normal(items))
    shared = rng.standard_normal((len(ability), items))
    eta = np.stack([ability + GAP, ability])[:, :, None] + shared - b
    return (rng.random(eta.shape) < expit(slope * eta)).astype(float).reshape(2 * len(ability), items)


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "sets"), [("marginal", 2500), ("joint", 2500)])
def test_robust_intervals_cover_the_large_sample_value_when_the_model_is_wrong(
    estimator: str, sets: int
) -> None:
    """The estimator's own large-sample value, from 300,000 items, not the gap that made the data."""
    fitter = fit_joint if estimator == "joint" else fit_marginal
    ability = np.array([0.2, 0.8, 1.4, 1.0])
    rng = np.random.default_rng(7)
    large = [
        gaps(fitter(misspecified(rng, ability, 50_000), ENGINE, interval="information", seed=1))[0]
        for _ in range(6)
    ]
    aim = np.mean(large, axis=0)
    share = {}
    for interval in ("robust", "information"):
        rng = np.random.default_rng(8)
        hits = []
        for _ in range(sets):
            estimate, sd = gaps(fitter(misspecified(rng, ability, 400), ENGINE, interval=interval, seed=1))
            hits.append(np.abs(estimate - aim) < 1.959964 * sd)
        share[interval] = float(np.mean(hits))
    print(f"\n{estimator}, wrong model, 4 models, 400 items, {sets} sets: aim {np.round(aim, 3)}")
    print(f"covered: {share}")
    assert 0.93 < share["robust"] < 0.97
