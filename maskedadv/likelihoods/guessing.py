"""NumPy core of marginal maximum likelihood with a guessing floor.

P(right) = c + (1 − c)·logit⁻¹(θ − b), c the chance of a lucky guess on the item. The likelihood itself is
`stan/ml_guessing.stan`; here stand its derivatives by Fisher's and Louis' identities, as in `marginal`.
With s = logit⁻¹(θ − b): the score of a right answer is (1 − c)s(1 − s)/P, of a wrong one −s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.likelihoods.integrated import Nodes

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """Distinct items of a block, sorted by floor.

    Attributes
    ----------
    right, wrong : shape (I', C), the answer and its complement, both 0 where not seen
    chance : shape (I',), floor of each distinct item, ascending
    item_group : shape (I,), distinct item of every item
    """

    right: Array
    wrong: Array
    chance: Array
    item_group: NDArray[np.intp]


def find_answers(answers: Array, chance: Array) -> Answers:
    """Collapse items with the same floor and the same answers; `answers` (C, I), `chance` (I,)."""
    seen = ~np.isnan(answers.T)
    right = np.where(seen, answers.T, 0.0)
    rows = np.concatenate([chance[:, None], right, seen], axis=1)
    distinct, group = np.unique(rows, axis=0, return_inverse=True)
    n_cells = len(answers)
    kept_right, kept_seen = distinct[:, 1 : n_cells + 1], distinct[:, n_cells + 1 :]
    return Answers(kept_right, kept_seen - kept_right, distinct[:, 0], group.reshape(-1))


@dataclass(frozen=True)
class Posterior:
    """Each distinct item's posterior over nodes, and what follows from it.

    Attributes
    ----------
    weights : shape (I', Q)
    scores : shape (I', C), expected score of every cell's ability
    z2 : shape (I',), expected z²
    log_likelihood : float
    """

    weights: Array
    scores: Array
    z2: Array
    log_likelihood: float


def expect(answers: Answers, nodes: Nodes, n_items: Array, ability: Array, sigma: float) -> Posterior:
    """Posterior of every distinct item's difficulty at a point; `n_items` (I',) are counts or weights."""
    eta = ability[:, None] - sigma * nodes.z
    weights = np.empty((len(answers.chance), len(nodes.z)))
    scores = np.empty_like(answers.right)
    value = 0.0
    for rows, c in floors(answers):
        log_right, log_wrong, up, down = curves(eta, c)
        log_joint = answers.right[rows] @ log_right + answers.wrong[rows] @ log_wrong + nodes.log_weight
        top = log_joint.max(axis=1, keepdims=True)
        density = np.exp(log_joint - top)
        norm = density.sum(axis=1, keepdims=True)
        weights[rows] = density / norm
        value += float(n_items[rows] @ (top + np.log(norm))[:, 0])
        scores[rows] = answers.right[rows] * (weights[rows] @ up.T) + answers.wrong[rows] * (
            weights[rows] @ down.T
        )
    return Posterior(weights, scores, weights @ nodes.z**2, value)


def floors(answers: Answers) -> list[tuple[slice, float]]:
    """Slices of distinct items with one floor each."""
    values, start = np.unique(answers.chance, return_index=True)
    stop = np.append(start[1:], len(answers.chance))
    return [(slice(int(a), int(b)), float(c)) for a, b, c in zip(start, stop, values, strict=True)]


def curves(eta: Array, c: float) -> tuple[Array, Array, Array, Array]:
    """log P, log(1 − P), and the scores of a right and of a wrong answer, each of eta's shape."""
    s = expit(eta)
    log_wrong = np.log1p(-c) - np.logaddexp(0.0, eta)
    if c == 0.0:
        return -np.logaddexp(0.0, -eta), log_wrong, 1.0 - s, -s
    p = c + (1.0 - c) * s
    return np.log(p), log_wrong, (1.0 - c) * s * (1.0 - s) / p, -s


def score(posterior: Posterior, n_items: Array) -> Array:
    """Gradient of the log likelihood in (θ, log σ), shape (C + 1,)."""
    return np.append(n_items @ posterior.scores, n_items @ (posterior.z2 - 1.0))


def item_scores(answers: Answers, posterior: Posterior) -> Array:
    """Each item's score in (θ, log σ), shape (I, C + 1)."""
    rows = np.concatenate([posterior.scores, posterior.z2[:, None] - 1.0], axis=1)
    return np.asarray(rows[answers.item_group])


def information(
    answers: Answers, nodes: Nodes, n_items: Array, ability: Array, sigma: float, posterior: Posterior
) -> Array:
    """Observed information in (θ, log σ), shape (C + 1, C + 1).

    An item's posterior lives on a handful of nodes, so a node sums the products of scores of few items.
    """
    eta = ability[:, None] - sigma * nodes.z
    z2 = nodes.z**2
    n_cells = len(ability)
    total = np.zeros((n_cells + 1, n_cells + 1))
    for rows, c in floors(answers):
        _, _, up, down = curves(eta, c)
        s = -down
        right, wrong, weights = answers.right[rows], answers.wrong[rows], posterior.weights[rows]
        counted = n_items[rows, None] * weights
        bend = (right.T @ counted) * (up * (1 - 2 * s) - up**2) - (wrong.T @ counted) * s * (1 - s)
        total[np.arange(n_cells), np.arange(n_cells)] -= bend.sum(axis=1)
        for q in range(len(z2)):
            near = np.flatnonzero(weights[:, q] > 1e-14)
            each = right[near] * up[:, q] + wrong[near] * down[:, q]
            full = np.concatenate([each, np.full((len(near), 1), z2[q])], axis=1)
            total -= (full * counted[near, q, None]).T @ full
    mean = np.concatenate([posterior.scores, posterior.z2[:, None]], axis=1)
    total += (mean * n_items[:, None]).T @ mean
    total[-1, -1] += 2.0 * (n_items @ posterior.z2)
    return total
