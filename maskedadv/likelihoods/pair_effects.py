"""NumPy core of the Rasch model with pair effects: what a model happens to know of an item in any language.

    P(y_jki = 1) = c_i + (1 − c_i)·logit⁻¹(θ_jk − b_i − e_ji),   b_i ~ N(0, σ²),   e_ji ~ N(0, τ²)

for model j, language k (local, pivot) and item i: `glmer(y ~ 0 + cell + (1 | item) + (1 | item:model))` where
c = 0. At τ = 0 it is the marginal Rasch model; without b, and with a τ of each model's own, that of `paired`.
Given b_i a model's two answers depend on each other through e alone, so that an item's likelihood is one
integral over b of a product, over models, of integrals over e, which the pattern of two answers decides.
Parameters are ordered θ_local (J,), θ_pivot (J,), log σ, log τ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from maskedadv.likelihoods.integrated import needed_step

Array = NDArray[np.float64]

LOG_TAU = (float(np.log(0.02)), float(np.log(4.0)))
"""Bounds of log τ; at the lower one a model's two answers share nothing but the item's difficulty."""

MISSING, WRONG, RIGHT = 0, 1, 2
N_PATTERNS = 9
"""Patterns of two answers are 3·local + pivot, each answer one of the three codes above."""

_STEP, _REACH = 0.5, 5.5
"""Nodes of e in units of τ; the curve's poles lie π/τ away: errors of 1e-4 at τ = 4, 1e-8 at 2."""


@dataclass(frozen=True)
class PairAnswers:
    """A subset's answers.

    Attributes
    ----------
    pattern : shape (J, I), 0 to 8
    chance : shape (F,), distinct floors
    floor_of_item : shape (I,), index into `chance`
    """

    pattern: NDArray[np.intp]
    chance: Array
    floor_of_item: NDArray[np.intp]


@dataclass(frozen=True)
class PairNodes:
    """Nodes of b in units of σ with log weights (Q,), and of e in units of τ with weights (R,)."""

    z: Array
    log_weight: Array
    x: Array
    weight: Array


@dataclass(frozen=True)
class Tables:
    """Probability of every pattern at every node of b, for one floor.

    Attributes
    ----------
    value : shape (J, 9, Q)
    up : shape (2, J, 9, Q), derivatives in θ_local and θ_pivot
    along_tau : shape (J, 9, Q), derivative in log τ
    """

    value: Array
    up: Array
    along_tau: Array


def code_answers(local: Array, pivot: Array, chance: Array) -> PairAnswers:
    """Patterns of right and wrong answers (J, I), NaN where there is none; `chance` of every item (I,)."""
    codes = [np.where(np.isnan(a), MISSING, np.where(a > 0.5, RIGHT, WRONG)) for a in (local, pivot)]
    floors, place = np.unique(chance, return_inverse=True)
    return PairAnswers((3 * codes[0] + codes[1]).astype(np.intp), floors, place.reshape(-1))


def lay_pair_nodes(theta: Array, sigma: float) -> PairNodes:
    """Nodes fine enough at abilities (2, J) and σ, and wide enough for any pattern."""
    step = needed_step(theta.ravel(), sigma)
    z = np.linspace(-8.0, 8.0, int(np.ceil(16.0 / step)) + 1)
    log_weight = -0.5 * z**2
    x = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
    weight = np.exp(-0.5 * x**2)
    return PairNodes(z, log_weight - logsumexp(log_weight), x, weight / weight.sum())


def tables(theta: Array, sigma: float, tau: float, chance: float, nodes: PairNodes) -> Tables:
    """Patterns' probabilities and their derivatives at abilities (2, J)."""
    effect = sigma * nodes.z[:, None] + tau * nodes.x  # (Q, R)
    known = expit(theta[:, :, None, None] - effect)  # (2, J, Q, R)
    right = chance + (1.0 - chance) * known
    slope = (1.0 - chance) * known * (1.0 - known)
    ones, zeros = np.ones_like(right), np.zeros_like(right)
    p = np.stack([ones, 1.0 - right, right], axis=1)  # (2, 3, J, Q, R)
    d = np.stack([zeros, -slope, slope], axis=1)
    value, first, second, spread = [], [], [], []
    for a in range(3):
        for b in range(3):
            one, other = d[0, a] * p[1, b], p[0, a] * d[1, b]
            value.append((p[0, a] * p[1, b]) @ nodes.weight)
            first.append(one @ nodes.weight)
            second.append(other @ nodes.weight)
            spread.append((one + other) @ (-tau * nodes.x * nodes.weight))
    return Tables(
        np.maximum(np.stack(value, axis=1), 1e-300),
        np.stack([np.stack(first, axis=1), np.stack(second, axis=1)]),
        np.stack(spread, axis=1),
    )


