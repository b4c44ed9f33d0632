"""Sample the posterior of one locale."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from maskedadv.engines import Chains, Sampler, choose_engine
from maskedadv.errors import BadSetting
from maskedadv.result.draws import Draws, build_tree
from maskedadv.sampling.choose import joint_cost, marginal_cost, too_many_patterns
from maskedadv.sampling.grid import Grid, build_grid
from maskedadv.sampling.guessing_grid import FloorGrid, build_floor_grid, draw_totals
from maskedadv.sampling.layout import Layout
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.redraw import draw_difficulties, replicate_totals
from maskedadv.sampling.stan_data import SUFFIXES, explicit_data, floor_data, marginal_data
from maskedadv.sampling.starts import Start, at_sigma, jittered, rough

Array = NDArray[np.float64]
Progress = Callable[[str], None]

REPLICATES = 1000
"""At most about this many draws of a locale get replicated totals; enough for p-values to two digits."""


@dataclass(frozen=True)
class Task:
    """One locale to sample, complete: it can be sent to another process.

    `chance` holds the guessing floor of every item of either subset, shapes (I_s,), or is None.
    """

    layout: Layout
    response: str
    estimator: str
    priors: Priors
    sampler: Sampler
    chains: int
    engine: str
    seed: int
    threads: int | None = None
    marginal_at_any_cost: bool = False
    chance: tuple[Array, Array] | None = None


@dataclass(frozen=True)
class Plan:
    """What an engine is given for a task: program, data, starting values of every chain."""

    program: str
    estimator: str
    why: str
    data: dict[str, Any]
    inits: list[dict[str, Array | float]]
    grids: tuple[Grid, Grid] | None
    seed: int
    floor_grids: tuple[FloorGrid, FloorGrid] | None = None


def locale_seed(seed: int, locale: str) -> int:
    """A seed of the locale's own, so that its draws do not depend on which others are fitted."""
    digest = hashlib.sha256(f"{seed}\0{locale}".encode()).digest()
    return int.from_bytes(digest[:4], "little") % (2**31 - 1) + 1


def make_plan(task: Task) -> Plan:
    """Choose joint or marginal, lay the grid, compute data and starts."""
    if task.chance is not None:
        return _floor_plan(task, task.chance)
    layout, continuous = task.layout, task.response == "crm"
    first, second = (rough(a, continuous=continuous) for a in layout.answers)
    starts = (first, second)
    grids, why = None, ""
    if continuous:
        estimator = "joint"
    else:
        estimator, why, grids = _choose(task, starts)
    if grids is not None:
        starts = (at_sigma(first, grids[0].sigma), at_sigma(second, grids[1].sigma))
    seed = locale_seed(task.seed, layout.locale)
    if grids is not None:
        program = "posterior_marginal"
        data = marginal_data(layout, task.priors, starts, grids)
    else:
        program = "posterior_continuous" if continuous else "posterior_joint"
        data = explicit_data(layout, task.priors, starts, continuous=continuous)
    inits = jittered(program, starts, seed=seed, chains=task.chains)
    return Plan(program, estimator, why, data, inits, grids, seed)


def _floor_plan(task: Task, chance: tuple[Array, Array]) -> Plan:
    """With a floor only the marginal form is offered: explicit difficulties cost as much and mix worse."""
    first, second = (
        build_floor_grid(a, c, task.priors) for a, c in zip(task.layout.answers, chance, strict=True)
    )
    grids = (first, second)
    seed = locale_seed(task.seed, task.layout.locale)
    inits = jittered("posterior_guessing", (first.start, second.start), seed=seed, chains=task.chains)
    data = floor_data(task.layout, task.priors, grids)
    return Plan("posterior_guessing", "marginal", "guessing floor", data, inits, None, seed, grids)


