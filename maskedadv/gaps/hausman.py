"""Does the plain gap agree with the paired one? Hausman's test, by item-clustered scores.

Where the Rasch model holds, plain and paired estimate the same gaps, the plain one more precisely. Where
models depend on each other beyond ability and difficulty, or know single items, plain goes elsewhere and
paired does not (Hausman 1978, doi:10.2307/1913827). The difference is taken in its score form: what the
conditional likelihood of the pairs says at the plain gaps,

    T = Σ over models of n10 − (n10 + n01)·logit⁻¹(plain gap),    shift = T / information.

`shift` is the one step from the plain towards the paired gaps that all models share, weighted by precision.
T is linear in the pairs, so that few discordant ones neither bias it nor make it infinite: at 80 models and
60 items a test on the mean of log(n10/n01) rejects true Rasch data in 28% of tables. Its variance is the sum
over items of squared influences, the plain gaps' own included, so that models and locales may depend on each
other in any way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.likelihoods.tails import chi2_above, chi2_upper, f_above, t_above

Array = NDArray[np.float64]

SIGNIFICANT = 0.05
"""Below this p of the test over everything, paired is the headline."""
_SAME = 1e-8
"""Variance, of its size at independence, under which a difference of estimators is rounding."""


@dataclass(frozen=True)
class Shift:
    """The common step from plain to paired gaps of one locale and subset.

    Attributes
    ----------
    estimate : logit; NaN where no model has a pair
    keys : shape (K,), item ids
    rows : shape (K,), influence of every item on the estimate
    items : number of items behind it
    """

    estimate: float
    keys: NDArray[np.object_]
    rows: Array
    items: int


@dataclass(frozen=True)
class Outcome:
    """A test that a difference is zero: t with `df` degrees of freedom (one contrast), or joint over `df`."""

    statistic: float
    df: float
    p: float


def find_shift(score: Array, information: Array, influence: Array, keys: NDArray[np.object_]) -> Shift:
    """The common step and its influence by item.

    Parameters
    ----------
    score : shape (I, J), conditional scores of the pairs at the plain gaps; 0 for models without a plain gap
    information : shape (J,), their conditional information
    influence : shape (I, J), influence of every item on the plain gaps
    keys : shape (I,)
    """
    total = float(information.sum())
    items = len(keys)
    if total <= 0:
        return Shift(np.nan, keys, np.zeros(len(keys)), items)
    rows = score.sum(axis=1) - influence @ information
    rows = (rows - rows.mean()) * np.sqrt(len(rows) / max(len(rows) - 1, 1)) / total
    return Shift(float(score.sum()) / total, keys, rows, items)


def compare_gaps(one: Shift, other: Shift | None = None) -> tuple[float, float, Outcome]:
    """Estimate, standard error and t test of a shift, or of the difference between two.

    The degrees of freedom are those of the items behind the variance (Satterthwaite for a difference). Two
    shifts of one subset each share no item.
    """
    parts = [one] if other is None else [one, other]
    estimate = one.estimate - (0.0 if other is None else other.estimate)
    variances = np.array([float(v.rows @ v.rows) for v in parts])
    variance, freedom = variances.sum(), np.array([max(v.items - 1.0, 1.0) for v in parts])
    if not np.isfinite(estimate) or variance <= _SAME**2:
        return estimate, np.nan, Outcome(np.nan, np.nan, np.nan)
    df = float(variance**2 / (variances**2 / freedom).sum())
    statistic = float(estimate / np.sqrt(variance))
    return estimate, float(np.sqrt(variance)), Outcome(statistic, df, float(2 * t_above(abs(statistic), df)))


def compare_all(shifts: Sequence[Shift]) -> Outcome:
    """All shifts at once: are they all zero?

    Shifts that share items (a subset's locales, compared with the same English answers) are tested together
    by Hotelling's T², referred to F for as many items; sets without a common item are independent, and their
    statistics, each carried to χ² by its probability, add up. Directions in which the estimators cannot
    differ, by their variance, are left out and do not count.
    """
    known = [v for v in shifts if np.isfinite(v.estimate)]
    statistic, df = 0.0, 0
    for group in _linked(known):
        own, rank = _hotelling([known[k] for k in group])
        statistic, df = statistic + own, df + rank
    if not df:
        return Outcome(np.nan, 0, np.nan)
    return Outcome(statistic, df, chi2_above(statistic, df))


def _hotelling(shifts: Sequence[Shift]) -> tuple[float, int]:
    """T² of shifts that share items, carried to χ², and its degrees of freedom."""
    code, unique = _codes([v.keys for v in shifts])
    rows = np.zeros((unique, len(shifts)))
    for k, (own, shift) in enumerate(zip(code, shifts, strict=True)):
        np.add.at(rows[:, k], own, shift.rows)
    scale = np.sqrt((rows**2).sum(axis=0))
    moving = scale > _SAME
    if not moving.any():
        return 0.0, 0
    rows, scale = rows[:, moving] / scale[moving], scale[moving]
    value = np.array([v.estimate for v in shifts])[moving] / scale
    size, direction = np.linalg.eigh(rows.T @ rows)
    kept = size > _SAME
    squared = float(((direction[:, kept].T @ value) ** 2 / size[kept]).sum())
    rank = int(kept.sum())
    n = max(max(v.items for v in shifts) - 1, 1)
    if n <= rank:  # too few items for so many locales at once: their sum alone
        total = rows @ np.ones(rows.shape[1])
        squared, rank = float(value.sum() ** 2 / (total @ total)), 1
    p = f_above(squared * (n - rank + 1) / (n * rank), rank, n - rank + 1)
    return chi2_upper(max(p, 1e-300), rank), rank


def _codes(keys: Sequence[NDArray[np.object_]]) -> tuple[list[NDArray[np.intp]], int]:
    unique, code = np.unique(np.concatenate(keys).astype(str), return_inverse=True)
    return np.split(code.reshape(-1), np.cumsum([len(k) for k in keys])[:-1]), len(unique)


def _linked(shifts: Sequence[Shift]) -> list[list[int]]:
    """Indices of shifts in sets that share no item with each other."""
    groups: list[tuple[set[str], list[int]]] = []
    for k, shift in enumerate(shifts):
        items, members = set(shift.keys.tolist()), [k]
        apart = []
        for other, own in groups:
            if other & items:
                items, members = items | other, own + members
            else:
                apart.append((other, own))
        groups = [*apart, (items, members)]
    return [sorted(own) for _, own in groups]