@dataclass(frozen=True)
class PairPoint:
    """The likelihood at a point.

    Attributes
    ----------
    log_likelihood : float
    gradient : shape (2J + 2,)
    weights : shape (I, Q), posterior of every item's difficulty over the nodes
    by_floor : tables of every distinct floor
    nodes : that it was evaluated on
    """

    log_likelihood: float
    gradient: Array
    weights: Array
    by_floor: tuple[Tables, ...]
    nodes: PairNodes


def evaluate(answers: PairAnswers, theta: Array, sigma: float, tau: float, nodes: PairNodes) -> PairPoint:
    """Log likelihood and its exact gradient on given nodes, at abilities (2, J), σ and τ."""
    n_models, n_items = answers.pattern.shape
    weights = np.empty((n_items, len(nodes.z)))
    gradient = np.zeros(2 * n_models + 2)
    total, by_floor = 0.0, []
    for f, c in enumerate(answers.chance):
        items = np.flatnonzero(answers.floor_of_item == f)
        table = tables(theta, sigma, tau, float(c), nodes)
        by_floor.append(table)
        key = answers.pattern[:, items] + N_PATTERNS * np.arange(n_models)[:, None]
        member = np.zeros((len(items), N_PATTERNS * n_models))
        member[np.arange(len(items))[:, None], key.T] = 1.0
        joint = nodes.log_weight + member @ np.log(table.value).reshape(-1, len(nodes.z))
        integral = logsumexp(joint, axis=1)
        weights[items] = np.exp(joint - integral[:, None])
        total += float(integral.sum())
        mass = (member.T @ weights[items]).reshape(table.value.shape) / table.value  # (J, 9, Q)
        along = np.einsum("jaq,kjaq->kjq", mass, table.up)
        gradient[:-2] += along.sum(axis=2).ravel()
        gradient[-2] -= float((along * (sigma * nodes.z)).sum())
        gradient[-1] += float((mass * table.along_tau).sum())
    return PairPoint(total, gradient, weights, tuple(by_floor), nodes)


def predict(answers: PairAnswers, point: PairPoint, *, alone: bool = False) -> Array:
    """P(right) of every model's answer in either language given its other answer and the item's posterior.

    Parameters
    ----------
    answers : those that `point` was evaluated on, with the answers to be predicted missing
    alone : leave the other answer out of account: what holds for another model of the same abilities

    Returns
    -------
    array, shape (2, J, I)
        Predictions of the missing answers; an answer that is there is taken for missing in its pair alone.
    """
    n_models, n_items = answers.pattern.shape
    out = np.empty((2, n_models, n_items))
    local, pivot = np.divmod(np.zeros_like(answers.pattern) if alone else answers.pattern, 3)
    for f, table in enumerate(point.by_floor):
        items = np.flatnonzero(answers.floor_of_item == f)
        own = point.weights[items]  # (I, Q)
        for j in range(n_models):
            for k, (step, rest) in enumerate(((3, pivot[j, items]), (1, 3 * local[j, items]))):
                ratio = table.value[j, rest + RIGHT * step] / table.value[j, rest]  # (I, Q)
                out[k, j, items] = (ratio * own).sum(axis=1)
    return out


def expected_right(answers: PairAnswers, point: PairPoint, ability: float, sigma: float, tau: float) -> Array:
    """P(right) on every item (I,) at one ability, over the items' posteriors and unknown effects."""
    nodes = point.nodes
    effect = sigma * nodes.z[:, None] + tau * nodes.x
    known = point.weights @ (expit(ability - effect) @ nodes.weight)
    chance = answers.chance[answers.floor_of_item]
    return np.asarray(chance + (1.0 - chance) * known)
