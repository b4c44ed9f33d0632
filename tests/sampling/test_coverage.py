"""Slow: 95% posterior intervals of gaps cover fixed truths; one model in one locale too."""

from __future__ import annotations

import numpy as np
import pytest

from maskedadv.engines import Sampler
from maskedadv.sampling.layout import Layout
from maskedadv.sampling.sample import sample_locale
from tests import simulate
from tests.monte_carlo import assert_share
from tests.sampling.locales import task

GLOBAL, LOCAL = -0.8, -0.2
"""True mean gaps; far from the priors' mean of 0, as published ones are."""


def _set(rng: np.random.Generator, models: int, items: int) -> tuple[Layout, np.ndarray]:
    """A locale whose truth is not drawn from the priors, and its true gaps (J, 3)."""
    ability = 0.8 + 0.7 * rng.standard_normal(models)
    answers, gaps = [], []
    for mean in (GLOBAL, LOCAL):
        gap = mean + (0.3 * rng.standard_normal(models) if models > 1 else 0.0)
        b = 1.2 * rng.standard_normal(items)
        eta = np.concatenate([ability + gap, ability])[:, None] - b
        answers.append((rng.random(eta.shape) < simulate.expit(eta)).astype(float))
        gaps.append(gap * np.ones(models))
    names = [
        np.array([f"{x}{k}" for k in range(n)], dtype=object)
        for x, n in zip("mas", (models, items, items), strict=True)
    ]
    rows = np.arange(2 * models)
    layout = Layout("zh", "en", names[0], (names[1], names[2]), (answers[0], answers[1]), (rows, rows))
    return layout, np.stack([*gaps, gaps[1] - gaps[0]], axis=1)


def coverage(models: int, items: int, sets: int, seed: int = 0) -> np.ndarray:
    """Share of models whose 95% interval holds the truth, per set and gap, shape (sets, 3)."""
    hits = []
    for k in range(sets):
        layout, truth = _set(np.random.default_rng([seed, k]), models, items)
        tree = sample_locale(task(layout, chains=1, sampler=Sampler(warmup=300, draws=1000), seed=k + 1))
        draws = tree["posterior"].to_dataset()["contrast"].values[0]
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        hits.append(((low < truth) & (truth < high)).mean(axis=0))
    return np.array(hits)


@pytest.mark.slow
@pytest.mark.parametrize(("models", "items", "sets"), [(1, 60, 500), (4, 50, 250)])
def test_intervals_cover(models: int, items: int, sets: int):
    found = coverage(models, items, sets)
    print(f"\n{models} models, {items} items: {found.mean(axis=0)} of {sets} sets")
    assert_share(found, 0.95, slack=0.01)


def variant_coverage(models: int, items: int, sets: int, *, slope: float) -> dict[str, np.ndarray]:
    """Error of the mean knowledge gap, share of 95% intervals that hold the true one: (sets, 2) per variant.

    Four options, CS one logit harder with discrimination `slope`; English abilities on the two pools are
    equally spread and correlate 0.9; gaps of models are N(−1.5, 0.3) in both. (Were they all equal, the
    hierarchical prior would make intervals cover too often.)
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for k in range(sets):
        rng = np.random.default_rng([9, k])
        one = rng.standard_normal(models)
        other = 0.9 * one + np.sqrt(1 - 0.81) * rng.standard_normal(models)
        answers, gap_of = [], []
        for z, a, shift in ((one, 1.0, 0.0), (other, slope, 1.0)):
            ability = 1.2 + 0.8 * z
            gap_of.append(-1.5 + 0.3 * rng.standard_normal(models))
            eta = (
                np.concatenate([ability + gap_of[-1], ability])[:, None] - shift - rng.standard_normal(items)
            )
            p = 0.25 + 0.75 * simulate.expit(a * eta)
            answers.append((rng.random(p.shape) < p).astype(float))
        names = [
            np.array([f"{x}{i}" for i in range(n)], dtype=object)
            for x, n in zip("mas", (models, items, items), strict=True)
        ]
        rows = np.arange(2 * models)
        layout = Layout("zh", "en", names[0], (names[1], names[2]), (answers[0], answers[1]), (rows, rows))
        truth = gap_of[1] - gap_of[0]
        chance = (np.full(items, 0.25), np.full(items, 0.25))
        for name, floors in (("plain", None), ("floor", chance)):
            sampler = Sampler(warmup=300, draws=500)
            tree = sample_locale(task(layout, chains=1, sampler=sampler, seed=k + 1, chance=floors))
            posterior = tree["posterior"].to_dataset()
            gaps, spread = posterior["contrast"].values[0], posterior["facet_spread"].values[0]
            ratio = (spread[:, 1, 1] / spread[:, 0, 1])[:, None]
            linked = {"plain": "linked", "floor": "floor+linked"}[name]
            for variant, draws in ((name, gaps[..., 2]), (linked, gaps[..., 1] / ratio - gaps[..., 0])):
                low, high = np.quantile(draws, [0.025, 0.975], axis=0)
                inside = (low < truth) & (truth < high)
                found.setdefault(variant, []).append((draws.mean() - truth.mean(), inside.mean()))
    return {v: np.array(f) for v, f in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("models", "items", "sets", "slope"), [(20, 100, 60, 0.7)])
def test_floor_and_link_together_cover_under_nuts(models: int, items: int, sets: int, slope: float):
    found = variant_coverage(models, items, sets, slope=slope)
    shown = {v: f.mean(axis=0).round(3) for v, f in found.items()}
    print(f"\n{models} models, {items} items, discrimination {slope}: {shown}")
    error, inside = found["floor+linked"].T
    assert_share(error, 0.0, slack=0.05)  # a posterior mean of a ratio, with priors: nearly unbiased
    assert_share(inside, 0.95, slack=0.01)
    assert abs(found["plain"][:, 0].mean()) > 0.1
