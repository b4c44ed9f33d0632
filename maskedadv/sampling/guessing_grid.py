"""Nodes and groups of items for the program with a guessing floor.

With a floor an item's total is no longer all that matters, so every distinct item meets the nodes. Its
integral lives on a few of them: items are sorted by where, and neighbours share a window of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from maskedadv.likelihoods.guessing import Answers, find_answers
from maskedadv.likelihoods.moments import flattened, logits_above_chance
from maskedadv.sampling.grid import node_weights, profile_range, quick_nodes, settle_nodes
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.starts import UNKNOWN, Start

Array = NDArray[np.float64]

_STEPS = (0.9, 0.7, 0.5, 0.35)
_GROUP = 128
"""Distinct items that share a window of nodes: few make narrow windows, many make large products."""
_NOTHING = 1e-13
"""Share of an item's integral below which a node is left out of its window."""


@dataclass(frozen=True)
class FloorGrid:
    """Constants of one subset, named as in `posterior_guessing.stan`; distinct items in the program's order.

    Attributes
    ----------
    answers : distinct items, sorted by floor, then by difficulty
    count, log_scale : shape (I',)
    node, log_spacing : shape (Q,), logit
    chance : shape (F,), distinct floors
    group : shape (G, 5), counted from 1: floor, first and last item, first and last node
    seen_alike : shape (G,)
    start : rough abilities and the sd of difficulties they go with
    """

    answers: Answers
    count: Array
    log_scale: Array
    node: Array
    log_spacing: Array
    chance: Array
    group: NDArray[np.intp]
    seen_alike: NDArray[np.intp]
    start: Start


def build_floor_grid(answers: Array, chance: Array, priors: Priors) -> FloorGrid:
    """Choose nodes and windows for one subset, shape (2J, I), with floors `chance` (I,).

    As in `build_grid`, the log likelihood must not move by more than `TOLERANCE` when nodes are doubled.
    """
    if not answers.shape[1]:
        return _empty(len(answers))
    distinct = find_answers(answers, chance)
    count = np.bincount(distinct.item_group).astype(np.float64)
    raw, error = logits_above_chance(answers, chance)
    by_query = error.reshape(2, -1)
    variance = np.array([np.nanmedian(e) if np.isfinite(e).any() else UNKNOWN for e in by_query])
    has = np.asarray((~np.isnan(answers)).any(axis=1))
    low, best, high = _sigma_range(distinct, count, raw, has, priors)
    points = [(raw * flattened(s), s) for s in (low, best, high)]
    node, spacing = settle_nodes(
        points[1][0][has],
        (low, high),
        points,
        _STEPS,
        lambda *at: log_likelihood(distinct, count, *at),
    )
    ability, sigma = points[1]
    share = np.zeros((len(count), len(node)))
    for one_ability, one_sigma in points:
        joint = log_joint(distinct, one_ability, node) + node_weights(node, spacing, one_sigma)
        share = np.maximum(share, np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))
    distinct, order = _sorted(distinct, share @ node / share.sum(axis=1))
    share, count = share[order], count[order]
    # Under the widest prior: under any narrower one the weights can only shrink, never overflow.
    log_scale = (log_joint(distinct, ability, node) + node_weights(node, spacing, high)).max(axis=1)
    floors = np.unique(distinct.chance)
    group = _groups(distinct, share, floors)
    seen = distinct.right + distinct.wrong
    alike = np.array([int((seen[a - 1 : b] == seen[a - 1]).all()) for a, b in group[:, 1:3]], dtype=np.intp)
    start = Start(
        ability=np.where(has, ability, ability[has].mean()),
        difficulty=np.zeros(answers.shape[1]),
        variance=variance * flattened(sigma) ** 2,
        sigma=sigma,
        noise=1.0,
    )
    return FloorGrid(distinct, count, log_scale, node, spacing, floors, group, alike, start)


