"""Means over models with an interval clustered by family, as well as by item.

The interval of a mean over these models counts items only. Where models are taken for a sample of families,
whose members go together, the mean varies with the families, too: two-way clustered variance (Cameron,
Gelbach & Miller 2011, doi:10.1198/jbes.2010.07136), by items plus by families less by both, with t on one
degree of freedom fewer than there are families. No distribution of gaps is assumed, as it is for
`maskedadv.gaps.population`; the mean stays that over these models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from maskedadv.gaps.joint import NORMAL_KINDS, Array, Joint
from maskedadv.gaps.population import FEWEST
from maskedadv.likelihoods.tails import t_below, t_quantile

Labels = NDArray[np.intp]


def clustered_interval(
    value: Array, rows: Array, kind: str, family: Labels, level: float
) -> tuple[float, float, float, float]:
    """Standard error, lower and upper end, and the probability of a mean above zero.

    Parameters
    ----------
    value : shape (J,), logit
    rows : shape (K, J), uncertainty as in `maskedadv.gaps.contrasts.Uncertainty`, of that kind
    family : shape (J,), labels
    """
    families = len(np.unique(family))
    mean = float(value.mean())
    if kind in NORMAL_KINDS:
        variance = _two_way(value, rows / len(value), family)
    elif (
        kind == "posterior"
    ):  # draws are free of noise: the families' share in each, and what draws differ by
        drawn = rows[~np.isnan(rows).any(axis=1)]
        variance = float(np.mean(_between(drawn, family)) + drawn.mean(axis=1).var(ddof=1))
    else:
        off = np.where(np.isnan(rows), 0.0, rows - value)
        off = (off - off.mean(axis=0)) / np.sqrt(max(len(off) - 1, 1))
        variance = _two_way(value, off / len(value), family)
    sd = float(np.sqrt(variance))
    reach = float(t_quantile(0.5 + level / 2, families - 1)) * sd
    p = float(t_below(mean / sd, families - 1)) if sd > 0 else np.nan
    return sd, mean - reach, mean + reach, p


def _two_way(value: Array, rows: Array, family: Labels) -> float:
    by_item = float((rows.sum(axis=1) ** 2).sum())
    by_both = sum(float((rows[:, family == f].sum(axis=1) ** 2).sum()) for f in np.unique(family))
    by_family = float(_between(value[None], family)[0])
    return max(by_item + by_family - by_both, by_item)


def _between(values: Array, family: Labels) -> Array:
    """Variance of the mean over models that families make, of every row of values (D, J)."""
    names = np.unique(family)
    off = (values - values.mean(axis=1, keepdims=True)) / values.shape[1]
    sums = np.stack([off[:, family == f].sum(axis=1) for f in names], axis=1)
    return np.asarray((sums**2).sum(axis=1) * len(names) / (len(names) - 1))


def clustered_mean(
    joint: Joint, place: int, gap: int, families: Sequence[str]
) -> tuple[float, float, float, float, int] | None:
    """`clustered_interval` of a locale's mean and the number of families; None where they are too few."""
    known = joint.known[place, :, gap]
    label = np.unique(np.array(families, dtype=object).astype(str), return_inverse=True)[1].reshape(-1)[known]
    count = len(np.unique(label))
    if count < FEWEST:
        return None
    rows = joint.rows_of_gap(gap, [place])[:, known]
    value = joint.estimate[place, known, gap]
    return *clustered_interval(value, rows, joint.uncertainty[place].kind, label, joint.level), count
