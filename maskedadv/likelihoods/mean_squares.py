"""Infit and outfit: how far answers stray from what the Rasch model expects of an item or a cell.

Outfit is the mean of the squared standardised residuals, infit the same weighted by information (Wright &
Masters 1982, Rating Scale Analysis, chapter 5), as in eRm's `itemfit` and `personfit`. Both are about 1 where
the model holds, above where answers are noisier than it says, below where they are tidier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MeanSquares:
    """Infit and outfit of rows (N,) and columns (K,); NaN where no answer counts."""

    row_infit: Array
    row_outfit: Array
    column_infit: Array
    column_outfit: Array


def mean_squares(rows: Array, ability: Array, level: Array) -> MeanSquares:
    """Mean squares of a table.

    Parameters
    ----------
    rows : shape (N, K), 0, 1 and NaN
    ability : of the columns, shape (K,)
    level : of the rows, shape (N,); rows whose level is infinite (all right, or all wrong) do not count
    """
    square, variance, known = residuals(rows, ability, level)
    with np.errstate(invalid="ignore", divide="ignore"):
        standard = np.where(known, square / np.where(known, variance, 1.0), 0.0)
        return MeanSquares(
            row_infit=square.sum(axis=1) / variance.sum(axis=1),
            row_outfit=standard.sum(axis=1) / known.sum(axis=1),
            column_infit=square.sum(axis=0) / variance.sum(axis=0),
            column_outfit=standard.sum(axis=0) / known.sum(axis=0),
        )


def residuals(rows: Array, ability: Array, level: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Squared residuals and variances, 0 where an answer does not count, and which do; shapes (N, K)."""
    finite = np.isfinite(level)
    p = expit(ability - np.where(finite, level, 0.0)[:, None])
    known = ~np.isnan(rows) & finite[:, None]
    return np.where(known, (rows - p) ** 2, 0.0), np.where(known, p * (1 - p), 0.0), known


def separation_reliability(estimate: Array, error: Array) -> float:
    """Share of the variance of estimates that is not error: (var − mean squared error)/var.

    As eRm's `SepRel`; estimates that are not finite do not count. NaN with fewer than two.

    Parameters
    ----------
    estimate, error : estimates and their standard errors, shape (N,)
    """
    use = np.isfinite(estimate) & np.isfinite(error)
    if use.sum() < 2:
        return float("nan")
    spread = float(np.var(estimate[use], ddof=1))
    return (spread - float((error[use] ** 2).mean())) / spread if spread > 0 else float("nan")
