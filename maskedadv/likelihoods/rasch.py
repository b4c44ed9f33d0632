"""NumPy core of joint maximum likelihood: Newton steps, information and scores.

The likelihood itself is `stan/ml_joint.stan`; what stands here are its derivatives, which the standard
errors need anyway and which bring the optimiser's point to machine precision.
Notation: θ abilities (C,), b difficulties (I,), both logits; n trials (C, I); w = n·p·(1 − p).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.likelihoods.two_way import solve_two_way

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JointSolution:
    """Where Newton's method stopped: abilities (C,), difficulties (I,), largest absolute gradient."""

    ability: Array
    difficulty: Array
    gradient: float


def log_likelihood(
    trials: Array, cell_total: Array, item_total: Array, ability: Array, difficulty: Array
) -> float:
    """Rasch log likelihood from counts (C, I) and their right answers' margins."""
    eta = ability[:, None] - difficulty[None, :]
    return float(cell_total @ ability - item_total @ difficulty - np.sum(trials * np.logaddexp(0.0, eta)))


def solve(
    trials: Array,
    cell_total: Array,
    item_total: Array,
    ability: Array,
    difficulty: Array,
    *,
    tolerance: float = 1e-9,
    max_steps: int = 100,
) -> JointSolution:
    """Damped Newton from a starting point; needs only the margins of the right answers.

    Parameters
    ----------
    trials : shape (C, I)
    cell_total, item_total : shapes (C,), (I,); right answers of each cell and item
    ability, difficulty : shapes (C,), (I,); start
    tolerance : stop when no score exceeds this fraction of the largest margin and no step exceeds 1e-8

    Returns
    -------
    JointSolution
    """
    scale = tolerance * max(1.0, float(np.max(np.abs(cell_total))), float(np.max(np.abs(item_total))))
    current = log_likelihood(trials, cell_total, item_total, ability, difficulty)
    gradient, moved = np.inf, np.inf
    for _ in range(max_steps):
        p = expit(ability[:, None] - difficulty[None, :])
        expected = trials * p
        score_cell = cell_total - expected.sum(axis=1)
        score_item = expected.sum(axis=0) - item_total
        gradient = max(float(np.abs(score_cell).max()), float(np.abs(score_item).max()))
        if gradient <= scale and moved <= 1e-8:
            break
        weight = expected * (1.0 - p)
        step_cell, step_item = solve_two_way(weight, score_cell, score_item)
        size = 1.0
        while True:
            new_ability, new_difficulty = ability + size * step_cell, difficulty + size * step_item
            new = log_likelihood(trials, cell_total, item_total, new_ability, new_difficulty)
            if np.isfinite(new) and new >= current - 1e-12 * abs(current):
                break
            size /= 2
            if size < 1e-8:
                return JointSolution(ability, difficulty, gradient)
        # Near 0 or 1 scores are tiny far from the maximum, so the step has to be small too.
        moved = max(float(np.abs(step_cell).max()), float(np.abs(step_item).max()))
        ability, difficulty, current = new_ability, new_difficulty, new
    return JointSolution(ability, difficulty, gradient)


def anchor_weights(weight: Array, items: NDArray[np.intp]) -> Array:
    """How the mean difficulty follows the abilities when difficulties are re-estimated, shape (C,), sum 1.

    Parameters
    ----------
    weight : shape (C, I'), n·p·(1 − p) of every cell and group of items that share a difficulty
    items : shape (I',), items in every group
    """
    return np.asarray((weight / weight.sum(axis=0)) @ items / items.sum())


def difficulty_variance(weight: Array, items: NDArray[np.intp]) -> Array:
    """Inverse information of an item's difficulty given the abilities, by group, shape (I',)."""
    return np.asarray(items / weight.sum(axis=0))


def residuals(answers: Array, p: Array) -> Array:
    """y − p where observed, else 0, shape (C, I): an item's column is its score for the abilities.

    With the difficulties profiled out no correction is needed, as every column sums to zero at the maximum.
    """
    return np.where(np.isnan(answers), 0.0, answers - p)
