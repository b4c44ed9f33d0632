"""Rates of a confusion matrix: accuracy, precision, recall, F1 and their macro mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.settings import LEVEL

Counts = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rates:
    """Rates of one confusion matrix (rows reference, columns predicted).

    Attributes
    ----------
    accuracy
        Share on the diagonal.
    precision, recall, f1
        Shape (n_labels,). Precision is NaN for a label never predicted, recall for one that never
        occurs; F1 is 0 where one of them is NaN or 0, and NaN for a label on neither side.
    macro_f1
        Mean of F1 over the labels on either side.
    """

    accuracy: float
    precision: Floats
    recall: Floats
    f1: Floats
    macro_f1: float


def confusion(reference: Counts, predicted: Counts, n_labels: int) -> Counts:
    """Counts of (reference, predicted), shape (n_labels, n_labels)."""
    matrix = np.zeros((n_labels, n_labels), dtype=np.intp)
    np.add.at(matrix, (reference, predicted), 1)
    return matrix


def rates(matrix: Counts) -> Rates:
    """Rates of a confusion matrix, NaN where nothing was counted."""
    precision, recall, f1 = per_class(matrix)
    total = matrix.sum()
    return Rates(
        accuracy=float(np.trace(matrix) / total) if total else np.nan,
        precision=precision,
        recall=recall,
        f1=f1,
        macro_f1=float(f1[np.isfinite(f1)].mean()) if total else np.nan,
    )


def per_class(matrices: NDArray[np.integer]) -> tuple[Floats, Floats, Floats]:
    """Precision, recall and F1 of every label, for one matrix or a stack of them."""
    hits = np.diagonal(matrices, axis1=-2, axis2=-1).astype(np.float64)
    predicted, occurs = matrices.sum(axis=-2), matrices.sum(axis=-1)
    return (
        _share(hits, predicted),
        _share(hits, occurs),
        _share(2 * hits, predicted + occurs),
    )


def _share(part: Floats, whole: NDArray[np.integer]) -> Floats:
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)


def rate_intervals(
    matrix: Counts, rng: np.random.Generator, n_resamples: int = 5000, level: float = LEVEL
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Percentile intervals of accuracy and macro-F1 over resampled items; NaN where they have no spread."""
    total = int(matrix.sum())
    if total == 0:
        return (np.nan, np.nan), (np.nan, np.nan)
    draws = rng.multinomial(total, matrix.reshape(-1) / total, size=n_resamples).reshape(-1, *matrix.shape)
    accuracy = np.trace(draws, axis1=-2, axis2=-1) / total
    macro = np.nanmean(per_class(draws)[2], axis=-1)
    return _interval(accuracy, level), _interval(macro, level)


def _interval(draws: Floats, level: float) -> tuple[float, float]:
    """Percentiles; NaN where every resample gives the same, which says nothing of the spread."""
    if np.ptp(draws) == 0:
        return np.nan, np.nan
    lower, upper = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(lower), float(upper)
