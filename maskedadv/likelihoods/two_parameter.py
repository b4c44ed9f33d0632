"""NumPy core of marginal maximum likelihood with discrimination: the two-parameter logistic model.

P(right) = c + (1 − c)·logit⁻¹(α·a·(θ − b)), c the chance of a lucky guess. θ and α belong to a cell; an
item's difficulty b ~ N(0, σ) and discrimination a, log a ~ N(−τ²/2, τ), so that its mean is 1, are integrated
out over a grid of both. With a = 1, σ = 1 and α free it is the model that Bock & Aitkin (1981,
doi:10.1007/BF02293801) fit, the roles of persons and items exchanged. Derivatives are expectations over each
item's posterior (Louis 1982, doi:10.1111/j.2517-6161.1982.tb01203.x).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.likelihoods.guessing import Answers, curves, floors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """Nodes of difficulty (in σ) and of log discrimination (in τ), every pair of them, shape (Q,)."""

    z: Array
    u: Array
    log_weight: Array


@dataclass(frozen=True)
class Parameters:
    """A point: abilities and log slopes of the cells (C,), and what spreads the items.

    Attributes
    ----------
    sigma : sd of the difficulties, logit
    tau : sd of the log discriminations; 0 where all items discriminate alike
    """

    ability: Array
    log_slope: Array
    sigma: float
    tau: float


def make_grid(z_step: float, u_step: float | None, reach: float = 6.5) -> Grid:
    """A grid with spacings of at most these; `u_step` None where all items discriminate alike."""
    z, z_weight = _line(z_step, reach)
    u, u_weight = (np.zeros(1), np.zeros(1)) if u_step is None else _line(u_step, reach)
    weight = (z_weight[:, None] + u_weight).ravel()
    zz, uu = (v.ravel() for v in np.meshgrid(z, u, indexing="ij"))
    kept = weight > weight.max() - 0.5 * reach**2  # corners have no mass
    return Grid(zz[kept], uu[kept], weight[kept])


def _line(step: float, reach: float) -> tuple[Array, Array]:
    x = np.linspace(-reach, reach, 2 * int(np.ceil(reach / step)) + 1)
    return x, -0.5 * x**2 - 0.5 * np.log(2 * np.pi) + np.log(x[1] - x[0])


@dataclass(frozen=True)
class Posterior:
    """Every distinct item's posterior over the grid.

    Attributes
    ----------
    weights : shape (I', Q)
    scores : shape (I', P), expected score of every parameter: θ, then log α (`by_cell`) or log σ, log τ
    log_likelihood : summed over the items
    """

    weights: Array
    scores: Array
    log_likelihood: float


def predictor(grid: Grid, at: Parameters) -> tuple[Array, Array]:
    """The logit of every cell at every node, and its derivative with respect to the ability, (C, Q)."""
    along = np.exp(at.log_slope)[:, None] * np.exp(at.tau * grid.u - at.tau**2 / 2)
    return along * (at.ability[:, None] - at.sigma * grid.z), along


def expect(
    answers: Answers, grid: Grid, n_items: Array, at: Parameters, *, by_cell: bool = False
) -> Posterior:
    """Posterior of every distinct item at a point; `n_items` (I',) are counts."""
    eta, along = predictor(grid, at)
    weights = np.empty((len(answers.chance), len(grid.z)))
    parts = np.empty((2, *answers.right.shape))
    value = 0.0
    for rows, c in floors(answers):
        right, wrong = answers.right[rows], answers.wrong[rows]
        log_right, log_wrong, up, down = curves(eta, c)
        log_joint = right @ log_right + wrong @ log_wrong + grid.log_weight
        top = log_joint.max(axis=1, keepdims=True)
        density = np.exp(log_joint - top)
        norm = density.sum(axis=1, keepdims=True)
        own = density / norm
        weights[rows] = own
        value += float(n_items[rows] @ (top + np.log(norm))[:, 0])
        for k, factor in enumerate((along, eta) if by_cell else (along,)):
            parts[k, rows] = right * (own @ (up * factor).T) + wrong * (own @ (down * factor).T)
    if by_cell:
        return Posterior(weights, np.concatenate([parts[0], parts[1]], axis=1), value)
    spread = weights @ _spread_scores(grid, at)
    return Posterior(weights, np.concatenate([parts[0], spread], axis=1), value)


def _spread_scores(grid: Grid, at: Parameters) -> Array:
    """Complete scores of log σ and log τ at every node, shape (Q, 2)."""
    return np.stack([grid.z**2 - 1.0, grid.u**2 - at.tau * grid.u - 1.0], axis=1)


def information(answers: Answers, grid: Grid, n_items: Array, at: Parameters, posterior: Posterior) -> Array:
    """Observed information in (θ, log σ, log τ), shape (C + 2, C + 2); not `by_cell`.

    The expected curvature of the complete likelihood less the posterior covariance of its score.
    """
    eta, along = predictor(grid, at)
    n = len(at.ability)
    total = np.zeros((n + 2, n + 2))
    spread = _spread_scores(grid, at)
    for rows, c in floors(answers):
        _, _, up, down = curves(eta, c)
        s = -down
        right, wrong, weights = answers.right[rows], answers.wrong[rows], posterior.weights[rows]
        counted = n_items[rows, None] * weights
        bend = (wrong.T @ counted) * s * (1 - s) - (right.T @ counted) * (up * (1 - 2 * s) - up**2)
        total[np.arange(n), np.arange(n)] += (bend * along**2).sum(axis=1)
        up, down = up * along, down * along
        for q in np.flatnonzero(weights.max(axis=0) > 1e-13):
            near = np.flatnonzero(weights[:, q] > 1e-13)
            each = right[near] * up[:, q] + wrong[near] * down[:, q]
            full = np.concatenate([each, np.tile(spread[q], (len(near), 1))], axis=1)
            total -= (full * counted[near, q, None]).T @ full
    mass = n_items @ posterior.weights
    total[-2, -2] += 2.0 * (mass @ grid.z**2)
    total[-1, -1] += mass @ (2.0 * grid.u**2 - 2.0 * at.tau * grid.u + at.tau**2)
    return total + (posterior.scores * n_items[:, None]).T @ posterior.scores