def log_joint(answers: Answers, ability: Array, node: Array) -> Array:
    """Log probability of every distinct item's answers at every node, shape (I', Q), up to a constant."""
    eta = ability[:, None] - node
    joint = -(answers.right + answers.wrong) @ np.logaddexp(0.0, eta)
    for c in np.unique(answers.chance):
        rows = answers.chance == c
        joint[rows] += answers.right[rows] @ (np.logaddexp(np.log(c), eta) if c > 0 else eta)
    return joint


def log_likelihood(
    answers: Answers, count: Array, ability: Array, sigma: float, node: Array, log_spacing: Array
) -> float:
    """Log of the integrals of all items, up to a constant of the answers."""
    joint = log_joint(answers, ability, node) + node_weights(node, log_spacing, sigma)
    return float(count @ logsumexp(joint, axis=1))


def draw_totals(
    grid: FloorGrid, answers: Array, chance: Array, ability: Array, sigma: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Right answers of every cell (C,) and item (I,) over one replication of the observed answers.

    Difficulties are drawn from their conditional distribution on the nodes. That is as good as drawing them
    from the continuous one: a total's probability is the integral of a smooth function of the difficulty,
    for which sums over the nodes are exact to about 1e-7.

    Parameters
    ----------
    answers : shape (C, I), NaN where not observed
    chance : shape (I,)
    sigma : sd over the population of items
    """
    joint = log_joint(grid.answers, ability, grid.node) + node_weights(grid.node, grid.log_spacing, sigma)
    ladder = np.cumsum(np.exp(joint - joint.max(axis=1, keepdims=True)), axis=1)
    ladder = ladder / ladder[:, -1:] + np.arange(len(ladder))[:, None]
    group = grid.answers.item_group
    at = np.searchsorted(ladder.ravel(), group + rng.random(len(group)), side="right")
    b = grid.node[np.clip(at - group * len(grid.node), 0, len(grid.node) - 1)]
    p = chance + (1.0 - chance) * expit(ability[:, None] - b)
    right = (rng.random(p.shape) < p) & ~np.isnan(answers)
    return right.sum(axis=1).astype(np.float64), right.sum(axis=0).astype(np.float64)


def _sigma_range(
    answers: Answers, count: Array, raw: Array, has: NDArray[np.bool_], priors: Priors
) -> tuple[float, float, float]:
    """Values of σ at the lower end, top and upper end of its rough profile posterior."""

    def log_likelihood_at(sigma: float) -> float:
        ability = raw * flattened(sigma)
        node, spacing = quick_nodes(ability[has], sigma)
        return log_likelihood(answers, count, ability, sigma, node, spacing)

    return profile_range(log_likelihood_at, priors)


def _sorted(answers: Answers, place: Array) -> tuple[Answers, NDArray[np.intp]]:
    """Distinct items in the order of their floors, then places; the order."""
    order = np.lexsort((place, answers.chance))
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    sorted_ = Answers(
        answers.right[order], answers.wrong[order], answers.chance[order], back[answers.item_group]
    )
    return sorted_, order


def _groups(answers: Answers, share: Array, floors: Array) -> NDArray[np.intp]:
    """Groups of neighbours with one floor and the nodes on which their integrals live, counted from 1."""
    out = []
    for f, c in enumerate(floors):
        rows = np.flatnonzero(answers.chance == c)
        for part in np.array_split(rows, int(np.ceil(len(rows) / _GROUP))):
            live = np.flatnonzero(share[part].max(axis=0) > _NOTHING)
            out.append([f, part[0], part[-1], live[0], live[-1]])
    return np.array(out, dtype=np.intp) + 1


def _empty(n_cells: int) -> FloorGrid:
    """A subset without items."""
    none, no_items = np.zeros(0), np.zeros((0, n_cells))
    answers = Answers(no_items, no_items, none, np.zeros(0, dtype=np.intp))
    start = Start(np.zeros(n_cells), np.zeros(1), np.full(2, UNKNOWN), 1.0, 1.0)
    groups = np.zeros((0, 5), dtype=np.intp)
    return FloorGrid(
        answers, none, none, np.zeros(1), np.zeros(1), none, groups, np.zeros(0, dtype=np.intp), start
    )
