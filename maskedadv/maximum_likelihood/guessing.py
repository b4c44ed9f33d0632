"""Marginal maximum likelihood of one block with a guessing floor: Stan, Newton, uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.components import find_components
from maskedadv.design.options import at_chance
from maskedadv.engines import Engine
from maskedadv.likelihoods import guessing as floor
from maskedadv.likelihoods import integrated as marginal
from maskedadv.likelihoods import newton
from maskedadv.likelihoods.moments import logits_above_chance
from maskedadv.maximum_likelihood.block_estimate import BlockEstimate
from maskedadv.maximum_likelihood.integrated_optimum import Program, Start, optimise
from maskedadv.maximum_likelihood.marginal_result import block_estimate, nothing_finite, spread_rows
from maskedadv.maximum_likelihood.stan_optimum import NO_PAIRS, Pairs, pairs_among

Array = NDArray[np.float64]


def cells_at_chance(answers: Array, chance: Array) -> NDArray[np.bool_]:
    """Cells whose share of right answers is not above chance by two standard errors, shape (C,).

    Under a floor such a cell has no ability: every low enough level explains it equally well.

    Parameters
    ----------
    answers : shape (C, I), NaN where not observed
    chance : shape (I,), floor of every item
    """
    seen = ~np.isnan(answers)
    count = seen.sum(axis=1)
    lucky = (seen * chance).sum(axis=1)
    spread = np.sqrt((seen * chance * (1 - chance)).sum(axis=1))
    out = at_chance(np.nansum(answers, axis=1), lucky, spread)
    return np.asarray(out & (lucky > 0) & (count > 0))


def finite_cells(
    answers: Array, chance: Array
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Cells with a finite ability above a floor.

    Parameters
    ----------
    answers : shape (C, I), NaN where not observed
    chance : shape (I,), floor of every item; all 0 where there is none

    Returns
    -------
    finite : their positions; none where the answers put no two cells on one scale
    part, weak : shape (C,), the connected part of each cell; in `part` -1 where it is all right or all wrong
        and -2 where it is at chance
    """
    components = find_components(answers)
    mean = np.nanmean(answers, axis=1)
    lost = cells_at_chance(answers, chance)
    finite = np.flatnonzero((mean > 0) & (mean < 1) & ~lost)
    part = np.where(lost, -2, -1)
    if not components.finite_parts():
        finite = finite[:0]
    part[finite] = components.cell_weak[finite]
    return finite, part, components.cell_weak


def fit_floor(
    answers: Array,
    chance: Array,
    engine: Engine,
    *,
    interval: str,
    seed: int,
    pairs: Pairs = NO_PAIRS,
    weights: Sequence[Array] = (),
    tick: Callable[[int], None] = lambda _: None,
) -> BlockEstimate:
    """Marginal maximum likelihood of P(right) = c + (1 − c)·logit⁻¹(θ − b), c known, b ~ N(0, σ).

    Parameters
    ----------
    answers : shape (C, I), 0 to 1, NaN where not observed
    chance : shape (I,), floor c of every item, 0 to below 1; all 0 gives `fit_marginal`
    interval, seed, pairs, weights, tick : as in `fit_marginal`

    Returns
    -------
    BlockEstimate
        Cells not above chance have no ability (NaN).
    """
    finite, part, weak = finite_cells(answers, chance)
    if not len(finite):
        return nothing_finite(answers, part, weak)
    inside = answers[finite]
    data = floor.find_answers(inside, chance)
    counts = np.bincount(data.item_group).astype(np.float64)
    scale = 1e-9 * max(1.0, float(np.nansum(inside, axis=1).max()))
    ability, error = logits_above_chance(inside, chance)
    program = Program(
        name="ml_guessing",
        data=lambda nodes: stan_data(data, nodes, counts),
        likelihood=lambda nodes: newton.FloorLikelihood(data, nodes, counts),
        cover=lambda ability, sigma: _cover(data, counts, ability, sigma),
    )
    optimum = optimise(
        program,
        Start(ability, np.sqrt(error), 1.0, 1.0 / np.sqrt(2.0 * inside.shape[1])),
        pairs=pairs_among(pairs, finite, len(answers)),
        scale=scale,
        engine=engine,
        seed=seed,
    )
    found, nodes = optimum.found, optimum.nodes
    curvature = optimum.likelihood.information(found.point, found.ability, found.sigma)
    rows = spread_rows(
        interval,
        curvature,
        found,
        lambda: floor.item_scores(data, found.point),
        lambda: _replicates(data, nodes, found, curvature, weights, scale, tick),
    )
    return block_estimate(answers, finite, part, weak, optimum, data.item_group, rows, interval=interval)


def stan_data(data: floor.Answers, nodes: marginal.Nodes, counts: Array) -> dict[str, object]:
    """Data of `ml_guessing.stan`, without contrasts."""
    slices = floor.floors(data)
    return {
        "C": data.right.shape[1],
        "I": len(data.chance),
        "F": len(slices),
        "Q": len(nodes.z),
        "chance": np.array([c for _, c in slices]),
        "start": np.array([rows.start + 1 for rows, _ in slices]),
        "stop": np.array([rows.stop for rows, _ in slices]),
        "right": data.right,
        "wrong": data.wrong,
        "n_items": counts,
        "z": nodes.z,
        "log_weight": nodes.log_weight,
    }


def _cover(data: floor.Answers, counts: Array, ability: Array, sigma: float) -> marginal.Nodes:
    return marginal.cover(
        lambda nodes: floor.expect(data, nodes, counts, ability, sigma).weights, ability, sigma
    )


def _replicates(
    data: floor.Answers,
    nodes: marginal.Nodes,
    found: newton.Solution,
    curvature: Array,
    weights: Sequence[Array],
    scale: float,
    tick: Callable[[int], None],
) -> Array:
    """Abilities and log σ under every bootstrap weighting, shape (B, C + 1), NaN where not finite."""
    out = np.full((len(weights), len(found.ability) + 1), np.nan)
    seen = data.right + data.wrong
    for k, weight in enumerate(weights):
        tick(k)
        counts = np.bincount(data.item_group, weight, minlength=len(data.chance)).astype(np.float64)
        if np.any(counts @ data.right >= counts @ seen):
            continue
        one = newton.solve(
            newton.FloorLikelihood(data, nodes, counts),
            found.ability,
            found.sigma,
            scale=100 * scale,
            curvature=curvature,
        )
        if one.gradient <= 1e4 * scale:
            out[k] = np.append(one.ability, np.log(one.sigma))
    return out
