"""NUTS at the papers' size: effective draws of the knowledge gap a second, beside its peers."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import arviz as az
import numpy as np
from numpy.typing import NDArray

from maskedadv.engines import Sampler
from maskedadv.engines.embedded import Embedded
from maskedadv.sampling.layout import Layout
from maskedadv.sampling.pairs import pairs_only
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.sample import Plan, Task, make_plan, sample_locale
from tests.benchmarks.tables import answers

Array = NDArray[np.float64]

MODELS, ITEMS = 80, (2058, 500)
CHAINS, WARMUP, DRAWS = 2, 500, 500
JOINT = (2, 150, 100)
"""Chains, warmup and draws of the joint program, which is too slow for more."""
Row = tuple[str, int, float, Array, float, str]
"""Name, draws, seconds, draws of the knowledge gap, leapfrog steps; or a note why there is nothing."""
EXPLAINED = (
    "ESS is the median over models of the bulk ESS of the knowledge gap; 'off' the largest difference of its "
    "mean from the first row's, in posterior sd."
)
TARGET = 0.8
"""Target acceptance of all programs compared, NumPyro's default and the fastest for each."""


def run() -> list[str]:
    """Lines of Markdown."""
    layout = simulated()
    rows: list[Row] = []
    plan, seconds, gap, steps = embedded(_task(layout, "marginal", Sampler(WARMUP, DRAWS, TARGET), CHAINS))
    rows.append((f"maskedadv, {plan.program}", CHAINS * DRAWS, seconds, gap, steps, ""))
    with tempfile.TemporaryDirectory() as folder:
        data = write(layout, Path(folder))
        for precision in ("float32", "float64"):
            found = numpyro(data, precision)
            if isinstance(found, str):
                rows.append((f"NumPyro {precision}", 0, np.nan, np.empty((0, 0, 0)), np.nan, found))
            else:
                rows.append((f"NumPyro {precision}, explicit difficulties", CHAINS * DRAWS, *found, ""))
    chains, warmup, draws = JOINT
    plan, seconds, gap, steps = embedded(_task(layout, "joint", Sampler(warmup, draws, TARGET), chains))
    rows.append((f"maskedadv, {plan.program} ({warmup} + {draws})", chains * draws, seconds, gap, steps, ""))

    intro = (
        f"{MODELS} models, {ITEMS[0]} + {ITEMS[1]} items, one locale; {CHAINS} chains of {WARMUP} + {DRAWS} "
        f"unless said otherwise, target acceptance {TARGET}, warmup counted, compilation not. {EXPLAINED}"
    )
    lines = [intro, "", *ess_table(rows)]
    lines += ["", _pairs(layout, rows[0]), "", _whole(layout)]
    return lines


