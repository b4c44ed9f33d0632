"""The paired gaps of one locale and subset, every model by itself, and how uncertain they are together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.options import at_chance
from maskedadv.likelihoods import paired, paired_floor
from maskedadv.maximum_likelihood.block_estimate import clustered
from maskedadv.settings import LEVEL

Array = NDArray[np.float64]

NO_PAIR, ALL_PIVOT, ALL_LOCAL, NO_DISCORDANT, AT_CHANCE, NOT_FOUND = 1, 2, 3, 4, 5, 6
"""Why a paired gap is unknown or infinite; 0 where it is finite."""


@dataclass(frozen=True)
class PairedEstimate:
    """Paired gaps of J models in one subset.

    Attributes
    ----------
    gap : shape (J,), local − pivot, logit; infinite where one kind of discordant pair never occurs, NaN where
        nothing is known
    rows : shape (K, J), as `BlockEstimate.uncertainty`: influence of every item (`robust`), one direction a
        model (`information`), or replicates (`bootstrap`)
    reason : shape (J,), one of the codes of this module
    n_local, n_pivot : shape (J,), items on which the local, or the pivot, answer alone is right
    n_pairs : shape (J,), items that the model answered in both languages
    lower, upper : shape (J,), exact interval of infinite gaps, else NaN
    spread : shape (J,), with a floor, sd of what a model's two answers to an item share (logit), else NaN
    """

    gap: Array
    rows: Array
    reason: NDArray[np.intp]
    n_local: Array
    n_pivot: Array
    n_pairs: NDArray[np.intp]
    lower: Array
    upper: Array
    spread: Array


def fit_paired(
    local: Array,
    pivot: Array,
    *,
    interval: str,
    level: float = LEVEL,
    weights: Array | None = None,
) -> PairedEstimate:
    """log(n10/n01) of every model, on the items that it answered in both languages.

    Parameters
    ----------
    local, pivot : shape (J, I), answers of the same models to the same items, 0 to 1, NaN where not observed
    interval : `robust`, `information` or `bootstrap`
    level : of the exact intervals of infinite gaps
    weights : shape (B, I), bootstrap weights of the items
    """
    pairs = paired.find_pairs(local, pivot)
    n_local, n_pivot = paired.counts(pairs)
    gap = paired.log_ratio(n_local, n_pivot)
    finite = np.isfinite(gap)
    if interval == "robust":
        rows = _by_item(paired.influence(pairs), pairs.both)
    elif interval == "information":
        rows = np.diag(_root(1 / np.where(finite, n_local, np.inf) + 1 / np.where(finite, n_pivot, np.inf)))
    else:
        rows = _replicates(paired.log_ratio(*paired.counts(pairs, weights)))
    n_pairs = pairs.both.sum(axis=1)
    reason = np.select(
        [finite, n_pairs == 0, np.isneginf(gap), np.isposinf(gap)],
        [0, NO_PAIR, ALL_PIVOT, ALL_LOCAL],
        NO_DISCORDANT,
    )
    lower, upper = paired.one_sided(n_local, n_pivot, level)
    nothing = np.full(len(gap), np.nan)
    return PairedEstimate(gap, rows, reason, n_local, n_pivot, n_pairs, lower, upper, nothing)


def fit_paired_floor(
    local: Array,
    pivot: Array,
    chance: Array,
    *,
    interval: str,
    weights: Array | None = None,
) -> PairedEstimate:
    """The paired gap of every model with a guessing floor, its item effects integrated out.

    Parameters
    ----------
    local, pivot : shape (J, I), right or wrong, NaN where not observed
    chance : shape (I,), floor of every item, 0 to below 1
    interval, weights : as in `fit_paired`

    Returns
    -------
    PairedEstimate
        A model that is not above chance in one of the languages has no gap. Estimates have their bias of
        order 1/n taken out (`paired_floor.solve`).
    """
    pairs = paired.find_pairs(local, pivot)
    pattern = paired_floor.indicators(pairs, local)
    patterns = paired_floor.count_patterns(pattern, chance)
    n_pairs = pairs.both.sum(axis=1)
    lost = _at_chance(pattern, pairs.both, chance)
    found = paired_floor.solve(patterns, paired_floor.start_values(patterns))
    solved = found.gradient <= 1e-5 * np.maximum(n_pairs, 1)
    gap = np.where(solved & ~lost & (n_pairs > 0), found.theta[:, 0] - found.theta[:, 1], np.nan)
    known = np.isfinite(gap)
    contrast = np.array([1.0, -1.0, 0.0])
    bread = paired_floor.inverse(found.point.information, found.point.bound)
    if interval == "robust":
        along = np.einsum("jfka,ja->jfk", found.point.score, bread @ contrast)
        rows = np.einsum("kji,jik->ij", pattern, along[:, patterns.item_floor])
        rows = _by_item(np.where(known, rows, 0.0), pairs.both)
    elif interval == "information":
        rows = np.diag(_root(np.where(known, np.einsum("a,jab,b->j", contrast, bread, contrast), 0.0)))
    else:
        rows = _floor_replicates(pattern, chance, found.theta, weights)
        rows[:, ~known] = np.nan
    reason = np.select([known, n_pairs == 0, lost], [0, NO_PAIR, AT_CHANCE], NOT_FOUND)
    n_local, n_pivot = paired.counts(pairs)
    nothing = np.full(len(gap), np.nan)
    spread = np.where(known, np.exp(found.theta[:, 2]), np.nan)
    return PairedEstimate(gap, rows, reason, n_local, n_pivot, n_pairs, nothing, nothing, spread)


def fit_paired_continuous(
    local: Array, pivot: Array, *, interval: str, weights: Array | None = None
) -> PairedEstimate:
    """Mean paired difference of logits: the paired gap of the continuous response model."""
    mean, influence = paired.mean_difference(local, pivot)
    both = ~np.isnan(local - pivot)
    n_pairs = both.sum(axis=1)
    if interval == "robust":
        rows = _by_item(influence, both)
    elif interval == "information":
        free = np.maximum(n_pairs - 1, 1)
        rows = np.diag(_root((influence**2).sum(axis=0) * n_pairs / free))
    else:
        assert weights is not None
        count = weights @ both.T
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = _replicates((weights @ np.where(both, local - pivot, 0.0).T) / count)
    known = np.isfinite(mean)
    nothing = np.full(len(mean), np.nan)
    reason = np.where(known, 0, NO_PAIR)
    return PairedEstimate(mean, rows, reason, nothing, nothing, n_pairs, nothing, nothing, nothing)


def _by_item(influence: Array, both: NDArray[np.bool_]) -> Array:
    """Influences centred over a model's pairs and scaled for their number: an item alone tells no noise."""
    n = both.sum(axis=1)
    centred = influence - both.T * (influence.sum(axis=0) / np.maximum(n, 1))
    scale = np.array([clustered(np.ones(()), int(k)) for k in n], dtype=np.float64)
    return np.asarray(centred * np.where(n > 1, scale, 0.0))


