"""Slow: 95% posterior intervals of gaps cover fixed truths; one model in one locale too."""

from __future__ import annotations

import numpy as np
import pytest

from maskedadv.engines import Sampler
from maskedadv.fitting.nuts.layout import Layout
from maskedadv.fitting.nuts.sample import sample_locale
from tests import simulate
from tests.nuts.locales import task

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
    """Share of sets whose 95% interval holds the truth, per gap, averaged over models, shape (3,)."""
    hits = []
    for k in range(sets):
        layout, truth = _set(np.random.default_rng([seed, k]), models, items)
        tree = sample_locale(task(layout, chains=1, sampler=Sampler(warmup=300, draws=1000), seed=k + 1))
        draws = tree["posterior"].to_dataset()["contrast"].values[0]
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        hits.append(((low < truth) & (truth < high)).mean(axis=0))
    return np.mean(hits, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize(("models", "items", "sets"), [(1, 60, 500), (4, 50, 250)])
def test_intervals_cover(models: int, items: int, sets: int):
    """Binomial noise of the pooled share is below 1%."""
    found = coverage(models, items, sets)
    assert 0.93 <= found.mean() <= 0.97, found
    assert np.all(np.abs(found - 0.95) < 0.035), found
