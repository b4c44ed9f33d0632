"""From a program's draws to what a posterior keeps: difficulties drawn back, totals replicated.

The gaps are the programs' own and are not computed again; what moves here is the anchor of abilities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.sampling.guessing_grid import draw_totals
from maskedadv.sampling.pairs import replicate_pairs
from maskedadv.sampling.redraw import draw_difficulties, replicate_totals
from maskedadv.sampling.stan_data import SUFFIXES
from maskedadv.sampling.task import Plan, Task

Array = NDArray[np.float64]
Variables = dict[str, Array]
Parts = dict[str, Any]
Totals = tuple[Array, Array]
Draw = Callable[[int, Array, Array, float, np.random.Generator], Totals]


def collect_explicit(task: Task, plan: Plan, variables: Variables, thin: int) -> Parts:  # noqa: ARG001
    """Draws of the programs whose difficulties are parameters."""
    n_items = [a.shape[1] for a in task.layout.answers]
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


def collect_guessing(task: Task, plan: Plan, variables: Variables, thin: int) -> Parts:
    """Draws of the program with a floor: no difficulties are kept, totals are replicated."""
    assert task.chance is not None
    chances, grids = task.chance, plan.constants

    def draw(s: int, answers: Array, theta: Array, sigma: float, rng: np.random.Generator) -> Totals:
        n_items = answers.shape[1]
        unanchored = np.sqrt(n_items / max(n_items - 1, 1))
        return draw_totals(grids[s], answers, chances[s], theta.T.ravel(), float(sigma * unanchored), rng)

    return _replicated(task, plan, variables, thin, draw)


def _cells(values: Array) -> Array:
    """(…, 2J), local of every model then pivot, to (…, J, 2)."""
    return np.moveaxis(values.reshape(*values.shape[:-1], 2, -1), -2, -1)


def collect_marginal(task: Task, plan: Plan, variables: Variables, thin: int) -> Parts:
    """Draws of the marginal program: difficulties are drawn back, and the anchor moved to the items asked."""
    layout = task.layout
    ability = variables["ability"].copy()
    facet_mean = variables["facet_mean"].copy()
    chains, draws, n_models = ability.shape[:3]
    kept = len(range(0, draws, thin))
    n_items = [a.shape[1] for a in layout.answers]
    difficulty = np.empty((chains, draws, sum(n_items)), dtype=np.float32)
    cell_rep = np.empty((chains, kept, n_models, 2, 2))
    item_rep = np.empty((chains, kept, sum(n_items)))
    first = 0
    for s, grid in enumerate(plan.constants):
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


def collect_paired(task: Task, plan: Plan, variables: Variables, thin: int) -> Parts:
    """Draws of the program of pairs: effects of items are nobody's but a model's, and none is kept."""

    def draw(s: int, answers: Array, theta: Array, sigma: float, rng: np.random.Generator) -> Totals:
        return replicate_pairs(answers, plan.constants[s], theta, sigma, rng)

    return _replicated(task, plan, variables, thin, draw)


def _replicated(task: Task, plan: Plan, variables: Variables, thin: int, draw: Draw) -> Parts:
    """Parts of a program whose items are integrated out and not drawn back: its abilities; totals anew.

    Parameters
    ----------
    draw
        Totals of the cells and of the items, from a subset, its answers, abilities (J, 2), σ and a generator.
    """
    ability = variables["ability"]
    chains, draws, n_models = ability.shape[:3]
    kept = range(0, draws, thin)
    cell_rep = np.zeros((chains, len(kept), n_models, 2, 2))
    item_rep = []
    for s, answers in enumerate(task.layout.answers):
        own = np.zeros((chains, len(kept), answers.shape[1]))
        for c in range(chains if answers.shape[1] else 0):
            rng = np.random.default_rng([plan.seed, c, s])
            for k, d in enumerate(kept):
                theta, sigma = ability[c, d, :, 2 * s : 2 * s + 2], float(variables["sigma_b"][c, d, s])
                cells, own[c, k] = draw(s, answers, theta, sigma, rng)
                cell_rep[c, k, :, s] = cells.reshape(2, -1).T
        item_rep.append(own)
    return {
        "ability": ability.reshape(chains, draws, n_models, 2, 2),
        "facet_mean": variables["facet_mean"].reshape(chains, draws, 2, 2),
        "difficulty": None,
        "cell_rep": cell_rep,
        "item_rep": np.concatenate(item_rep, axis=-1),
    }