def _root(variance: Array) -> Array:
    return np.sqrt(np.maximum(variance, 0.0))


def _replicates(gap: Array) -> Array:
    return np.where(np.isfinite(gap), gap, np.nan)


def _at_chance(pattern: Array, both: NDArray[np.bool_], chance: Array) -> NDArray[np.bool_]:
    """Models one of whose languages is not above chance by two standard errors, on the paired items."""
    lucky = both @ chance
    spread = np.sqrt(both @ (chance * (1 - chance)))
    right = np.stack([pattern[[0, 1]].sum(axis=(0, 2)), pattern[[0, 2]].sum(axis=(0, 2))])
    return np.asarray(at_chance(right, lucky, spread).any(axis=0) & (lucky > 0))


def _floor_replicates(pattern: Array, chance: Array, start: Array, weights: Array | None) -> Array:
    """Gaps under every bootstrap weighting, shape (B, J); all models and replicates are solved at once."""
    assert weights is not None
    out = np.full((len(weights), len(start)), np.nan)
    for first in range(0, len(weights), 50):
        chunk = weights[first : first + 50]
        parts = [paired_floor.count_patterns(pattern * w, chance) for w in chunk]
        counts = np.concatenate([p.count for p in parts])
        many = paired_floor.Patterns(parts[0].chance, counts, parts[0].item_floor)
        found = paired_floor.solve(many, np.tile(start, (len(chunk), 1)), tolerance=1e-5, max_steps=40)
        gap = np.where(
            found.gradient <= 1e-3 * np.maximum(counts.sum(axis=(1, 2)), 1),
            found.theta[:, 0] - found.theta[:, 1],
            np.nan,
        )
        out[first : first + len(chunk)] = gap.reshape(len(chunk), -1)
    return out
