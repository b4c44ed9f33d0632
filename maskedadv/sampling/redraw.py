"""Difficulties drawn back exactly, given abilities and σ from the marginal program; replicated totals.

Given everything else a difficulty has the log-concave density exp(−t b) φ(b; σ) / Π_c (1 + e^{θ_c − b}).
It is drawn by rejection from the tangents of its logarithm at the nodes: an envelope of piecewise
exponentials, narrow enough against the density that more than nine in ten proposals are accepted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.likelihoods.integrated import Margins

Array = NDArray[np.float64]


def draw_difficulties(
    margins: Margins, node: Array, ability: Array, sigma: float, rng: np.random.Generator
) -> Array:
    """One draw of every item's difficulty, shape (I,).

    Parameters
    ----------
    margins : patterns and totals of the subset's items
    node : shape (Q,), increasing; at most about one conditional sd apart, and wide enough for all items
    ability : shape (C,), logit
    sigma : sd over the population of items
    """
    p = expit(ability[:, None] - node)
    q = p * (1.0 - p)
    seen = margins.seen
    slope = (seen @ p - node / sigma**2)[margins.pattern] - margins.item_total[:, None]
    value = (-(seen @ np.logaddexp(0.0, ability[:, None] - node)) - node**2 / (2 * sigma**2))[margins.pattern]
    value = value - margins.item_total[:, None] * node
    # Derivatives of Σ log(1 + e^{θ − b}) in b, orders 2 to 5, for the exact density between nodes.
    orders = [
        seen @ q,
        -(seen @ (q * (1 - 2 * p))),
        seen @ (q * (1 - 6 * q)),
        -(seen @ (q * (1 - 2 * p) * (1 - 12 * q))),
    ]
    middle = (node[1:] + node[:-1]) / 2
    left = node - np.append(node[0], middle)
    right = np.append(middle, node[-1]) - node
    width = left + right
    steep = np.maximum(np.abs(slope), 1e-12)
    peak = value + np.maximum(slope * right, -slope * left)
    mass = np.exp(peak - peak.max(axis=1, keepdims=True)) * -np.expm1(-steep * width) / steep
    ladder = np.cumsum(mass, axis=1)
    ladder = ladder / ladder[:, -1:] + np.arange(len(mass))[:, None]
    flat = ladder.ravel()

    out = np.empty(len(margins.item_group))
    todo = np.arange(len(out))
    n_nodes = len(node)
    while len(todo):
        group = margins.item_group[todo]
        at = np.searchsorted(flat, group + rng.random(len(todo)), side="right")
        at = np.clip(at - group * n_nodes, 0, n_nodes - 1)
        s, w = steep[group, at], width[at]
        from_peak = -np.log1p(-rng.random(len(todo)) * -np.expm1(-s * w)) / s
        x = np.where(slope[group, at] > 0, right[at] - from_peak, from_peak - left[at])
        pattern = margins.pattern[group]
        below = x**2 / (2 * sigma**2)
        power, factorial = x.copy(), 1.0
        for k, derivative in enumerate(orders, start=2):
            power, factorial = power * x, factorial * k
            below = below + derivative[pattern, at] * power / factorial
        accepted = rng.random(len(todo)) < np.exp(-below)
        out[todo[accepted]] = node[at[accepted]] + x[accepted]
        todo = todo[~accepted]
    return out


def replicate_totals(
    answers: Array, ability: Array, difficulty: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Right answers of every cell (C,) and item (I,) over one replication of the observed answers."""
    p = expit(ability[:, None] - difficulty)
    right = (rng.random(p.shape) < p) & ~np.isnan(answers)
    return right.sum(axis=1).astype(np.float64), right.sum(axis=0).astype(np.float64)
