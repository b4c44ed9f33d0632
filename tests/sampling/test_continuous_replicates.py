"""Replicated totals of continuous responses: against their known normal distribution, holes included."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from maskedadv.engines import Sampler
from maskedadv.engines.embedded import Embedded
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.sample import Task, make_plan
from tests.benchmarks import nuts


def test_replicates_are_normal_about_the_observed_pattern(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Of every cell and item: mean and sd of sums over what was seen; 0 where nothing was."""
    monkeypatch.setattr(nuts, "MODELS", 4)
    monkeypatch.setattr(nuts, "ITEMS", (9, 7))
    rng = np.random.default_rng(1)
    layout = nuts.simulated()
    answers = tuple(np.where(rng.random(a.shape) < 0.2, np.nan, rng.normal(a)) for a in layout.answers)
    answers[0][2] = np.nan
    task = Task(
        replace(layout, answers=answers),
        "crm",
        "joint",
        Priors(),
        Sampler(100, 300, 0.9),
        2,
        "embedded",
        seed=1,
    )
    plan = make_plan(task)
    assert plan.program == "posterior_continuous"
    found = Embedded().sample(plan.program, plan.data, plan.inits, task.sampler, seed=1).variables
    flat = {name: v.reshape(600, *v.shape[2:]) for name, v in found.items()}
    for s, subset in enumerate(("ca", "cs")):
        seen = ~np.isnan(answers[s])
        ability = np.concatenate([flat["ability"][:, :, 2 * s + k] for k in (0, 1)], axis=1)
        mean = (ability[:, :, None] - flat[f"difficulty_{subset}"][:, None, :]) * seen
        noise = flat["noise"][:, s, None]
        for axis, name in ((2, "cell"), (1, "item")):
            count = seen.sum(axis=axis - 1)
            z = (flat[f"{name}_rep_{subset}"] - mean.sum(axis=axis))[:, count > 0]
            z /= noise * np.sqrt(count[count > 0])
            assert abs(z.mean()) < 4.5 / np.sqrt(z.size)
            assert abs(z.var() - 1) < 4.5 * np.sqrt(2 / z.size)
            assert np.abs(np.corrcoef(z.T)[np.triu_indices(z.shape[1], 1)]).max() < 5 / np.sqrt(600)
            assert not flat[f"{name}_rep_{subset}"][:, count == 0].any()
