"""Maximum likelihood of the continuous response model: a two-way additive normal model, by least squares.

x = θ_cell − b_item + noise of one sd: Samejima's continuous response model with equal discriminations
(Samejima 1973, doi:10.1007/BF02291114). Its maximum is linear algebra; no engine is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.components import find_components
from maskedadv.engines import Engine
from maskedadv.maximum_likelihood.block_estimate import (
    BlockEstimate,
    clustered,
    covariance_factor,
    typical_cells,
)
from maskedadv.maximum_likelihood.bootstrap import variance_of
from maskedadv.maximum_likelihood.stan_optimum import NO_PAIRS, Pairs

Array = NDArray[np.float64]


def fit_crm(
    answers: Array,
    engine: Engine,  # noqa: ARG001
    *,
    interval: str,
    seed: int,  # noqa: ARG001
    pairs: Pairs = NO_PAIRS,  # noqa: ARG001
    weights: Sequence[Array] = (),
    tick: Callable[[int], None] = lambda _: None,
) -> BlockEstimate:
    """Least squares with sum-to-zero difficulties in every connected component.

    Parameters
    ----------
    answers : shape (C, I), logits, NaN where not observed
    interval, weights, tick : as in `fit_joint`

    Returns
    -------
    BlockEstimate
        Its gaps are not inflated with few cells, as those of the binary joint estimator are.
    """
    n_cells, n_items = answers.shape
    seen = ~np.isnan(answers)
    components = find_components(np.where(seen, 0.5, np.nan))
    informative = seen.sum(axis=0) > 1
    rows = {"robust": n_items, "information": n_cells, "bootstrap": len(weights)}[interval]
    ability, ability_sd = np.full(n_cells, np.nan), np.full(n_cells, np.nan)
    difficulty, difficulty_sd = np.full(n_items, np.nan), np.full(n_items, np.nan)
    uncertainty = np.zeros((rows, n_cells))
    squares, free, gradient = 0.0, 0, 0.0
    parts = []
    for label in np.unique(components.cell_weak):
        cells = np.flatnonzero(components.cell_weak == label)
        items = np.flatnonzero(components.item_weak == label)
        part = _solve(answers[np.ix_(cells, items)])
        parts.append((cells, items, part))
        squares += float((part.residual**2).sum())
        free += int(seen[np.ix_(cells, items)].sum()) - len(cells) - len(items) + 1
        gradient = max(gradient, float(np.abs(part.residual.sum(axis=1)).max()))
    noise = float(np.sqrt(squares / free)) if free > 0 else np.nan
    for cells, items, part in parts:
        ability[cells], difficulty[items] = part.ability, part.difficulty
        level = part.inverse_items.sum() * noise**2 / len(items) ** 2
        difficulty_sd[items] = noise * np.sqrt(part.inverse_items)
        if interval == "robust":
            spread = clustered(_anchored(part.residual.T @ part.inverse, part.anchor), n_items)
            at = items
        elif interval == "information":
            spread = _anchored(noise * covariance_factor(part.inverse), part.anchor)
            at = cells
        else:
            inside = answers[np.ix_(cells, items)]
            spread = np.full((rows, len(cells)), np.nan)
            for k, weight in enumerate(weights):
                tick(k)
                if weight[items].any():  # else nothing of this component was drawn
                    spread[k] = _solve(inside, weight[items]).ability
            at = np.arange(rows)
        uncertainty[np.ix_(at, cells)] = spread
        variance = variance_of(spread, interval)
        ability_sd[cells] = np.sqrt(variance + level)
    n = int(seen.sum())
    return BlockEstimate(
        ability=ability,
        ability_sd=ability_sd,
        part=components.cell_weak,
        weak=components.cell_weak,
        difficulty=difficulty,
        difficulty_sd=difficulty_sd,
        informative=informative,
        uncertainty=uncertainty,
        sigma=np.nan,
        sigma_sd=np.nan,
        log_likelihood=-0.5 * n * (np.log(2 * np.pi * max(squares / n, 1e-300)) + 1.0),
        gradient=gradient,
        converged=True,
        typical_cells=typical_cells(answers, informative),
        estimator="joint",
        noise=noise,
    )


@dataclass(frozen=True)
class _Part:
    """Least squares of one component.

    Attributes
    ----------
    ability, difficulty : shapes (C,), (I,); difficulties sum to zero
    residual : shape (C, I), 0 where not observed
    inverse : covariance of the abilities over noise², over contrasts, shape (C, C)
    inverse_items : variance of a difficulty given the abilities over noise², shape (I,)
    anchor : how the mean difficulty follows the abilities, shape (C,)
    """

    ability: Array
    difficulty: Array
    residual: Array
    inverse: Array
    inverse_items: Array
    anchor: Array


def _solve(answers: Array, weight: Array | None = None) -> _Part:
    """Least squares with items weighted; cells that lose every item get NaN."""
    seen = (~np.isnan(answers)).astype(np.float64)
    value = np.nan_to_num(answers)
    w = seen if weight is None else seen * weight
    per_item = w.sum(axis=0)
    kept = per_item > 0
    share = np.where(kept, w / np.where(kept, per_item, 1.0), 0.0)
    schur = np.diag(w.sum(axis=1)) - share @ w.T
    inverse: Array = np.linalg.pinv(schur, hermitian=True).astype(np.float64)
    item_mean = (share * value).sum(axis=0)
    ability = inverse @ ((w * value).sum(axis=1) - w @ item_mean)
    difficulty = (share * (ability[:, None] - value)).sum(axis=0)
    count = seen.sum(axis=0) > 0
    shift = difficulty[kept].mean() if weight is None else np.average(difficulty[kept], weights=weight[kept])
    anchor = np.asarray(share[:, kept].mean(axis=1))
    residual = np.where(seen > 0, value - ability[:, None] + difficulty, 0.0)
    ability = np.where(w.sum(axis=1) > 0, ability - shift, np.nan)
    inverse_items = 1.0 / np.where(count, seen.sum(axis=0), 1.0)
    return _Part(ability, difficulty - shift, residual, inverse, inverse_items, anchor)


def _anchored(spread: Array, anchor: Array) -> Array:
    return np.asarray(spread - (spread @ anchor)[:, None])
