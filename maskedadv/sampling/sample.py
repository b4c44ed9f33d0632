"""Sample the posterior of one locale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from maskedadv.engines import Chains, choose_engine
from maskedadv.result.draws import Draws, build_tree
from maskedadv.sampling.likeness import replicate_likeness
from maskedadv.sampling.programs import PROGRAMS, choose_program
from maskedadv.sampling.stan_data import known_gaps
from maskedadv.sampling.starts import jittered
from maskedadv.sampling.task import Plan, Task, locale_seed

__all__ = ["Plan", "Task", "finish", "locale_seed", "make_plan", "sample_locale"]

Array = NDArray[np.float64]
Progress = Callable[[str], None]

REPLICATES = 1000
"""At most about this many draws of a locale get replicated totals; enough for p-values to two digits."""


def make_plan(task: Task) -> Plan:
    """Choose the program, lay its grid, compute data and starts."""
    choice = choose_program(task)
    program = PROGRAMS[choice.program]
    ready = program.prepare(task, choice)
    seed = locale_seed(task.seed, task.layout.locale)
    inits = jittered(ready.starts, program.own_starts, seed=seed, chains=task.chains)
    return Plan(program.name, program.estimator, choice.why, ready.data, inits, ready.constants, seed)


def sample_locale(task: Task, progress: Progress = lambda _: None) -> xr.DataTree:
    """Draw from the posterior of a locale.

    Returns
    -------
    DataTree of ArviZ groups; see `maskedadv.result.draws.build_tree`.

    Raises
    ------
    EngineFailed
    """
    plan = make_plan(task)
    progress(f"{plan.estimator}" + (f": {plan.why}" if plan.why else ""))
    engine = choose_engine(task.engine)
    chains = engine.sample(
        plan.program,
        plan.data,
        plan.inits,
        task.sampler,
        seed=plan.seed,
        threads=task.threads,
        progress=progress,
    )
    return finish(task, plan, chains, engine.version)


def finish(task: Task, plan: Plan, chains: Chains, engine: str) -> xr.DataTree:
    """From an engine's draws to the posterior's groups: difficulties drawn back, totals replicated."""
    layout = task.layout
    n_chains, n_draws = chains.stats["lp"].shape
    thin = max(1, int(np.ceil(n_chains * n_draws / REPLICATES)))
    parts = PROGRAMS[plan.program].collect(task, plan, chains.variables, thin)
    stats: dict[str, NDArray[Any]] = dict(chains.stats)
    stats["diverging"] = stats["diverging"] > 0
    stats |= {k: stats[k].astype(np.int64) for k in ("tree_depth", "n_steps")}
    stats["reached_max_treedepth"] = stats["tree_depth"] >= task.sampler.max_treedepth
    noise = chains.variables.get("noise")
    likeness = None
    if parts["difficulty"] is not None and task.response == "binary":
        likeness = replicate_likeness(
            layout.answers, parts["ability"], parts["difficulty"], thin=thin, seed=plan.seed
        )
    draws = Draws(
        contrast=np.where(known_gaps(layout), chains.variables["contrast"], np.nan),
        mean_contrast=chains.variables["mean_contrast"],
        facet_spread=chains.variables["facet_spread"].reshape(n_chains, n_draws, 2, 2),
        correlation=chains.variables["correlation"],
        sigma_b=chains.variables["sigma_b"],
        noise=noise,
        stats=stats,
        thin=thin,
        likeness=None if likeness is None else (likeness.observed, likeness.replicated),
        **parts,
    )
    attrs = {
        "locale": layout.locale,
        "pivot": layout.pivot,
        "response": task.response,
        "estimator": plan.estimator,
        "estimator_why": plan.why,
        "program": plan.program,
        "inference_library": engine,
        "seed": plan.seed,
        **{k: v for k, v in asdict(task.sampler).items() if k != "draws"},
        **{f"prior_{k}": v for k, v in asdict(task.priors).items() if noise is not None or "noise" not in k},
    }
    own = PROGRAMS[plan.program].likelihood if task.log_likelihood else None
    return build_tree(
        draws,
        models=layout.models,
        items=layout.items,
        answers=layout.answers,
        attrs=attrs,
        log_likelihood=None if own is None else own(task, plan, chains.variables),
    )
