"""The maximum of `stan/ml_joint.stan` on one part: Stan finds it, Newton polishes it, the program checks it.

The program's own gaps at Stan's optimum are compared with the polished ones. The likelihood is concave, so
that where its gradient is zero it has its maximum: where Stan stopped short, in a flat direction, the
program's own gradient at the polished point, turned into logits by one Newton step, tells how far a gap is
from the program's maximum. With a thousand models L-BFGS takes hundreds of gradients and always stops short,
since each step gains less than its tolerance: there Newton goes first, and the gradient alone tells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.design.collapse import Groups
from maskedadv.engines import Engine
from maskedadv.likelihoods import rasch as joint
from maskedadv.likelihoods.moments import rough_moments
from maskedadv.likelihoods.two_way import solve_two_way
from maskedadv.maximum_likelihood.block_estimate import converged
from maskedadv.maximum_likelihood.stan_optimum import (
    DOUBTED,
    Pairs,
    contrast_data,
    find_optimum,
    largest_difference,
    require_agreement,
)

Array = NDArray[np.float64]

MANY_CELLS = 1500
"""Groups of cells (a model in a language; equal ones are a group) from which Newton's method goes first."""


def find_joint_optimum(
    answers: Array, groups: Groups, pairs: Pairs, engine: Engine, seed: int
) -> tuple[joint.JointSolution, float, str]:
    """The maximum over groups of cells and items, how far the program puts a gap from it, and Stan's trouble.

    Both start from moment estimates, as sampling does.

    Parameters
    ----------
    answers : shape (C, I), which `groups` collapse
    pairs : pairs of groups of cells whose differences are gaps, shape (K, 2)

    Raises
    ------
    OptimaDiffer
        The program's own gaps are others, and its gradient is not that of a maximum.
    """
    trials, successes = groups.trials, groups.successes
    start = rough_moments(answers)
    theta = np.bincount(groups.cell_group, start.ability) / np.bincount(groups.cell_group)
    b = np.bincount(groups.item_group, start.difficulty) / np.bincount(groups.item_group)
    margins = successes.sum(axis=1), successes.sum(axis=0)
    if len(b) == 1:  # Stan has no sum-to-zero vector of one, and only abilities are left
        return joint.solve(trials, *margins, theta, b), np.nan, ""
    data = stan_data(trials, successes) | contrast_data(pairs)
    found = joint.solve(trials, *margins, theta, b) if len(theta) > MANY_CELLS else None
    apart, trouble = np.inf, ""
    if found is None or not converged(found.gradient, answers):
        stop = find_optimum(engine, "ml_joint", data, {"ability": theta, "difficulty": b - b.mean()}, seed)
        found = joint.solve(trials, *margins, stop.variables["ability"], stop.variables["difficulty"])
        trouble = stop.trouble
        apart = largest_difference(stop, found.ability, pairs)
    if trouble or not converged(found.gradient, answers):
        return found, np.nan, trouble
    if apart > DOUBTED:
        apart = min(apart, _distance(engine, data, trials, found, pairs))
    require_agreement("ml_joint", apart)
    return found, apart, ""


def stan_data(trials: Array, successes: Array) -> dict[str, object]:
    """Data of `ml_joint.stan` from (C, I) counts, without contrasts; pairs that never met are left out."""
    cell, item = np.nonzero(trials > 0)
    return {
        "C": trials.shape[0],
        "I": trials.shape[1],
        "N": len(cell),
        "cell": cell + 1,
        "item": item + 1,
        "trials": trials[cell, item],
        "cell_total": successes.sum(axis=1),
        "item_total": successes.sum(axis=0),
    }


def _distance(
    engine: Engine, data: dict[str, object], trials: Array, found: joint.JointSolution, pairs: Pairs
) -> float:
    """Largest change of a gap (logit) by a Newton step along the program's own gradient.

    Of gaps beyond 1 logit in their own units: with an ability that hardly any answer bounds, digits run out.
    """
    if not len(pairs):
        return 0.0
    shift = found.difficulty.mean()
    ability, difficulty = found.ability - shift, found.difficulty - shift
    _, gradient = engine.log_density("ml_joint", data, {"ability": ability, "difficulty": difficulty})
    cells = gradient[: len(ability)]
    items = sum_to_zero(gradient[len(ability) :]) - cells.sum() / len(difficulty)
    p = expit(ability[:, None] - difficulty)
    step, _ = solve_two_way(trials * p * (1.0 - p), cells, items)
    gap, change = (v[pairs[:, 0]] - v[pairs[:, 1]] for v in (ability, step))
    return float((np.abs(change) / np.maximum(1.0, np.abs(gap))).max())


def sum_to_zero(free: Array) -> Array:
    """Stan's `sum_to_zero_vector` (n,) of its free coordinates (n − 1,), a rotation: gradients turn alike."""
    n = np.arange(1.0, len(free) + 1)
    scaled = free / np.sqrt(n * (n + 1))
    tail = np.cumsum(scaled[::-1])[::-1]
    return np.append(tail, 0.0) - np.append(0.0, n * scaled)
