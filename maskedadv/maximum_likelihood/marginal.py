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
from maskedadv.maximum_likelihood.block_estimate import BlockEstimate, start_abilities
from maskedadv.maximum_likelihood.marginal_result import block_estimate, nothing_finite, spread_rows

Array = NDArray[np.float64]


def fit_marginal(
    answers: Array,
    engine: Engine,
    *,
    interval: str,
    seed: int,
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

    theta, sigma = _stan_optimum(margins, counts, cell_total, start_abilities(inside), engine, seed)
    scale = 1e-9 * max(1.0, float(cell_total.max()))
    nodes = _cover(margins, theta, sigma)
    found = newton.solve(
        newton.RaschLikelihood(margins, nodes, counts, cell_total), theta, sigma, scale=scale
    )
    nodes = _cover(margins, found.ability, found.sigma)
    likelihood = newton.RaschLikelihood(margins, nodes, counts, cell_total)
    found = newton.solve(likelihood, found.ability, found.sigma, scale=scale)

    curvature = likelihood.information(found.point, found.ability, found.sigma)
    rows = spread_rows(
        interval,
        curvature,
        found,
        lambda: marginal.item_scores(margins, found.point, inside),
        lambda: _replicates(inside, margins, nodes, found, curvature, weights, tick),
    )
    return block_estimate(answers, finite, part, weak, found, nodes.z, item_group, rows, interval=interval)


def stan_data(
    margins: marginal.Margins, nodes: marginal.Nodes, counts: Array, cell_total: Array
) -> dict[str, object]:
    """Data of `ml_marginal.stan`."""
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
        "K": 0,
        "first": np.zeros(0, dtype=int),
        "second": np.zeros(0, dtype=int),
    }


def _cover(margins: marginal.Margins, ability: Array, sigma: float) -> marginal.Nodes:
    return marginal.cover(
        lambda nodes: marginal.item_posterior(margins, nodes, ability, sigma)[0], ability, sigma
    )


def _stan_optimum(
    margins: marginal.Margins,
    counts: Array,
    cell_total: Array,
    start: Array,
    engine: Engine,
    seed: int,
) -> tuple[Array, float]:
    """L-BFGS on coarse nodes laid for σ of about 3, enough to bring Newton's method near."""
    nodes = marginal.make_nodes(-7.0, 7.0, 2.5 * marginal.needed_step(start, 3.0))
    stop = engine.optimize(
        "ml_marginal",
        stan_data(margins, nodes, counts, cell_total),
        {"ability": start, "log_sigma": 0.0},
        seed=seed,
    )
    sigma = float(np.exp(np.clip(stop.variables["log_sigma"], *newton.LOG_SIGMA)))
    return np.atleast_1d(stop.variables["ability"]), sigma


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
