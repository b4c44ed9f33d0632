"""The guessing floor at the papers' size: maximum likelihood and NUTS, beside their peers."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from maskedadv.engines import Sampler
from maskedadv.engines.embedded import Embedded
from maskedadv.maximum_likelihood.guessing import fit_floor
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.sample import Task
from tests.benchmarks.nuts import (
    EXPLAINED,
    ITEMS,
    MODELS,
    TARGET,
    Row,
    embedded,
    ess_table,
    numpyro,
    simulated,
    write,
)

Array = NDArray[np.float64]
CHANCE = 0.25
CHAINS, WARMUP, DRAWS = 2, 300, 300


def run() -> list[str]:
    """Lines of Markdown."""
    layout = simulated(CHANCE)
    lines = [
        f"Maximum likelihood, {MODELS} models, {ITEMS[0]} + {ITEMS[1]} items, one locale; ours with robust "
        "standard errors, SciPy's L-BFGS-B on the same likelihood (121 fixed nodes, own gradient) without.",
        "",
        "| fit | seconds | largest difference of a gap |",
        "| --- | ---: | ---: |",
    ]
    began = time.perf_counter()
    ours = [
        fit_floor(a, np.full(a.shape[1], CHANCE), Embedded(), interval="robust", seed=1).ability
        for a in layout.answers
    ]
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    theirs = [_scipy(a) for a in layout.answers]
    other = time.perf_counter() - began
    off = max(np.abs((a - b)[:MODELS] - (a - b)[MODELS:]).max() for a, b in zip(ours, theirs, strict=True))
    lines += [f"| maskedadv, floor | {seconds:.1f} | |", f"| SciPy | {other:.1f} | {off:.1e} |", ""]

    first, second = (np.full(a.shape[1], CHANCE) for a in layout.answers)
    sampler = Sampler(WARMUP, DRAWS, TARGET)
    task = Task(
        layout, "binary", "auto", Priors(), sampler, CHAINS, "embedded", seed=1, chance=(first, second)
    )
    plan, seconds, gap, steps = embedded(task)
    rows: list[Row] = [(f"maskedadv, {plan.program}", CHAINS * DRAWS, seconds, gap, steps, "")]
    with tempfile.TemporaryDirectory() as folder:
        data = write(layout, Path(folder), CHANCE)
        found = numpyro(data, "float32", (CHAINS, WARMUP, DRAWS))  # float64 takes a quarter of an hour
        if isinstance(found, str):
            rows.append(("NumPyro float32", 0, np.nan, np.empty((0, 0, 0)), np.nan, found))
        else:
            rows.append(("NumPyro float32, explicit difficulties", CHAINS * DRAWS, *found, ""))
    intro = (
        f"NUTS, the same locale; {CHAINS} chains of {WARMUP} + {DRAWS}, target acceptance {TARGET}. "
        f"{EXPLAINED}"
    )
    return [*lines, intro, "", *ess_table(rows)]


def _scipy(answers: Array) -> Array:
    """Abilities by a general-purpose optimiser: the marginal likelihood on 121 nodes of z."""
    z = np.linspace(-6, 6, 121)
    weight = -(z**2) / 2

    def loss(point: Array) -> tuple[float, Array]:
        sigma = np.exp(point[-1])
        eta = point[:-1, None] - sigma * z
        s = expit(eta)
        p = CHANCE + (1 - CHANCE) * s
        joint = answers.T @ np.log(p) + (1 - answers.T) @ np.log1p(-p) + weight
        total = logsumexp(joint, axis=1)
        share = np.exp(joint - total[:, None])
        slope = (1 - CHANCE) * s * (1 - s)
        by_node = (answers @ share) / p * slope - ((1 - answers) @ share) / (1 - p) * slope
        return -float(total.sum()), -np.append(by_node.sum(axis=1), -(by_node * sigma * z).sum())

    start = np.append(np.zeros(len(answers)), 0.0)
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000}).x[:-1])
