"""Bring a marginal maximum-likelihood point to machine precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from maskedadv.fitting.marginal import Expectations, Margins, Nodes, expect, information, score

Array = NDArray[np.float64]

LOG_SIGMA = (float(np.log(1e-3)), float(np.log(50.0)))
"""Bounds of log σ: at the lower one items do not differ, at the upper one σ has no finite estimate."""


@dataclass(frozen=True)
class MarginalSolution:
    """Where Newton's method stopped.

    Attributes
    ----------
    ability : shape (C,), logit
    sigma : standard deviation of the difficulties, logit
    gradient : largest absolute score over parameters not held at a bound
    bound : -1 or 1 if σ stopped at its lower or upper bound, else 0
    expectations : posterior expectations there
    """

    ability: Array
    sigma: float
    gradient: float
    bound: int
    expectations: Expectations


def solve(
    margins: Margins,
    nodes: Nodes,
    n_items: Array,
    cell_total: Array,
    ability: Array,
    sigma: float,
    *,
    curvature: Array | None = None,
    tolerance: float = 1e-9,
    max_steps: int = 200,
) -> MarginalSolution:
    """Newton steps with step halving; the information is renewed only when progress is slow.

    Parameters
    ----------
    n_items, cell_total : shapes (G,), (C,); item counts (or weights) and right answers of each cell
    ability, sigma : start
    curvature : information (C + 1, C + 1) to begin with; computed at the start if None
    """
    scale = tolerance * max(1.0, float(np.max(np.abs(cell_total))))
    log_sigma = float(np.clip(np.log(sigma), *LOG_SIGMA))
    now = expect(margins, nodes, n_items, cell_total, ability, np.exp(log_sigma))
    fresh = curvature is None
    matrix = information(margins, nodes, n_items, now) if curvature is None else curvature
    previous = np.inf
    bound, largest = 0, np.inf
    for _ in range(max_steps):
        gradient = score(now, n_items, cell_total)
        bound = _bound(log_sigma, gradient[-1])
        free = slice(0, -1) if bound else slice(None)
        largest = float(np.abs(gradient[free]).max())
        if largest <= scale:
            break
        if largest > 0.3 * previous and not fresh:
            matrix, fresh = information(margins, nodes, n_items, now), True
        step = np.zeros_like(gradient)
        step[free] = _ascend(matrix[free, free], gradient[free])
        size = _longest(step[-1])
        while True:
            trial_ability = ability + size * step[:-1]
            trial_log_sigma = float(np.clip(log_sigma + size * step[-1], *LOG_SIGMA))
            trial = expect(margins, nodes, n_items, cell_total, trial_ability, np.exp(trial_log_sigma))
            if trial.log_likelihood >= now.log_likelihood - 1e-11 * abs(now.log_likelihood):
                break
            size /= 2
            if size < 1e-8:
                break
        if size < 1e-8:
            if fresh:
                break
            matrix, fresh = information(margins, nodes, n_items, now), True
            continue
        ability, log_sigma, now, previous, fresh = trial_ability, trial_log_sigma, trial, largest, False
    return MarginalSolution(ability, float(np.exp(log_sigma)), largest, bound, now)


def _bound(log_sigma: float, slope: float) -> int:
    if log_sigma <= LOG_SIGMA[0] + 1e-9 and slope <= 0:
        return -1
    if log_sigma >= LOG_SIGMA[1] - 1e-9 and slope >= 0:
        return 1
    return 0


def _longest(step: float) -> float:
    """No step may change σ by more than a factor of e at once; the nodes are laid for the start."""
    return 1.0 if abs(step) <= 1.0 else 1.0 / abs(step)


def _ascend(matrix: Array, gradient: Array) -> Array:
    """Newton direction; where the information is not positive definite, its positive part."""
    try:
        return np.asarray(cho_solve(cho_factor(matrix), gradient))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        floor = max(1e-6 * float(np.abs(values).max()), 1e-8)
        return np.asarray(vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), floor)))
