"""The tipping point: the ratio of scales λ at which the mean knowledge gap would vanish.

local_gap/λ − global_gap is 0 at λ* = local_gap/global_gap. Whoever takes CS items to discriminate λ* times as
well as CA items needs no access to explain the plain gap. The interval is Fieller's (1954,
doi:10.1111/j.2517-6161.1954.tb00159.x): all ratios that the two means and their covariance do not exclude.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from maskedadv.gaps.contrasts import NO_SPREAD
from maskedadv.gaps.joint import ALL_LOCALES, NORMAL_KINDS, Joint
from maskedadv.vocabulary import GAPS

Array = NDArray[np.float64]

COLUMNS = ("locale", "ratio", "lower", "upper", "note")
_GLOBAL, _LOCAL = GAPS.index("global_gap"), GAPS.index("local_gap")


def fieller(
    above: float, below: float, variances: tuple[float, float], covariance: float, level: float
) -> tuple[float, float]:
    """Interval of above/below; infinite where `below` is not clear of zero, NaN without variances.

    Parameters
    ----------
    variances : of `above` and of `below`
    """
    z2 = float(ndtri(0.5 + level / 2)) ** 2
    a = below**2 - z2 * variances[1]
    b = above * below - z2 * covariance
    c = above**2 - z2 * variances[0]
    if not np.isfinite(a):
        return np.nan, np.nan
    if a <= 0:
        return -np.inf, np.inf
    root = np.sqrt(max(b**2 - a * c, 0.0))
    return float((b - root) / a), float((b + root) / a)


def tipping_points(joint: Joint) -> pd.DataFrame:
    """λ* of every locale's mean gaps, and of the mean over locales where there are several.

    Returns
    -------
    DataFrame with the columns locale, ratio, lower, upper, note. Over the models whose gaps are all known.
    """
    whole = np.asarray(joint.known.all(axis=2))
    rows = [
        _tipping_point(name, joint.only([name], joint.models), whole[[k]])
        for k, name in enumerate(joint.locales)
    ]
    if len(joint.locales) > 1:
        rows.append(_tipping_point(ALL_LOCALES, joint, whole))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _tipping_point(
    name: str, joint: Joint, chosen: NDArray[np.bool_]
) -> tuple[str, float, float, float, str]:
    """λ* of the mean over locales and the chosen models (L, J), as a row of `COLUMNS`."""
    weights = joint.average(chosen[None])
    mean = joint.contrast(weights)
    local, total = float(mean.estimate[0, _LOCAL]), float(mean.estimate[0, _GLOBAL])
    if not np.isfinite(local + total):
        return name, np.nan, np.nan, np.nan, "no model has all gaps"
    if abs(total) <= NO_SPREAD:
        return name, np.nan, -np.inf, np.inf, "the mean global gap is zero: there is no ratio"
    if joint.uncertainty[0].kind in NORMAL_KINDS:
        va, vb = float(mean.sd[0, _LOCAL] ** 2), float(mean.sd[0, _GLOBAL] ** 2)
        # var(local − global) is the knowledge gap's, which gives the covariance of the two
        vd = float(mean.sd[0, GAPS.index("knowledge_gap")] ** 2)
        lower, upper = fieller(local, total, (va, vb), (va + vb - vd) / 2, joint.level)
    else:
        lower, upper = _of_replicates(joint.rows_of(weights)[:, 0], joint.level)
    note = ""
    if local > NO_SPREAD and total < 0:
        note = "no ratio of scales explains the sign: local above zero, global below"
    if not note and np.isinf(lower):
        note = "the global gap is not clear of zero: any ratio will do"
    return name, local / total, lower, upper, note


def _of_replicates(drawn: Array, level: float) -> tuple[float, float]:
    """Percentiles of the ratio over replicates or draws (K, gaps); infinite where zero is below the line."""
    if not _one_sided(drawn[:, _GLOBAL], level):
        return -np.inf, np.inf
    tail = (1 - level) / 2
    lower, upper = np.nanquantile(drawn[:, _LOCAL] / drawn[:, _GLOBAL], [tail, 1 - tail])
    return float(lower), float(upper)


def _one_sided(drawn: Array, level: float) -> bool:
    share = float((drawn > 0).mean())
    return min(share, 1 - share) < (1 - level) / 2
