"""How alike models answer beyond ability and difficulty, in the data and replicated from the posterior.

The statistic is that of `maskedadv.likelihoods.relatives`, a function of the answers alone: the residual
correlations of all pairs of models, their mean and the largest. A program that takes models for independent,
given ability and difficulty, replicates them around zero; relatives in the data stand out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.likelihoods.relatives import Covariances, find_relatives, language_covariances

Array = NDArray[np.float64]

STATISTICS = ("mean", "largest")
_WORK, _MOST, _FEWEST = 2000, 100, 20
"""Replicates times models, and the most and fewest replicates: a replicate costs about that of a gradient."""


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


def statistics(answers: tuple[Array, Array]) -> Array:
    """Mean and largest residual correlation of a locale's models, shape (2,).

    Parameters
    ----------
    answers : of each subset, shape (2J, I), local of every model, then pivot
    """
    parts: list[Covariances] = []
    items = 0
    for own in answers:
        if own.shape[1]:
            local, pivot = np.split(own, 2)
            parts += language_covariances(local, pivot)
            items += own.shape[1]
    found = find_relatives(parts, items).correlation if parts else np.full((1, 1), np.nan)
    pairs = found[np.triu_indices(len(found), 1)]
    pairs = pairs[np.isfinite(pairs)]
    return np.array([pairs.mean(), pairs.max()]) if len(pairs) else np.full(2, np.nan)


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
    observed = statistics(answers)
    kept = range(0, draws, thin)
    replicated = np.full((chains, len(kept), len(STATISTICS)), np.nan)
    if np.isnan(observed).any():
        return Likeness(observed, replicated)
    wanted = min(max(_WORK // models, _FEWEST), _MOST, chains * len(kept))
    rng = np.random.default_rng([seed, 1984])
    n = answers[0].shape[1]
    for place in np.linspace(0, chains * len(kept) - 1, wanted).astype(int):
        c, k = divmod(int(place), len(kept))
        made = []
        for s, own in enumerate(answers):
            b = difficulty[c, kept[k], :n] if s == 0 else difficulty[c, kept[k], n:]
            theta = ability[c, kept[k], :, s].T.ravel()  # local of every model, then pivot
            right = rng.random(own.shape) < expit(theta[:, None] - b)
            made.append(np.where(np.isnan(own), np.nan, right))
        replicated[c, k] = statistics((made[0], made[1]))
    return Likeness(observed, replicated)
