"""The estimate of one block, whatever the estimator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.blocks import Block

Array = NDArray[np.float64]

AT_CHANCE = -2
"""Part of a cell that is not above chance under a guessing floor."""


@dataclass(frozen=True)
class BlockEstimate:
    """Abilities and difficulties of one block, and how uncertain the abilities are together.

    Attributes
    ----------
    ability, ability_sd : shape (C,), logit
        Minus or plus infinity where a cell lies beyond every finite estimate; NaN where nothing is known.
    part : shape (C,)
        Cells with the same label, 0 or more, have a finite, known difference; -1 for none, -2 for a cell
        that is not above chance under a guessing floor.
    weak : shape (C,)
        Connected block of the cell × item graph.
    difficulty, difficulty_sd : shape (I,), logit
        Infinite under `joint` where every cell answered alike.
    informative : shape (I,)
        False for items that every cell answered alike.
    uncertainty : shape (K, C)
        `robust`: influence of every item, and `information`: principal directions, so that the covariance
        of the abilities is uncertainty.T @ uncertainty; `bootstrap`: the replicates themselves, NaN where
        a replicate has no finite estimate; `posterior`: the draws.
    sigma, sigma_sd : logit
        Standard deviation of the difficulties and its standard error (`marginal`), else NaN.
    log_likelihood : at the maximum, summed over parts
    gradient : largest absolute score of the uncollapsed problem
    converged : whether the gradient is zero to rounding
    typical_cells : median number of cells that answered an informative item
    bound : -1 or 1 if σ stopped at its lower or upper bound, else 0
    estimator : joint or marginal
    noise : sd of one continuous response (logit), else NaN
    apart : largest difference between the Stan program's own gaps and these, logit (`optimize`), else NaN
    trouble : why Stan's optimiser gave no point, so that Newton's method went on from the moment estimates,
        or why there is no estimate at all; empty where all went well
    own_gaps : shape (S, C), NUTS only: draws of the program's own gap of the model whose local cell it is;
        NaN at the pivot's cells
    pivot : shape (S, 2), NUTS only: draws of the sd over models of abilities in the pivot language, and of
        the models' correlation between CA and CS
    """

    ability: Array
    ability_sd: Array
    part: NDArray[np.intp]
    weak: NDArray[np.intp]
    difficulty: Array
    difficulty_sd: Array
    informative: NDArray[np.bool_]
    uncertainty: Array
    sigma: float
    sigma_sd: float
    log_likelihood: float
    gradient: float
    converged: bool
    typical_cells: float
    bound: int = 0
    estimator: str = ""
    noise: float = np.nan
    apart: float = np.nan
    trouble: str = ""
    own_gaps: Array | None = None
    pivot: Array | None = None


@dataclass(frozen=True)
class Fitted:
    """A block and its estimate."""

    block: Block
    estimate: BlockEstimate

    @property
    def failed_replicates(self) -> int:
        """Most bootstrap replicates that any cell with a finite estimate has no estimate in."""
        missing = np.isnan(self.estimate.uncertainty[:, self.estimate.part >= 0])
        return int(missing.sum(axis=0).max(initial=0))


def alike(answers: Array) -> NDArray[np.bool_]:
    """Items that every cell which saw them answered alike, shape (I,)."""
    seen = ~np.isnan(answers)
    right = np.where(seen, answers, 0.0).sum(axis=0)
    return np.asarray((right == 0.0) | (right == seen.sum(axis=0)))


def typical_cells(answers: Array, informative: NDArray[np.bool_]) -> float:
    """Median number of cells that answered an informative item (any item, if none is informative)."""
    chosen = answers[:, informative] if informative.any() else answers
    return float(np.median((~np.isnan(chosen)).sum(axis=0)))


def converged(gradient: float, answers: Array) -> bool:
    """Whether a score is zero to rounding, against the number of answers behind it."""
    return bool(gradient <= 1e-6 * max(1.0, float((~np.isnan(answers)).sum(axis=1).max())))


def beyond(answers: Array, reached: NDArray[np.intp]) -> Array:
    """Infinite or unknown abilities of cells outside the finite part.

    Parameters
    ----------
    answers : shape (C, I)
    reached : shape (C,); 1 if the cell dominates the finite part, -1 if the part dominates it, else 0

    Returns
    -------
    array of +inf (above everything finite), -inf (below), NaN (not determined), shape (C,)
    """
    mean = np.nanmean(answers, axis=1)
    out = np.full(len(answers), np.nan)
    out[(reached > 0) | (mean == 1.0)] = np.inf
    out[(reached < 0) | (mean == 0.0)] = -np.inf
    return out


def covariance_factor(covariance: Array) -> Array:
    """A factor F with F.T @ F equal to a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


def clustered(influence: Array, n_items: int) -> Array:
    """Influence of every item, scaled for the number of clusters: n/(n − 1) on the variance, as in R.

    One item alone says nothing of its own noise: its influence is zero and the variance unknown.
    """
    return influence * np.sqrt(n_items / max(n_items - 1, 1))
