"""How good predictions of right and wrong answers are: proper scores, ranking, calibration, differences.

Lower is better for `bce` (the log score, Good 1952, doi:10.1111/j.2517-6161.1952.tb00104.x) and `brier`
(Brier 1950), which both are least, on average, for the true probabilities; higher for `auc` and `accuracy`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import rankdata

Array = NDArray[np.float64]

MEASURES = ("bce", "brier", "auc", "accuracy", "calibration_error")
"""In the order of every table."""

SMALLEST = 1e-15
"""Predictions are held so far from 0 and 1; a number cannot be nearer to 1 without being it."""

BINS = 10


def losses(y: Array, p: Array) -> Array:
    """Binary cross-entropy of every answer, −y log p − (1 − y) log(1 − p), in nats."""
    q = np.clip(p, SMALLEST, 1.0 - SMALLEST)
    return np.asarray(-(y * np.log(q) + (1.0 - y) * np.log1p(-q)))


def auc(y: Array, p: Array) -> float:
    """Probability that a right answer has the higher prediction than a wrong one, ties for half.

    The Mann–Whitney statistic (Hanley & McNeil 1982, doi:10.1148/radiology.143.1.7063747). NaN where all
    answers are alike.
    """
    right = y > 0.5
    n, m = int(right.sum()), int((~right).sum())
    if not n or not m:
        return float("nan")
    return float((rankdata(p)[right].sum() - n * (n + 1) / 2) / (n * m))


def measure(y: Array, p: Array) -> dict[str, float]:
    """Every measure of one set of answers (N,) and predictions (N,)."""
    bins = calibration_bins(y, p)
    return {
        "bce": float(losses(y, p).mean()),
        "brier": float(((y - p) ** 2).mean()),
        "auc": auc(y, p),
        "accuracy": float(((p > 0.5) == (y > 0.5)).mean()),
        "calibration_error": float((bins.n * np.abs(bins.predicted - bins.observed)).sum() / len(y)),
    }


@dataclass(frozen=True)
class Bins:
    """Answers by their predictions: number, mean prediction and share of right ones, each shape (B,)."""

    n: Array
    predicted: Array
    observed: Array


def calibration_bins(y: Array, p: Array) -> Bins:
    """Ten bins of equal width; empty ones are left out."""
    place = np.minimum((p * BINS).astype(np.intp), BINS - 1)
    n = np.bincount(place, minlength=BINS).astype(np.float64)
    kept = n > 0
    predicted, observed = (np.bincount(place, v, minlength=BINS)[kept] / n[kept] for v in (p, y))
    return Bins(n[kept], predicted, observed)


def recalibrate(y: Array, p: Array) -> tuple[float, float]:
    """Intercept and slope of logit P(y = 1) on the logit of the prediction; 0 and 1 where all is well.

    Cox (1958, doi:10.1093/biomet/45.3-4.562). A slope below 1 says that predictions are too bold. NaN where
    answers or predictions are all alike, or divided without overlap.
    """
    q = np.clip(p, SMALLEST, 1.0 - SMALLEST)
    x = np.log(q) - np.log1p(-q)
    if np.ptp(x) < 1e-9 or np.ptp(y) == 0.0:
        return float("nan"), float("nan")
    design = np.stack([np.ones_like(x), x], axis=1)
    beta = np.array([0.0, 1.0])
    for _ in range(100):
        mean = expit(design @ beta)
        step = np.linalg.lstsq(
            (design * (mean * (1 - mean))[:, None]).T @ design, design.T @ (y - mean), rcond=None
        )[0]
        beta = beta + step * min(1.0, 2.0 / float(np.abs(step).max() + 1e-300))
        if np.abs(step).max() < 1e-10:
            return float(beta[0]), float(beta[1])
        if np.abs(beta).max() > 1e3:
            break
    return float("nan"), float("nan")


def clustered_difference(a: Array, b: Array, cluster: NDArray[np.integer]) -> tuple[float, float]:
    """Mean of a − b (N,), and its standard error where answers of one cluster (N,) go together.

    An item's answers share its difficulty, so their losses do: the clusters are items (whole models where new
    models are predicted), as in the robust intervals of gaps.
    """
    d = a - b
    mean = float(d.mean())
    totals = np.bincount(cluster, d - mean)
    present = int((np.bincount(cluster) > 0).sum())
    if present < 2:
        return mean, float("nan")
    return mean, float(np.sqrt(present / (present - 1) * (totals**2).sum()) / len(d))
