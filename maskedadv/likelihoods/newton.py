"""Bring a marginal maximum-likelihood point to machine precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from maskedadv.likelihoods import guessing as floor
from maskedadv.likelihoods import integrated as marginal

Array = NDArray[np.float64]

LOG_SIGMA = (float(np.log(1e-2)), float(np.log(50.0)))
"""Bounds of log σ: at the lower one items do not differ, at the upper one σ has no finite estimate."""


class Likelihood(Protocol):
    """A log likelihood in (θ, log σ): a point holds whatever its derivatives need, and `log_likelihood`."""

    def at(self, ability: Array, sigma: float) -> Any:
        """The point at abilities (C,) and σ."""

    def score(self, point: Any) -> Array:
        """Gradient there, shape (C + 1,)."""

    def information(self, point: Any, ability: Array, sigma: float) -> Array:
        """Negative Hessian there, shape (C + 1, C + 1)."""


@dataclass(frozen=True)
class RaschLikelihood:
    """The marginal Rasch likelihood on given nodes; `n_items` (G,) are counts or bootstrap weights."""

    margins: marginal.Margins
    nodes: marginal.Nodes
    n_items: Array
    cell_total: Array

    def at(self, ability: Array, sigma: float) -> marginal.Expectations:
        """Posterior expectations at a point."""
        return marginal.expect(self.margins, self.nodes, self.n_items, self.cell_total, ability, sigma)

    def score(self, point: marginal.Expectations) -> Array:
        """Gradient."""
        return marginal.score(point, self.n_items, self.cell_total)

    def information(self, point: marginal.Expectations, ability: Array, sigma: float) -> Array:  # noqa: ARG002
        """Observed information."""
        return marginal.information(self.margins, self.nodes, self.n_items, point)


@dataclass(frozen=True)
class FloorLikelihood:
    """The marginal Rasch likelihood with a guessing floor; `n_items` (I',) are counts or weights."""

    answers: floor.Answers
    nodes: marginal.Nodes
    n_items: Array

    def at(self, ability: Array, sigma: float) -> floor.Posterior:
        """Posterior of every distinct item at a point."""
        return floor.expect(self.answers, self.nodes, self.n_items, ability, sigma)

    def score(self, point: floor.Posterior) -> Array:
        """Gradient."""
        return floor.score(point, self.n_items)

    def information(self, point: floor.Posterior, ability: Array, sigma: float) -> Array:
        """Observed information."""
        return floor.information(self.answers, self.nodes, self.n_items, ability, sigma, point)


@dataclass(frozen=True)
class Solution:
    """Where Newton's method stopped.

    Attributes
    ----------
    ability : shape (C,), logit
    sigma : standard deviation of the difficulties, logit
    gradient : largest absolute score over parameters not held at a bound
    bound : -1 or 1 if σ stopped at its lower or upper bound, else 0
    point : the likelihood's point there
    """

    ability: Array
    sigma: float
    gradient: float
    bound: int
    point: Any


def solve(
    likelihood: Likelihood,
    ability: Array,
    sigma: float,
    *,
    scale: float,
    curvature: Array | None = None,
    max_steps: int = 200,
) -> Solution:
    """Newton steps with step halving; the information is renewed only when progress is slow.

    Parameters
    ----------
    ability, sigma : start
    scale : stop when no score exceeds this
    curvature : information (C + 1, C + 1) to begin with; computed at the start if None
    """
    log_sigma = float(np.clip(np.log(sigma), *LOG_SIGMA))
    now = likelihood.at(ability, np.exp(log_sigma))
    fresh = curvature is None
    matrix = likelihood.information(now, ability, np.exp(log_sigma)) if curvature is None else curvature
    previous = np.inf
    bound, largest = 0, np.inf
    for _ in range(max_steps):
        gradient = likelihood.score(now)
        bound = _bound(log_sigma, gradient[-1])
        free = slice(0, -1) if bound else slice(None)
        largest = float(np.abs(gradient[free]).max())
        if largest <= scale:
            break
        if largest > 0.3 * previous and not fresh:
            matrix, fresh = likelihood.information(now, ability, np.exp(log_sigma)), True
        step = np.zeros_like(gradient)
        step[free] = _ascend(matrix[free, free], gradient[free])
        size = _longest(step[-1])
        while True:
            trial_ability = ability + size * step[:-1]
            trial_log_sigma = float(np.clip(log_sigma + size * step[-1], *LOG_SIGMA))
            trial = likelihood.at(trial_ability, np.exp(trial_log_sigma))
            if trial.log_likelihood >= now.log_likelihood - 1e-11 * abs(now.log_likelihood):
                break
            size /= 2
            if size < 1e-8:
                break
        if size < 1e-8:
            if fresh:
                break
            matrix, fresh = likelihood.information(now, ability, np.exp(log_sigma)), True
            continue
        ability, log_sigma, now, previous, fresh = trial_ability, trial_log_sigma, trial, largest, False
    return Solution(ability, float(np.exp(log_sigma)), largest, bound, now)


def _bound(log_sigma: float, slope: float) -> int:
    if log_sigma <= LOG_SIGMA[0] + 0.7 and slope <= 1e-6:  # below twice the bound the slope is all but zero
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
