"""Joint maximum likelihood of one block: parts, their maxima, uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order
from scipy.special import expit

from maskedadv.design.collapse import Groups, collapse
from maskedadv.design.components import Components, find_components
from maskedadv.engines import Engine
from maskedadv.likelihoods import rasch as joint
from maskedadv.likelihoods.two_way import profiled_root, profiled_solution
from maskedadv.maximum_likelihood.block_estimate import (
    BlockEstimate,
    alike,
    beyond,
    clustered,
    converged,
    typical_cells,
)
from maskedadv.maximum_likelihood.bootstrap import variance_of
from maskedadv.maximum_likelihood.joint_optimum import find_joint_optimum
from maskedadv.maximum_likelihood.stan_optimum import NO_PAIRS, Pairs, pairs_among

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Part:
    """Estimates inside one part where everything is finite."""

    ability: Array
    difficulty: Array
    difficulty_variance: Array
    uncertainty: Array
    level_variance: float
    log_likelihood: float
    gradient: float
    apart: float
    trouble: str


def fit_joint(
    answers: Array,
    engine: Engine,
    *,
    interval: str,
    seed: int,
    pairs: Pairs = NO_PAIRS,
    weights: Sequence[Array] = (),
    tick: Callable[[int], None] = lambda _: None,
) -> BlockEstimate:
    """Joint maximum likelihood with sum-to-zero difficulties in every part (arXiv 2606.07422, section 4).

    Parameters
    ----------
    answers : shape (C, I), 0 to 1, NaN where not observed
    interval : `robust`, `information` or `bootstrap`
    pairs : cells whose differences are gaps, shape (K, 2): the program's own are compared with the estimate's
    weights : bootstrap weights of the block's items, each of shape (I,)
    tick : called with the number of replicates done

    Returns
    -------
    BlockEstimate
        Abilities are anchored so that a part's finite difficulties sum to zero.
    """
    components = find_components(answers)
    n_cells, n_items = answers.shape
    rows = {"robust": n_items, "information": n_cells, "bootstrap": len(weights)}[interval]
    ability, ability_sd = np.full(n_cells, np.nan), np.full(n_cells, np.nan)
    part = np.full(n_cells, -1)
    difficulty, difficulty_sd = np.full(n_items, np.nan), np.full(n_items, np.nan)
    uncertainty = np.zeros((rows, n_cells))
    value, gradient, apart, trouble = 0.0, 0.0, np.nan, ""
    parts = components.finite_parts()
    for label, (cells, items) in enumerate(parts):
        inside, groups = answers, components.groups
        if len(cells) < n_cells or len(items) < n_items:
            inside = answers[np.ix_(cells, items)]
            groups = collapse(inside)
        own = pairs_among(pairs, cells, n_cells)
        found = _fit_part(inside, groups, engine, interval, seed, own, [w[items] for w in weights], tick)
        ability[cells], part[cells] = found.ability, label
        difficulty[items] = found.difficulty
        difficulty_sd[items] = np.sqrt(found.difficulty_variance)
        at = items if interval == "robust" else (cells if interval == "information" else np.arange(rows))
        uncertainty[np.ix_(at, cells)] = found.uncertainty
        spread = found.uncertainty
        variance = variance_of(spread, interval)
        ability_sd[cells] = np.sqrt(variance + found.level_variance)
        value += found.log_likelihood
        gradient = max(gradient, found.gradient)
        apart = np.fmax(apart, found.apart)
        trouble = trouble or found.trouble
    outside = part < 0
    ability[outside] = beyond(answers[outside], _reached(answers, components, parts, outside)[outside])
    informative = ~alike(answers)
    mean = np.nanmean(answers, axis=0)
    difficulty[~informative] = np.where(mean[~informative] == 0, np.inf, -np.inf)
    return BlockEstimate(
        ability=ability,
        ability_sd=ability_sd,
        part=part,
        weak=components.cell_weak,
        difficulty=difficulty,
        difficulty_sd=difficulty_sd,
        informative=informative,
        uncertainty=uncertainty,
        sigma=np.nan,
        sigma_sd=np.nan,
        log_likelihood=value,
        gradient=gradient,
        converged=converged(gradient, answers),
        typical_cells=typical_cells(answers, informative),
        apart=float(apart),
        trouble=trouble,
    )


def _fit_part(
    answers: Array,
    groups: Groups,
    engine: Engine,
    interval: str,
    seed: int,
    pairs: Pairs,
    weights: list[Array],
    tick: Callable[[int], None],
) -> _Part:
    found, apart, trouble = find_joint_optimum(answers, groups, groups.cell_group[pairs], engine, seed)
    ability, difficulty = found.ability[groups.cell_group], found.difficulty[groups.item_group]
    shift = difficulty.mean()
    ability, difficulty = ability - shift, difficulty - shift
    # Of exchangeable items one stands for all: cells × groups of items.
    cells, items = np.bincount(groups.cell_group), np.bincount(groups.item_group)
    p = expit(ability[:, None] - (found.difficulty - shift))
    weight = (groups.trials / cells[:, None])[groups.cell_group] * p * (1.0 - p)
    residual = joint.residuals(answers, p[:, groups.item_group])
    anchor = joint.anchor_weights(weight, items)
    noise = joint.difficulty_variance(weight, items)[groups.item_group]
    if interval != "information":  # the answers' own spread, which for soft answers is not that of coin flips
        noise = noise**2 * (residual**2).sum(axis=0)
    if interval == "robust":
        influence = profiled_solution(weight, residual).T
        uncertainty = clustered(influence - (influence @ anchor)[:, None], answers.shape[1])
    elif interval == "information":
        root = profiled_root(weight)
        uncertainty = root - (root @ anchor)[:, None]
    else:
        uncertainty = _replicates(answers, ability, difficulty, weights, tick)
    return _Part(
        ability=ability,
        difficulty=difficulty,
        difficulty_variance=noise,
        uncertainty=uncertainty,
        level_variance=float(noise.sum() / answers.shape[1] ** 2),
        log_likelihood=joint.log_likelihood(
            groups.trials,
            groups.successes.sum(axis=1),
            groups.successes.sum(axis=0),
            found.ability,
            found.difficulty,
        ),
        gradient=max(float(np.abs(residual.sum(axis=0)).max()), float(np.abs(residual.sum(axis=1)).max())),
        apart=apart,
        trouble=trouble,
    )


def _replicates(
    answers: Array,
    ability: Array,
    difficulty: Array,
    weights: list[Array],
    tick: Callable[[int], None],
) -> Array:
    """Abilities under every bootstrap weighting of the items, shape (B, C), NaN where not finite."""
    groups = collapse(answers, cells=False)
    size = np.bincount(groups.item_group)
    per_item = groups.trials / size
    per_item_total = groups.successes.sum(axis=0) / size
    right = np.nan_to_num(answers)
    b = np.bincount(groups.item_group, difficulty) / size
    out = np.full((len(weights), len(ability)), np.nan)
    for k, weight in enumerate(weights):
        tick(k)
        drawn = np.bincount(groups.item_group, weight, minlength=len(size))
        trials, cell_total, item_total = _without_extremes(
            per_item * drawn, right @ weight, per_item_total * drawn
        )
        cells, items = np.flatnonzero(trials.any(axis=1)), np.flatnonzero(trials.any(axis=0))
        if not len(cells):
            continue
        found = joint.solve(
            trials[np.ix_(cells, items)], cell_total[cells], item_total[items], ability[cells], b[items]
        )
        if found.gradient <= 1e-5 * max(1.0, float(cell_total.max())):
            out[k, cells] = found.ability - np.average(found.difficulty, weights=size[items])
    return out


def _without_extremes(trials: Array, cell_total: Array, item_total: Array) -> tuple[Array, Array, Array]:
    """Empty the rows and columns of cells and items all right or all wrong, until none is left."""
    trials, cell_total, item_total = trials.copy(), cell_total.copy(), item_total.copy()
    while True:
        count = trials.sum(axis=1)
        high, low = (count > 0) & (cell_total >= count - 1e-9), (count > 0) & (cell_total <= 1e-9)
        item_total -= trials[high].sum(axis=0)
        trials[high | low] = 0.0
        count = trials.sum(axis=0)
        top, bottom = (count > 0) & (item_total >= count - 1e-9), (count > 0) & (item_total <= 1e-9)
        cell_total -= trials[:, top].sum(axis=1)
        trials[:, top | bottom] = 0.0
        if not (high.any() or low.any() or top.any() or bottom.any()):
            return trials, cell_total, item_total


def _reached(
    answers: Array,
    components: Components,
    parts: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    outside: NDArray[np.bool_],
) -> NDArray[np.intp]:
    """Which cells dominate the largest finite part (1) or are dominated by it (-1), shape (C,)."""
    reached = np.zeros(len(answers), dtype=np.intp)
    if not parts or not outside.any():
        return reached
    n_cells, n_items = answers.shape
    won, lost = np.argwhere(answers > 0), np.argwhere(answers < 1)
    start = np.concatenate([won[:, 0], lost[:, 1] + n_cells])
    end = np.concatenate([won[:, 1] + n_cells, lost[:, 0]])
    nodes = n_cells + n_items
    graph = coo_array((np.ones(len(start)), (start, end)), shape=(nodes, nodes)).tocsr()
    source = int(parts[0][0][0])
    below = breadth_first_order(graph, source, return_predecessors=False)
    above = breadth_first_order(graph.T.tocsr(), source, return_predecessors=False)
    reached[below[below < n_cells]] = -1
    reached[above[above < n_cells]] = 1
    reached[components.cell_strong == components.cell_strong[source]] = 0
    return reached
