"""Marginal maximum likelihood of one block: Stan, Newton, uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.collapse import group_rows
from maskedadv.design.components import find_components
from maskedadv.engines import Engine
from maskedadv.likelihoods import integrated as marginal
from maskedadv.likelihoods import newton
from maskedadv.likelihoods.moments import rough_moments
from maskedadv.maximum_likelihood.block_estimate import BlockEstimate
from maskedadv.maximum_likelihood.integrated_optimum import Program, Start, optimise
from maskedadv.maximum_likelihood.marginal_result import block_estimate, nothing_finite, spread_rows
from maskedadv.maximum_likelihood.stan_optimum import NO_PAIRS, Pairs, pairs_among

Array = NDArray[np.float64]


def fit_marginal(
    answers: Array,
    engine: Engine,
    *,
    interval: str,
    seed: int,
    pairs: Pairs = NO_PAIRS,
    weights: Sequence[Array] = (),
    tick: Callable[[int], None] = lambda _: None,
) -> BlockEstimate:
    """Marginal maximum likelihood: difficulties integrated out over N(0, σ), σ estimated.

    Bock & Aitkin (1981, doi:10.1007/BF02293801) with the roles of persons and items exchanged; the estimate
    that R's `glmer(y ~ 0 + cell + (1 | item), binomial)` gives.

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
        Abilities are relative to the mean difficulty of the population of items. `difficulty` is the
        posterior mean of each item's difficulty and `difficulty_sd` its posterior sd.
    """
    components = find_components(answers)
    weak = components.cell_weak
    mean = np.nanmean(answers, axis=1)
    finite = np.flatnonzero((mean > 0) & (mean < 1))
    part = np.full(len(answers), -1)
    if not len(finite) or not components.finite_parts():
        # Answers in perfect order (Guttman) grow likelier without end as abilities and sigma grow together.
        return nothing_finite(answers, part, weak)
    part[finite] = weak[finite]
    inside = answers[finite]
    item_group = group_rows(inside.T)
    margins = marginal.find_margins(inside, item_group)
    counts = np.bincount(item_group).astype(np.float64)
    cell_total = np.nansum(inside, axis=1)

    program = Program(
        name="ml_marginal",
        data=lambda nodes: stan_data(margins, nodes, counts, cell_total),
        likelihood=lambda nodes: newton.RaschLikelihood(margins, nodes, counts, cell_total),
        cover=lambda ability, sigma: _cover(margins, ability, sigma),
    )
    start = rough_moments(inside)
    optimum = optimise(
        program,
        Start(start.ability, np.sqrt(start.error), start.sigma, 1.0 / np.sqrt(2.0 * inside.shape[1])),
        pairs=pairs_among(pairs, finite, len(answers)),
        scale=1e-9 * max(1.0, float(cell_total.max())),
        engine=engine,
        seed=seed,
    )
    found, nodes = optimum.found, optimum.nodes
    curvature = optimum.likelihood.information(found.point, found.ability, found.sigma)
    rows = spread_rows(
        interval,
        curvature,
        found,
        lambda: marginal.item_scores(margins, found.point, inside),
        lambda: _replicates(inside, margins, nodes, found, curvature, weights, tick),
    )
    return block_estimate(answers, finite, part, weak, optimum, item_group, rows, interval=interval)


def stan_data(
    margins: marginal.Margins, nodes: marginal.Nodes, counts: Array, cell_total: Array
) -> dict[str, object]:
    """Data of `ml_marginal.stan`, without contrasts."""
    return {
        "C": margins.seen.shape[1],
        "P": margins.seen.shape[0],
        "G": len(counts),
        "Q": len(nodes.z),
        "seen": margins.seen,
        "cell_total": cell_total,
        "pattern": margins.pattern + 1,
        "item_total": margins.item_total,
        "n_items": counts,
        "z": nodes.z,
        "log_weight": nodes.log_weight,
    }


def _cover(margins: marginal.Margins, ability: Array, sigma: float) -> marginal.Nodes:
    return marginal.cover(
        lambda nodes: marginal.item_posterior(margins, nodes, ability, sigma)[0], ability, sigma
    )


def _replicates(
    answers: Array,
    margins: marginal.Margins,
    nodes: marginal.Nodes,
    found: newton.Solution,
    curvature: Array,
    weights: Sequence[Array],
    tick: Callable[[int], None],
) -> Array:
    """Abilities and log σ under every bootstrap weighting, shape (B, C + 1), NaN where not finite."""
    right = np.nan_to_num(answers)
    seen = (~np.isnan(answers)).astype(np.float64)
    out = np.full((len(weights), len(answers) + 1), np.nan)
    for k, weight in enumerate(weights):
        tick(k)
        counts = np.bincount(margins.item_group, weight, minlength=len(margins.pattern)).astype(np.float64)
        cell_total = right @ weight
        all_right = cell_total >= seen @ weight
        kept = (cell_total > 0) & ~all_right
        if not kept.any():
            continue
        # A cell that is all right (or wrong) on the items drawn has an infinite ability there and leaves
        # the likelihood of the others: its right answers are taken out of the items' totals.
        inside = replace(
            margins,
            seen=margins.seen[:, kept],
            item_total=margins.item_total - margins.seen[margins.pattern][:, all_right].sum(axis=1),
        )
        free = np.append(kept, True)
        one = newton.solve(
            newton.RaschLikelihood(inside, nodes, counts, cell_total[kept]),
            found.ability[kept],
            found.sigma,
            scale=1e-7 * max(1.0, float(cell_total.max())),
            curvature=curvature[np.ix_(free, free)],
        )
        if one.gradient <= 1e-5 * max(1.0, float(cell_total.max())):
            out[k, free] = np.append(one.ability, np.log(one.sigma))
    return out
