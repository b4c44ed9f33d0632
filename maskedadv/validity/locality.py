"""Does validity fall with locality? Partial r and dR2 against the share of culture-specific items.

A description of a handful of pairings, not a test: no p-value is given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.errors import NotEstimable

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Trend:
    """Least-squares line of a measure on the share of CS items (0 to 1), and Pearson's r."""

    intercept: float
    slope: float
    r: float
    n_pairings: int


def trend(cs_share: Floats, measure: Floats, open_ended: NDArray[np.bool_]) -> Trend:
    """Descriptive trend over the multiple-choice pairings; open-ended ones are left out.

    Raises
    ------
    NotEstimable
        Fewer than three multiple-choice pairings have both numbers, or all have the same share.
    """
    used = ~open_ended & np.isfinite(cs_share) & np.isfinite(measure)
    if used.sum() < 3:
        raise NotEstimable(f"{used.sum()} multiple-choice pairings have both numbers; a trend needs three")
    x, y = cs_share[used], measure[used]
    if np.ptp(x) == 0:
        raise NotEstimable("all pairings have the same share of CS items")
    slope, intercept = np.polyfit(x, y, 1)
    r = float(np.corrcoef(x, y)[0, 1]) if np.ptp(y) > 0 else np.nan
    return Trend(float(intercept), float(slope), r, int(used.sum()))
