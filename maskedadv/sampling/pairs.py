"""Pairs of one locale: what the program for the paired gap needs, and totals replicated from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.likelihoods.moments import flattened, logits_above_chance
from maskedadv.sampling.layout import Layout
from maskedadv.sampling.starts import UNKNOWN, Start, rough

Array = NDArray[np.float64]

_STEP, _REACH = 0.15, 8.5
"""Nodes in units of the effects' sd. The logistic curve's poles lie π/sd away: errors of 1e-7 at 8."""


@dataclass(frozen=True)
class PairCounts:
    """Counts of one subset's pairs.

    Attributes
    ----------
    chance : shape (F,), distinct floors; one zero without
    count : shape (F, J, 4): both right, local alone, pivot alone, none
    floor_of_item : shape (I,), index into `chance`
    """

    chance: Array
    count: Array
    floor_of_item: NDArray[np.intp]


def nodes() -> tuple[Array, Array]:
    """Nodes z and weights, which sum to one to rounding, shapes (Q,)."""
    z = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
    return z, _STEP * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)


def pairs_only(layout: Layout) -> Layout:
    """The layout without the answers to items that a model has in one language only."""
    first, second = (_in_both(a) for a in layout.answers)
    return replace(layout, answers=(first, second))


def _in_both(answers: Array) -> Array:
    n = len(answers) // 2
    both = ~np.isnan(answers[:n]) & ~np.isnan(answers[n:])
    return np.where(np.concatenate([both, both]), answers, np.nan)


def count_pairs(answers: Array, chance: Array | None) -> PairCounts:
    """Counts from a subset's pairs, shape (2J, I), and every item's floor (I,)."""
    n = len(answers) // 2
    floors, place = np.unique(np.zeros(answers.shape[1]) if chance is None else chance, return_inverse=True)
    if not len(floors):
        floors = np.zeros(1)
    place = place.reshape(-1)
    local, pivot = answers[:n], answers[n:]
    patterns = [local * pivot, local * (1 - pivot), (1 - local) * pivot, (1 - local) * (1 - pivot)]
    count = np.zeros((len(floors), n, 4))
    for f in range(len(floors)):
        for k, pattern in enumerate(patterns):
            count[f, :, k] = np.nansum(pattern[:, place == f], axis=1)
    return PairCounts(floors, count, place)


def rough_start(answers: Array, chance: Array | None) -> Start:
    """Where chains start: moment estimates, lucky answers taken out where there is a floor."""
    start = rough(answers, continuous=False)
    if chance is None or not answers.shape[1]:
        return start
    logit, error = logits_above_chance(answers, chance)
    by_query = error.reshape(2, -1) * flattened(start.sigma) ** 2
    has = np.asarray((~np.isnan(answers)).any(axis=1))
    ability = logit * flattened(start.sigma)
    return replace(
        start,
        ability=np.where(has, ability, ability[has].mean() if has.any() else 0.0),
        variance=np.array([np.nanmedian(e) if np.isfinite(e).any() else UNKNOWN for e in by_query]),
    )


def pattern_probabilities(ability: Array, sigma: float, chance: Array) -> Array:
    """Probabilities (F, J, 4) of the four patterns at abilities (J, 2: local, pivot).

    The integrals of `stan/functions/locale_paired.stan`, for replication.
    """
    z, weight = nodes()
    know = expit(ability[:, :, None] - sigma * z)
    out = []
    for c in chance:
        right = c + (1 - c) * know
        local, pivot = right[:, 0], right[:, 1]
        both = [local * pivot, local * (1 - pivot), (1 - local) * pivot, (1 - local) * (1 - pivot)]
        out.append(np.stack([p @ weight for p in both], axis=1))
    return np.array(out)


def replicate_pairs(
    answers: Array, counts: PairCounts, ability: Array, sigma: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Right answers of every cell (2J,) and item (I,) of replicated pairs, effects drawn anew."""
    n = len(ability)
    ladder = np.cumsum(pattern_probabilities(ability, sigma, counts.chance), axis=2)[counts.floor_of_item]
    drawn = (rng.random(ladder.shape[:2])[..., None] > ladder[..., :3]).sum(axis=2).T  # (J, I)
    seen = ~np.isnan(answers[:n])
    local, pivot = seen & (drawn <= 1), seen & ((drawn == 0) | (drawn == 2))
    cells = np.concatenate([local.sum(axis=1), pivot.sum(axis=1)])
    return cells.astype(np.float64), (local.sum(axis=0) + pivot.sum(axis=0)).astype(np.float64)
