"""Bias and coverage of the paired gap where models depend on each other, and Hausman's size and power.

The last figures stand in docs/studies.md; run as `python -m tests.studies.test_paired` for its tables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from maskedadv.gaps.hausman import compare_gaps, find_shift
from maskedadv.likelihoods import paired
from maskedadv.maximum_likelihood.marginal import fit_marginal
from maskedadv.maximum_likelihood.paired import PairedEstimate, fit_paired, fit_paired_floor
from tests.simulate import block, copies, floored_block, languages
from tests.studies.test_bias_and_coverage import ENGINE

Array = NDArray[np.float64]
Make = Callable[[np.random.Generator], Array]
CROSSED = 1.959964

SETTINGS: dict[str, tuple[float, Make]] = {
    "six copies of one model": (-2.0, lambda r: copies(r, -2.0, 6, 600, copied=6)),
    "six relatives, 80% of answers shared": (-2.0, lambda r: copies(r, -2.0, 6, 600, copied=6, share=0.8)),
    "3 copies among 6": (-0.8, lambda r: copies(r, -0.8, 6, 600, copied=3)),
    "model × item sd 1, 8 models": (-2.0, lambda r: block(r, -2.0, 8, 600, model_item=1.0)),
    "model × item sd 1, 8 models ": (-0.8, lambda r: block(r, -0.8, 8, 600, model_item=1.0)),
    "Rasch, 3 models": (-0.8, lambda r: block(r, -0.8, 3, 600)),
    "Rasch, 8 models": (-0.8, lambda r: block(r, -0.8, 8, 600)),
}


def single_and_mean(found: PairedEstimate, truth: float) -> tuple[float, float, float]:
    """Mean gap, share of single intervals that cover the truth, whether the mean's does."""
    known = np.isfinite(found.gap)
    sd = np.sqrt((found.rows**2).sum(axis=0))
    covered = np.where(
        known, np.abs(found.gap - truth) < CROSSED * sd, (found.lower < truth) & (found.upper > truth)
    )
    mean = found.gap[known].mean()
    own = found.rows[:, known].mean(axis=1)
    return float(mean), float(covered.mean()), float(abs(mean - truth) < CROSSED * np.sqrt(own @ own))


def study(make: Make, truth: float, sets: int, *, seed: int, chance: float = 0.0) -> tuple[float, ...]:
    """Mean gap, its Monte Carlo error, coverage of single gaps and of the mean over models."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(sets):
        local, pivot = languages(make(rng))
        if chance:
            found = fit_paired_floor(local, pivot, np.full(local.shape[1], chance), interval="robust")
        else:
            found = fit_paired(local, pivot, interval="robust")
        rows.append(single_and_mean(found, truth))
    table = np.array(rows)
    return (
        float(table[:, 0].mean()),
        float(table[:, 0].std(ddof=1) / np.sqrt(sets)),
        *table[:, 1:].mean(axis=0),
    )


def knowledge_study(sets: int, *, seed: int) -> tuple[float, float, float]:
    """True knowledge gap 0; model × item sd 0.3 on CA, 1.5 on CS, 10 models: mean, its error, coverage."""
    rng = np.random.default_rng(seed)
    means, hits = [], []
    for _ in range(sets):
        ca, cs = (
            fit_paired(*languages(block(rng, -2.0, 10, 600, model_item=sd)), interval="robust")
            for sd in (0.3, 1.5)
        )
        mean = cs.gap.mean() - ca.gap.mean()
        rows = np.concatenate([cs.rows.mean(axis=1), ca.rows.mean(axis=1)])
        means.append(mean)
        hits.append(abs(mean) < CROSSED * np.sqrt(rows @ rows))
    return float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(sets)), float(np.mean(hits))


def rejected(make: Make, sets: int, *, seed: int) -> float:
    """Share of sets in which plain (marginal) and paired differ at 5%."""
    rng = np.random.default_rng(seed)
    return float(np.mean([_p_value(make(rng)) < 0.05 for _ in range(sets)]))


def _p_value(answers: Array) -> float:
    models = len(answers) // 2
    found = fit_marginal(answers, ENGINE, interval="robust", seed=1)
    with np.errstate(invalid="ignore"):
        gap = found.ability[:models] - found.ability[models:]
    influence = found.uncertainty[:, :models] - found.uncertainty[:, models:]
    score, information = paired.conditional_score(paired.find_pairs(*languages(answers)), gap)
    return compare_gaps(find_shift(score, information, influence, np.arange(len(score)).astype(object)))[2].p


@pytest.mark.parametrize("name", SETTINGS)
def test_paired_is_near_the_truth_quick(name: str) -> None:
    truth, make = SETTINGS[name]
    mean, error, single, whole = study(make, truth, 120, seed=3)
    assert abs(mean - truth) < 0.03 + 3 * error
    assert 0.90 < single < 0.99
    assert whole > 0.88


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_paired_is_within_three_hundredths_and_covers(name: str) -> None:
    truth, make = SETTINGS[name]
    mean, error, single, whole = study(make, truth, 2000, seed=4)
    print(f"\n{name}, {truth}: {mean:.3f} ± {error:.3f}, covered {single:.3f}, mean row {whole:.3f}")
    assert abs(mean - truth) < 0.03
    assert 0.93 < single < 0.97
    assert 0.93 < whole < 0.97


@pytest.mark.slow
def test_model_by_item_effects_make_no_paired_knowledge_gap() -> None:
    mean, error, covered = knowledge_study(1500, seed=5)
    print(f"\nknowledge gap 0, sd 0.3/1.5, 10 models: {mean:.3f} ± {error:.3f}, covered {covered:.3f}")
    assert abs(mean) < 0.03
    assert 0.93 < covered < 0.97


@pytest.mark.slow
@pytest.mark.parametrize("gap", [-0.8, -2.0])
def test_paired_with_a_floor(gap: float) -> None:
    make = partial(floored_block, gap=gap, models=8, items=600, chance=0.25, model_item=1.0)
    mean, error, single, whole = study(make, gap, 400, seed=6, chance=0.25)
    print(f"\nfloor .25, sd 1, 8 models, {gap}: {mean:.3f} ± {error:.3f}, covered {single:.3f}, {whole:.3f}")
    assert abs(mean - gap) < 0.04
    assert 0.92 < single < 0.98
    assert 0.92 < whole < 0.98


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "items", "sets"),
    [
        (3, 60, 1000),
        (3, 600, 1000),
        (8, 60, 1000),
        (8, 600, 600),
        (20, 60, 600),
        (20, 600, 400),
        (80, 60, 300),
        (80, 600, 200),
    ],
)
def test_size_of_hausman(models: int, items: int, sets: int) -> None:
    share = rejected(partial(block, gap=-0.8, models=models, items=items), sets, seed=7)
    error = np.sqrt(share * (1 - share) / sets)
    print(f"\nHausman, Rasch, {models} models, {items} items: {share:.3f} ± {error:.3f}")
    assert 0.03 - 2 * error < share < 0.07 + 2 * error


@pytest.mark.slow
def test_power_of_hausman() -> None:
    for name in list(SETTINGS)[:5]:
        share = rejected(SETTINGS[name][1], 200, seed=8)
        print(f"\nHausman, {name}: {share:.3f}")
        assert share > 0.9
