"""From a marginal optimum to a `BlockEstimate`, with or without a guessing floor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from maskedadv.likelihoods.newton import Solution
from maskedadv.maximum_likelihood.block_estimate import (
    BlockEstimate,
    alike,
    beyond,
    clustered,
    converged,
    covariance_factor,
    typical_cells,
)
from maskedadv.maximum_likelihood.bootstrap import variance_of
from maskedadv.maximum_likelihood.integrated_optimum import Optimum

Array = NDArray[np.float64]


def spread_rows(
    interval: str,
    curvature: Array,
    found: Solution,
    item_scores: Callable[[], Array],
    replicates: Callable[[], Array],
) -> Array:
    """Uncertainty rows of (θ, log σ), shape (K, C + 1), for the interval asked for.

    Parameters
    ----------
    curvature : observed information, shape (C + 1, C + 1)
    item_scores : gives each item's score, shape (I, C + 1); asked only for `robust`
    replicates : gives the bootstrap replicates, shape (B, C + 1); asked only for `bootstrap`
    """
    if interval == "bootstrap":
        return replicates()
    free = slice(0, -1) if found.bound else slice(None)  # a σ at its bound is taken as known
    inverse = np.zeros_like(curvature)
    inverse[free, free] = np.linalg.pinv(curvature[free, free], hermitian=True)
    if interval == "information":
        return covariance_factor(inverse)
    scores = item_scores()
    return clustered(scores @ inverse, len(scores))


def block_estimate(
    answers: Array,
    finite: NDArray[np.intp],
    part: NDArray[np.intp],
    weak: NDArray[np.intp],
    optimum: Optimum,
    item_group: NDArray[np.intp],
    rows: Array,
    *,
    interval: str,
) -> BlockEstimate:
    """Assemble the estimate.

    Parameters
    ----------
    answers : shape (C, I)
    finite : cells that were fitted; the others are infinite, or NaN where `part` is -2
    part, weak : shape (C,), as in `BlockEstimate`
    item_group : shape (I,), group of every item in `found.point.weights`
    rows : uncertainty of the fitted cells and log σ, shape (K, len(finite) + 1)
    """
    n_cells = len(answers)
    found, z = optimum.found, optimum.nodes.z
    ability = beyond(answers, np.zeros(n_cells, dtype=np.intp))
    ability[part == -2] = np.nan
    ability_sd = np.full(n_cells, np.nan)
    uncertainty = np.zeros((len(rows), n_cells))
    uncertainty[:, finite] = rows[:, :-1]
    variance = variance_of(rows, interval)
    ability[finite], ability_sd[finite] = found.ability, np.sqrt(variance[:-1])
    posterior = found.point.weights[item_group]
    expected = posterior @ z
    informative = ~alike(answers)
    return BlockEstimate(
        ability=ability,
        ability_sd=ability_sd,
        part=part,
        weak=weak,
        difficulty=found.sigma * expected,
        difficulty_sd=found.sigma * np.sqrt(np.maximum(posterior @ z**2 - expected**2, 0.0)),
        informative=informative,
        uncertainty=uncertainty,
        sigma=found.sigma,
        sigma_sd=float(found.sigma * np.sqrt(variance[-1])) if not found.bound else np.nan,
        log_likelihood=found.point.log_likelihood,
        gradient=found.gradient,
        converged=converged(found.gradient, answers[finite]),
        typical_cells=typical_cells(answers, informative),
        bound=found.bound,
        apart=optimum.apart,
        trouble=optimum.trouble,
    )


def nothing_finite(answers: Array, part: NDArray[np.intp], weak: NDArray[np.intp]) -> BlockEstimate:
    """No level is finite and σ cannot be estimated: every cell is extreme, or the answers are in order."""
    n_cells, n_items = answers.shape
    ability = beyond(answers, np.zeros(n_cells, dtype=np.intp))
    ability[part == -2] = np.nan
    unknown = np.full(n_items, np.nan)
    informative = ~alike(answers)
    return BlockEstimate(
        ability=ability,
        ability_sd=np.full(n_cells, np.nan),
        part=part,
        weak=weak,
        difficulty=unknown,
        difficulty_sd=unknown,
        informative=informative,
        uncertainty=np.zeros((0, n_cells)),
        sigma=np.nan,
        sigma_sd=np.nan,
        log_likelihood=np.nan,
        gradient=0.0,
        converged=True,
        typical_cells=typical_cells(answers, informative),
    )


def not_estimated(answers: Array, why: str) -> BlockEstimate:
    """A block whose estimation failed: nothing is known of it but why."""
    n_cells = len(answers)
    outside = np.full(n_cells, -1, dtype=np.intp)
    empty = nothing_finite(answers, outside, np.zeros(n_cells, dtype=np.intp))
    return replace(empty, ability=np.full(n_cells, np.nan), trouble=why)
