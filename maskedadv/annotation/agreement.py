"""Agreement of annotators on nominal labels, from counts of labels per item."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.settings import LEVEL

Counts = NDArray[np.intp]
Floats = NDArray[np.float64]
TIE = -1
TOO_FEW = -2


@dataclass(frozen=True)
class Estimate:
    """A number with its item-bootstrap percentile interval; NaN with a `reason` where not known."""

    value: float
    lower: float = np.nan
    upper: float = np.nan
    reason: str = ""


@dataclass(frozen=True)
class Agreement:
    """Agreement on one field.

    Attributes
    ----------
    n_items
        Items with at least two labels; the others are not part of any number here.
    patterns
        How often each split of labels occurs, unanimous ones first: (("3", 63), ("2/1", 32), ("1/1/1", 5)).
    unanimous
        Share of items on which all annotators agree.
    pairwise
        Mean over items of the share of agreeing pairs of annotators.
    alpha
        Krippendorff's alpha, nominal (allows for missing labels).
    kappa
        Fleiss' kappa (needs as many labels on every item).
    """

    n_items: int
    patterns: tuple[tuple[str, int], ...]
    unanimous: Estimate
    pairwise: Estimate
    alpha: Estimate
    kappa: Estimate


def majority(votes: Counts) -> Counts:
    """Label given by more than half of an item's annotators.

    Parameters
    ----------
    votes
        Labels per item, shape (n_items, n_labels).

    Returns
    -------
    ndarray, shape (n_items,)
        Index of the label; `TIE` where none has more than half (1/1/1, 2/2, ...); `TOO_FEW` where
        fewer than two annotators labelled the item.
    """
    given = votes.sum(axis=1)
    best = votes.argmax(axis=1)
    clear = 2 * votes.max(axis=1) > given
    return np.where(given < 2, TOO_FEW, np.where(clear, best, TIE))


def agreement(
    votes: Counts, rng: np.random.Generator, n_resamples: int = 5000, level: float = LEVEL
) -> Agreement:
    """All agreement statistics of one field, with percentile intervals from resampled items.

    Parameters
    ----------
    votes
        Labels per item, shape (n_items, n_labels).
    """
    votes = votes[votes.sum(axis=1) >= 2]
    n = len(votes)
    if n == 0:
        missing = Estimate(np.nan, reason="no item has two labels")
        return Agreement(0, (), missing, missing, missing, missing)
    # Items with the same labels are alike, so a resample of items is a count per kind of item.
    kinds, occurs = np.unique(votes, axis=0, return_counts=True)
    draws = rng.multinomial(n, occurs / n, size=n_resamples)
    unanimous, pairwise, alpha, kappa = (
        (statistic(kinds, occurs[None])[0], statistic(kinds, draws))
        for statistic in (_unanimous, _pairwise, _alpha, _kappa)
    )
    one_label = (
        "only one label occurs, so chance agreement is complete" if (votes > 0).any(axis=0).sum() < 2 else ""
    )
    uneven = len(np.unique(votes.sum(axis=1))) > 1
    return Agreement(
        n_items=n,
        patterns=_patterns(kinds, occurs),
        unanimous=_estimate(*unanimous, level),
        pairwise=_estimate(*pairwise, level),
        alpha=Estimate(np.nan, reason=one_label) if one_label else _estimate(*alpha, level),
        kappa=Estimate(np.nan, reason=one_label or _UNEVEN)
        if one_label or uneven
        else _estimate(*kappa, level),
    )


def _patterns(kinds: Counts, occurs: Counts) -> tuple[tuple[str, int], ...]:
    splits: Counter[tuple[int, ...]] = Counter()
    for kind, count in zip(kinds, occurs, strict=True):
        splits[tuple(sorted((int(v) for v in kind if v), reverse=True))] += int(count)
    ordered = sorted(splits.items(), key=lambda entry: (len(entry[0]), [-part for part in entry[0]]))
    return tuple(("/".join(map(str, split)), count) for split, count in ordered)


def _estimate(value: float, draws: Floats, level: float) -> Estimate:
    draws = draws[np.isfinite(draws)]
    if not len(draws):
        return Estimate(float(value), reason="undefined in every resample")
    if np.ptp(draws) == 0:
        return Estimate(float(value), reason="no interval, the same in every resample")
    lower, upper = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(value), float(lower), float(upper))


# Statistics of the items and of resamples: `kinds` are distinct rows of labels, shape (P, n_labels), and
# `weights` how often each occurs, shape (B, P).


def _unanimous(kinds: Counts, weights: Counts) -> Floats:
    same = kinds.max(axis=1) == kinds.sum(axis=1)
    return weights @ same / weights.sum(axis=1)


def _pairwise(kinds: Counts, weights: Counts) -> Floats:
    given = kinds.sum(axis=1)
    return weights @ ((kinds * (kinds - 1)).sum(axis=1) / (given * (given - 1))) / weights.sum(axis=1)


def _alpha(kinds: Counts, weights: Counts) -> Floats:
    """Krippendorff's α, nominal (2019, Content Analysis, 4th ed., ch. 12)."""
    given = kinds.sum(axis=1)
    agreeing = weights @ ((kinds * (kinds - 1)).sum(axis=1) / (given - 1))
    totals = weights @ kinds
    n = totals.sum(axis=1)
    expected = n**2 - (totals**2).sum(axis=1)
    observed = np.where(expected > 0, (n - agreeing) / np.maximum(expected, 1), np.nan)
    return 1 - (n - 1) * observed


def _kappa(kinds: Counts, weights: Counts) -> Floats:
    """Fleiss' κ (1971, doi:10.1037/h0031619)."""
    totals = weights @ kinds
    chance = ((totals / totals.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    excess = _pairwise(kinds, weights) - chance
    return np.where(chance < 1 - 1e-12, excess / np.maximum(1 - chance, 1e-12), np.nan)


_UNEVEN = "items have different numbers of labels, so see alpha"
