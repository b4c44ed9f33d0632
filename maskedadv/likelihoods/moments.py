"""Moment estimates: where optimisers and chains start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]

_SHRINK = (16 * np.sqrt(3) / (15 * np.pi)) ** 2
"""A logit averaged over a normal of variance v is flatter by sqrt(1 + _SHRINK v) (Zeger et al. 1988)."""


@dataclass(frozen=True)
class Moments:
    """Rough estimates from the margins of right/wrong answers.

    Attributes
    ----------
    ability : shape (C,); cells without answers get the mean of the others
    error : error variance of each ability, shape (C,); NaN without answers
    difficulty : shape (I,), sums to zero
    sigma : sd of the difficulties
    """

    ability: Array
    error: Array
    difficulty: Array
    sigma: float


def smoothed_logits(answers: Array) -> Array:
    """Logits of smoothed row means, shape of the rows."""
    seen = ~np.isnan(answers)
    right = np.where(seen, answers, 0.0).sum(axis=1)
    count = seen.sum(axis=1)
    mean = (right + 0.5) / (count + 1.0)
    return np.asarray(np.log(mean / (1.0 - mean)))


def flattened(sigma: float) -> float:
    """How much a cell's ability exceeds the logit of its accuracy when difficulties have this sd."""
    return float(np.sqrt(1 + _SHRINK * sigma**2))


def rough_moments(answers: Array) -> Moments:
    """Rough estimates from row and column means of one subset, shape (C, I), NaN where not observed."""
    seen = ~np.isnan(answers)
    has = seen.any(axis=1)
    cell, item = smoothed_logits(answers), -smoothed_logits(answers.T)
    count = seen.sum(axis=0)
    p = (np.where(seen, answers, 0.0).sum(axis=0) + 0.5) / (count + 1.0)
    flat = max(float(item.var()) - float(np.mean(1.0 / ((count + 1.0) * p * (1.0 - p)))), 0.05)
    spread = float(cell[has].var()) if has.any() else 0.0
    sigma = float(np.clip(np.sqrt(flat * (1 + _SHRINK * spread)), 0.1, 8.0))
    ability = cell * flattened(sigma)
    error = flattened(sigma) ** 2 / ((seen.sum(axis=1) + 1.0) * expit(cell) * expit(-cell))
    difficulty = (item - item.mean()) * np.sqrt(1 + _SHRINK * spread)
    ability = np.where(has, ability, ability[has].mean() if has.any() else 0.0)
    return Moments(ability, np.where(has, error, np.nan), difficulty - difficulty.mean(), sigma)


def logits_above_chance(answers: Array, chance: Array) -> tuple[Array, Array]:
    """Logits of cell means with the lucky answers taken out, and their error variances (NaN without answers).

    Parameters
    ----------
    answers : shape (C, I), NaN where not observed
    chance : guessing floor of every item, shape (I,)

    Returns
    -------
    logit, error : shapes (C,)
    """
    seen = ~np.isnan(answers)
    count = seen.sum(axis=1)
    some = np.maximum(count, 1)
    lucky = (seen * chance).sum(axis=1) / some
    mean = np.nansum(answers, axis=1) / some
    known = (np.clip((mean - lucky) / (1.0 - lucky), 0.0, 1.0) * count + 0.5) / (count + 1.0)
    p = lucky + (1.0 - lucky) * known
    slope = (1.0 - lucky) * known * (1.0 - known)
    error = np.where(count > 0, p * (1.0 - p) / ((count + 1.0) * slope**2), np.nan)
    return np.log(known / (1.0 - known)), error
