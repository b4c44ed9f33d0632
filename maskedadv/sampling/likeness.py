"""How alike models answer beyond ability and difficulty, in the data and replicated from the posterior.

The statistic is that of `maskedadv.likelihoods.relatives`, a function of the answers alone: the residual
correlations of all pairs of models, their mean and the largest. A program that takes models for independent,
given ability and difficulty, replicates them around zero; relatives in the data stand out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.likelihoods.relatives import (
    Covariances,
    find_relatives,
    language_covariances,
    shared_spreads,
)

Array = NDArray[np.float64]

STATISTICS = ("mean", "largest")
_WORK, _MOST, _FEWEST = 2000, 100, 20
"""Replicates times models, and the most and fewest replicates: a replicate costs about that of a gradient."""
_AT_ONCE = 1000
"""Replicates times models that are solved at once: some 50 MB."""


@dataclass(frozen=True)
class Likeness:
    """Residual correlations over pairs of models: mean and largest.

    Attributes
    ----------
    observed : shape (2,); NaN where no pair shares items
    replicated : shape (chains, R, 2), NaN for draws without a replicate
    """

    observed: Array
    replicated: Array


def statistics(tables: Sequence[tuple[Array, Array]]) -> Array:
    """Mean and largest residual correlation of a locale's models in each of several tables, shape (R, 2).

    Parameters
    ----------
    tables : answers of each subset, shape (2J, I), local of every model, then pivot; all of one locale
    """
    parts: list[list[Covariances]] = [[] for _ in tables]
    items = 0
    for s in (0, 1):
        own = [(t[s][: len(t[s]) // 2], t[s][len(t[s]) // 2 :]) for t in tables]
        if own[0][0].shape[1]:
            items += own[0][0].shape[1]
            for part, both, spread in zip(parts, own, shared_spreads(own), strict=True):
                part += language_covariances(*both, float(spread))
    return np.array([_mean_and_largest(part, items) for part in parts])


def _mean_and_largest(parts: list[Covariances], items: int) -> tuple[float, float]:
    found = find_relatives(parts, items).correlation if parts else np.full((1, 1), np.nan)
    pairs = found[np.triu_indices(len(found), 1)]
    pairs = pairs[np.isfinite(pairs)]
    return (float(pairs.mean()), float(pairs.max())) if len(pairs) else (np.nan, np.nan)


def replicate_likeness(
    answers: tuple[Array, Array], ability: Array, difficulty: Array, *, thin: int, seed: int
) -> Likeness | None:
    """Likeness of the answers and of replicated ones; None for a single model.

    Parameters
    ----------
    answers : of each subset, shape (2J, I_s), NaN where not observed
    ability : (chains, draws, J, 2 subsets, 2 queries), logit
    difficulty : (chains, draws, I), CA then CS
    thin : replicates are of some of every `thin`-th draw
    """
    chains, draws, models = ability.shape[:3]
    if models < 2:
        return None
    observed = statistics([answers])[0]
    kept = range(0, draws, thin)
    replicated = np.full((chains, len(kept), len(STATISTICS)), np.nan)
    if np.isnan(observed).any():
        return Likeness(observed, replicated)
    wanted = min(max(_WORK // models, _FEWEST), _MOST, chains * len(kept))
    rng = np.random.default_rng([seed, 1984])
    n = answers[0].shape[1]
    places = np.linspace(0, chains * len(kept) - 1, wanted).astype(int)
    at_once = max(_AT_ONCE // models, 1)
    for first in range(0, wanted, at_once):
        at = [divmod(int(place), len(kept)) for place in places[first : first + at_once]]
        made = []
        for c, k in at:
            b = difficulty[c, kept[k]]
            made.append(
                (
                    _replicate(rng, answers[0], ability[c, kept[k], :, 0], b[:n]),
                    _replicate(rng, answers[1], ability[c, kept[k], :, 1], b[n:]),
                )
            )
        for (c, k), found in zip(at, statistics(made), strict=True):
            replicated[c, k] = found
    return Likeness(observed, replicated)


def _replicate(rng: np.random.Generator, own: Array, ability: Array, b: Array) -> Array:
    """Answers where `own` (2J, I) has some, drawn at abilities (J, 2) and difficulties (I,)."""
    theta = ability.T.ravel()  # local of every model, then pivot
    right = rng.random(own.shape) < expit(theta[:, None] - b)
    return np.where(np.isnan(own), np.nan, right)