def _choose(task: Task, starts: tuple[Start, Start]) -> tuple[str, str, tuple[Grid, Grid] | None]:
    """Estimator, why (in words) and the grids of the marginal program."""
    if task.estimator == "joint":
        return "joint", "asked for", None
    if too_many_patterns(task.layout) and not task.marginal_at_any_cost:
        return "joint", "items have too many patterns of missing answers for marginal", None
    try:
        first, second = (
            build_grid(a, s, task.priors) for a, s in zip(task.layout.answers, starts, strict=True)
        )
    except BadSetting:
        if task.marginal_at_any_cost:
            raise
        return "joint", "the prior of the difficulties' spread is too wide for marginal", None
    grids = (first, second)
    joint, marginal = joint_cost(task.layout), marginal_cost(grids)
    patterns = [len(g.margins.seen) for g in grids]
    wanted = task.marginal_at_any_cost or (task.estimator == "marginal" and max(patterns) == 1)
    if marginal <= joint or wanted:
        return "marginal", f"about {marginal:.2g} ms a gradient against {joint:.2g} with joint", grids
    why = f"about {joint:.2g} ms a gradient against {marginal:.2g} with marginal"
    if max(patterns) > 1:
        why += f", for {sum(patterns)} patterns of missing answers"
    return "joint", why, None


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
    if plan.floor_grids is not None:
        parts = _floor(task, plan, plan.floor_grids, chains.variables, thin)
    elif plan.grids is None:
        parts = _explicit(layout, chains.variables, thin)
    else:
        parts = _marginal(layout, plan, chains.variables, thin)
    stats: dict[str, NDArray[Any]] = dict(chains.stats)
    stats["diverging"] = stats["diverging"] > 0
    stats |= {k: stats[k].astype(np.int64) for k in ("tree_depth", "n_steps")}
    stats["reached_max_treedepth"] = stats["tree_depth"] >= task.sampler.max_treedepth
    noise = chains.variables.get("noise")
    draws = Draws(
        facet_spread=chains.variables["facet_spread"].reshape(n_chains, n_draws, 2, 2),
        correlation=chains.variables["correlation"],
        sigma_b=chains.variables["sigma_b"],
        noise=noise,
        stats=stats,
        thin=thin,
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
    return build_tree(draws, models=layout.models, items=layout.items, answers=layout.answers, attrs=attrs)


def _explicit(layout: Layout, variables: dict[str, Array], thin: int) -> dict[str, Any]:
    """Draws of the programs whose difficulties are parameters."""
    n_items = [a.shape[1] for a in layout.answers]
    lead = variables["ability"].shape[:2]
    difficulty = [variables[f"difficulty_{s}"][..., :n] for s, n in zip(SUFFIXES, n_items, strict=True)]
    cells = [variables[f"cell_rep_{s}"][:, ::thin] for s in SUFFIXES]
    items = [variables[f"item_rep_{s}"][:, ::thin, :n] for s, n in zip(SUFFIXES, n_items, strict=True)]
    return {
        "ability": variables["ability"].reshape(*lead, -1, 2, 2),
        "facet_mean": variables["facet_mean"].reshape(*lead, 2, 2),
        "difficulty": np.concatenate(difficulty, axis=-1),
        "cell_rep": np.stack([_cells(c) for c in cells], axis=-2),
        "item_rep": np.concatenate(items, axis=-1),
    }


def _floor(
    task: Task, plan: Plan, grids: tuple[FloorGrid, FloorGrid], variables: dict[str, Array], thin: int
) -> dict[str, Any]:
    """Draws of the program with a floor: no difficulties are kept, totals are replicated."""
    assert task.chance is not None
    layout, ability = task.layout, variables["ability"]
    chains, draws, n_models = ability.shape[:3]
    kept = range(0, draws, thin)
    cell_rep = np.zeros((chains, len(kept), n_models, 2, 2))
    item_rep = []
    for s, (grid, answers, chance) in enumerate(zip(grids, layout.answers, task.chance, strict=True)):
        n_items = answers.shape[1]
        own = np.zeros((chains, len(kept), n_items))
        unanchored = np.sqrt(n_items / max(n_items - 1, 1))
        for c in range(chains if n_items else 0):
            rng = np.random.default_rng([plan.seed, c, s])
            for k, d in enumerate(kept):
                theta = ability[c, d, :, 2 * s : 2 * s + 2].T.ravel()
                sigma = float(variables["sigma_b"][c, d, s] * unanchored)
                cells, own[c, k] = draw_totals(grid, answers, chance, theta, sigma, rng)
                cell_rep[c, k, :, s] = cells.reshape(2, -1).T
        item_rep.append(own)
    return {
        "ability": ability.reshape(chains, draws, n_models, 2, 2),
        "facet_mean": variables["facet_mean"].reshape(chains, draws, 2, 2),
        "difficulty": None,
        "cell_rep": cell_rep,
        "item_rep": np.concatenate(item_rep, axis=-1),
    }


def _cells(values: Array) -> Array:
    """(…, 2J), local of every model then pivot, to (…, J, 2)."""
    return np.moveaxis(values.reshape(*values.shape[:-1], 2, -1), -2, -1)


def _marginal(layout: Layout, plan: Plan, variables: dict[str, Array], thin: int) -> dict[str, Any]:
    """Draws of the marginal program: difficulties are drawn back, and the anchor moved to the items asked."""
    assert plan.grids is not None
    ability = variables["ability"].copy()
    facet_mean = variables["facet_mean"].copy()
    chains, draws, n_models = ability.shape[:3]
    kept = len(range(0, draws, thin))
    n_items = [a.shape[1] for a in layout.answers]
    difficulty = np.empty((chains, draws, sum(n_items)), dtype=np.float32)
    cell_rep = np.empty((chains, kept, n_models, 2, 2))
    item_rep = np.empty((chains, kept, sum(n_items)))
    first = 0
    for s, grid in enumerate(plan.grids):
        if not n_items[s]:
            cell_rep[:, :, :, s] = 0.0
            continue
        part = slice(first, first + n_items[s])
        first += n_items[s]
        unanchored = np.sqrt(n_items[s] / max(n_items[s] - 1, 1))
        facets = slice(2 * s, 2 * s + 2)
        for c in range(chains):
            rng = np.random.default_rng([plan.seed, c, s])
            for d in range(draws):
                theta = ability[c, d, :, facets].T.ravel()
                sigma = float(variables["sigma_b"][c, d, s] * unanchored)
                b = draw_difficulties(grid.margins, grid.node, theta, sigma, rng)
                if d % thin == 0:
                    cells, totals = replicate_totals(layout.answers[s], theta, b, rng)
                    cell_rep[c, d // thin, :, s] = cells.reshape(2, -1).T
                    item_rep[c, d // thin, part] = totals
                shift = b.mean()
                difficulty[c, d, part] = b - shift
                ability[c, d, :, facets] -= shift
                facet_mean[c, d, facets] -= shift
    return {
        "ability": ability.reshape(chains, draws, n_models, 2, 2),
        "facet_mean": facet_mean.reshape(chains, draws, 2, 2),
        "difficulty": difficulty,
        "cell_rep": cell_rep,
        "item_rep": item_rep,
    }
