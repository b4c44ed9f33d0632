"""NumPy core of marginal maximum likelihood: nodes, posterior of each difficulty, scores, information.

The likelihood itself is `stan/ml_marginal.stan`; what stands here are its derivatives by Fisher's and
Louis' identities (Louis 1982, doi:10.1111/j.2517-6161.1982.tb01203.x): expectations over each item's
posterior of b = σz on the same nodes. Parameters are ordered θ (C,), then log σ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]

SPACING = 0.65
"""Spacing of nodes in units of the smallest conditional sd of a difficulty; 0.8 was seen off by 3e-8."""


@dataclass(frozen=True)
class Margins:
    """What the marginal likelihood needs of a block's answers.

    Attributes
    ----------
    seen : shape (P, C), 1 where a pattern's items were answered by a cell
    pattern : shape (G,), pattern of each group of items
    item_total : shape (G,), right answers of each item of a group
    item_group : shape (I,), group of every item
    """

    seen: Array
    pattern: NDArray[np.intp]
    item_total: Array
    item_group: NDArray[np.intp]


@dataclass(frozen=True)
class Nodes:
    """Equally spaced nodes in units of σ and the log of spacing × standard normal density, shape (Q,)."""

    z: Array
    log_weight: Array


def find_margins(answers: Array, item_group: NDArray[np.intp]) -> Margins:
    """Patterns and totals of item groups (from `design.collapse.group_rows` of the transposed block)."""
    first = np.unique(item_group, return_index=True)[1]
    seen = ~np.isnan(answers[:, first].T)
    total = np.where(seen, answers[:, first].T, 0.0).sum(axis=1)
    patterns, pattern = np.unique(seen, axis=0, return_inverse=True)
    return Margins(patterns.astype(np.float64), pattern.reshape(-1), total, item_group)


def make_nodes(low: float, high: float, step: float) -> Nodes:
    """Nodes covering [low, high] (units of σ) at a spacing of at most `step`."""
    count = int(np.ceil((high - low) / step)) + 1
    z = np.linspace(low, high, count)
    return Nodes(z, -0.5 * z**2 - 0.5 * np.log(2 * np.pi) + np.log(z[1] - z[0]))


def needed_step(ability: Array, sigma: float) -> float:
    """Spacing (units of σ) fine enough for the narrowest conditional distribution of a difficulty."""
    b = np.linspace(ability.min() - 1.0, ability.max() + 1.0, 400)
    p = expit(ability[:, None] - b)
    most = float((p * (1 - p)).sum(axis=0).max())
    # The second bound keeps the poles of the logistic curve, at a distance of π in b, many spacings away.
    return float(min(SPACING / np.sqrt(1.0 + sigma**2 * most), 0.8 / sigma))


def cover(weights_at: Callable[[Nodes], Array], ability: Array, sigma: float) -> Nodes:
    """Nodes for a point: fine enough, and wide enough that nothing of weight is cut off.

    Parameters
    ----------
    weights_at
        Gives every item group's posterior weights on given nodes, shape (G, Q), at this point.
    """
    step = needed_step(ability, sigma)
    reach = 8.5
    while True:
        nodes = make_nodes(-reach, reach, step)
        most = weights_at(nodes).max(axis=0)
        if max(most[0], most[-1]) < 1e-15 or reach > 100:
            break
        reach *= 1.5
    kept = np.flatnonzero(most > 1e-17)
    return make_nodes(float(nodes.z[kept[0]]), float(nodes.z[kept[-1]]), step)


def item_posterior(margins: Margins, nodes: Nodes, ability: Array, sigma: float) -> tuple[Array, Array]:
    """Posterior weights over nodes (G, Q) and log integral (G,) of each item group."""
    wrong = np.logaddexp(0.0, ability[:, None] - sigma * nodes.z)
    exponents = nodes.log_weight - margins.seen @ wrong
    log_joint = exponents[margins.pattern] - np.outer(margins.item_total, sigma * nodes.z)
    top = log_joint.max(axis=1, keepdims=True)
    weights = np.exp(log_joint - top)
    norm = weights.sum(axis=1, keepdims=True)
    return weights / norm, (top + np.log(norm))[:, 0]


@dataclass(frozen=True)
class Expectations:
    """Posterior expectations at a point.

    Attributes
    ----------
    weights : shape (G, Q)
    p : shape (C, Q), probability of a right answer at each node
    right : shape (G, C), expected probability of a right answer, 0 where not seen
    z2 : shape (G,), expected z²
    log_likelihood : float
    """

    weights: Array
    p: Array
    right: Array
    z2: Array
    log_likelihood: float


def expect(
    margins: Margins, nodes: Nodes, n_items: Array, cell_total: Array, ability: Array, sigma: float
) -> Expectations:
    """Posterior expectations of all item groups; `n_items` (G,) are counts or bootstrap weights."""
    weights, log_integral = item_posterior(margins, nodes, ability, sigma)
    p = expit(ability[:, None] - sigma * nodes.z)
    right = (weights @ p.T) * margins.seen[margins.pattern]
    value = float(cell_total @ ability + n_items @ log_integral)
    return Expectations(weights, p, right, weights @ nodes.z**2, value)


def score(expectations: Expectations, n_items: Array, cell_total: Array) -> Array:
    """Gradient of the log likelihood in (θ, log σ), shape (C + 1,)."""
    return np.append(cell_total - n_items @ expectations.right, n_items @ (expectations.z2 - 1.0))


def information(margins: Margins, nodes: Nodes, n_items: Array, expectations: Expectations) -> Array:
    """Observed information in (θ, log σ), shape (C + 1, C + 1).

    By Louis' identity: expected complete information less the posterior covariance of the complete score.
    """
    weights, p, right = expectations.weights, expectations.p, expectations.right
    z2, mean_z2 = nodes.z**2, expectations.z2
    seen = margins.seen[margins.pattern]
    counted = n_items[:, None] * weights
    mass = seen.T @ counted  # (C, Q): posterior mass of the items that each cell saw
    cells = (right * n_items[:, None]).T @ right - _joint_success(seen, counted, p)
    cells[np.diag_indices_from(cells)] += (mass * p * (1 - p)).sum(axis=1)
    cross = (mass * p) @ z2 - right.T @ (n_items * mean_z2)
    spread = n_items @ (2 * mean_z2 - (weights @ nodes.z**4 - mean_z2**2))
    return np.block([[cells, cross[:, None]], [cross[None, :], np.array([[spread]])]])


def _joint_success(seen: Array, counted: Array, p: Array) -> Array:
    """Sum over item groups of E[p_c p_d] for the pairs of cells that both saw the group, shape (C, C).

    Groups that most cells saw are summed whole and the few missing pairs put right afterwards; groups that
    few cells saw are summed pair by pair. Complete data then need one matrix product in all.
    """
    most = seen.sum(axis=1) > seen.shape[1] / 2
    mass = counted[most]
    total = (p * mass.sum(axis=0)) @ p.T
    holes = 1.0 - seen[most]
    one_missing = ((holes.T @ mass) * p) @ p.T
    total -= one_missing + one_missing.T
    for absent, weight in zip(holes, mass, strict=True):
        if absent.any():
            _add_pairs(total, np.flatnonzero(absent), weight, p)
    for present, weight in zip(seen[~most], counted[~most], strict=True):
        _add_pairs(total, np.flatnonzero(present), weight, p)
    return total


def _add_pairs(total: Array, cells: NDArray[np.intp], weight: Array, p: Array) -> None:
    inside = p[cells]
    total[np.ix_(cells, cells)] += (inside * weight) @ inside.T


def item_scores(margins: Margins, expectations: Expectations, answers: Array) -> Array:
    """Each item's score in (θ, log σ), shape (I, C + 1); columns sum to zero at the maximum."""
    right = expectations.right[margins.item_group]
    cells = np.where(np.isnan(answers.T), 0.0, answers.T - right)
    spread = expectations.z2[margins.item_group] - 1.0
    return np.concatenate([cells, spread[:, None]], axis=1)