def ess_table(rows: list[Row]) -> list[str]:
    """Markdown lines of a table; the first row is the reference of the column `off`."""
    reference = rows[0][3]
    mean, sd = reference.mean((0, 1)), reference.std((0, 1))
    lines = [
        "| program | draws | seconds | leapfrog steps | ESS | ESS a second | off |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, count, seconds, gap, steps, note in rows:
        if note:
            lines.append(f"| {name} | {note} | | | | | |")
            continue
        ess = float(np.median([az.ess(gap[:, :, j]) for j in range(MODELS)]))
        off = float((np.abs(gap.mean((0, 1)) - mean) / sd).max())
        lines.append(
            f"| {name} | {count:,} | {seconds:.1f} | {steps:.0f} | {ess:,.0f} "
            f"| {ess / seconds:,.1f} | {off:.3f} |"
        )
    return lines


def simulated(chance: float = 0.0) -> Layout:
    """One locale of the papers' size, with a guessing floor if asked for."""
    rng = np.random.default_rng(1)
    blocks = (
        answers(rng, MODELS, ITEMS[0], -0.8, chance=chance),
        answers(rng, MODELS, ITEMS[1], -0.2, chance=chance),
    )
    names = [
        np.array([f"{x}{k}" for k in range(n)], dtype=object)
        for x, n in zip("mas", (MODELS, *ITEMS), strict=True)
    ]
    rows = np.arange(2 * MODELS)
    return Layout("zh", "en", names[0], (names[1], names[2]), blocks, (rows, rows))


def _task(layout: Layout, estimator: str, sampler: Sampler, chains: int) -> Task:
    return Task(layout, "binary", estimator, Priors(), sampler, chains, "embedded", seed=1)


def embedded(task: Task) -> tuple[Plan, float, Array, float]:
    """The plan, seconds, draws of the knowledge gap and mean leapfrog steps."""
    began = time.perf_counter()
    plan = make_plan(task)
    found = Embedded().sample(plan.program, plan.data, plan.inits, task.sampler, seed=plan.seed)
    seconds = time.perf_counter() - began
    return plan, seconds, found.variables["contrast"][..., 2], float(found.stats["n_steps"].mean())


def _pairs(layout: Layout, plain: Row) -> str:
    """The program of pairs on the same answers, beside the plain one."""
    task = replace(_task(pairs_only(layout), "marginal", Sampler(WARMUP, DRAWS, TARGET), CHAINS), paired=True)
    plan, seconds, gap, steps = embedded(task)
    ess = float(np.median([az.ess(gap[:, :, j]) for j in range(MODELS)]))
    return (
        f"{plan.program}, each model by itself on the same answers: {seconds:.1f} s, {steps:.0f} leapfrog "
        f"steps, ESS {ess:,.0f}, {ess / seconds:,.1f} a second; {seconds / plain[2]:.1f} times the seconds "
        f"of {plain[0].removeprefix('maskedadv, ')}."
    )


def _whole(layout: Layout) -> str:
    """A locale as `fit` does it: sampling, difficulties drawn back, totals replicated."""
    began = time.perf_counter()
    tree = sample_locale(_task(layout, "auto", Sampler(), 4))
    seconds = time.perf_counter() - began
    diverging = int(tree["sample_stats"].to_dataset()["diverging"].sum())
    return (
        "A whole locale as `maskedadv fit` does it by default (4 chains of 1,000 + 1,000, adapt_delta 0.9), "
        f"difficulties drawn back and totals replicated: {seconds:.0f} s, {diverging} divergences."
    )


def write(layout: Layout, folder: Path, chance: float = 0.0) -> Path:
    """What NumPyro's process needs of a locale, in a file."""
    from maskedadv.sampling.starts import rough

    values: dict[str, object] = {"models": MODELS}
    starts = [rough(a, continuous=False) for a in layout.answers]
    priors = Priors()
    for name, block, start in zip(("ca", "cs"), layout.answers, starts, strict=True):
        values[f"cell_total_{name}"], values[f"item_total_{name}"] = block.sum(axis=1), block.sum(axis=0)
        values[f"difficulty_{name}"] = start.difficulty
        if chance:
            values |= {f"answers_{name}": block, "chance": chance}
    values["ability"] = np.concatenate([s.ability.reshape(2, MODELS).T for s in starts], axis=1)
    values["sigma_b"] = np.array([s.sigma for s in starts])
    values |= {"prior_level": priors.level, "prior_gap": priors.gap, "prior_correlation": priors.correlation}
    values["prior_spread"] = np.array([priors.spread, priors.spread_log_sd])
    values["prior_difficulty"] = np.array([priors.difficulty, priors.difficulty_log_sd])
    path = folder / "data.npz"
    np.savez(path, **values)  # type: ignore[arg-type]
    return path


def numpyro(
    data: Path, precision: str, size: tuple[int, int, int] = (CHAINS, WARMUP, DRAWS)
) -> tuple[float, Array, float] | str:
    """Seconds, draws of the knowledge gap and mean leapfrog steps, or why there are none."""
    peer = Path(__file__).with_name("numpyro_peer.py")
    arguments = [sys.executable, str(peer), str(data), precision, *map(str, size)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["failed"])[-1]
        return "not installed" if "No module named" in last else f"failed: {last[:60]}"
    said = json.loads(done.stdout.strip().splitlines()[-1])
    gap = np.load(f"{data}.{precision}.npz")["knowledge_gap"]
    return said["seconds"], gap, said["steps"]
