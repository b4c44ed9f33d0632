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
    n, m = len(joint.locales), len(joint.models)
    whole = np.asarray(joint.known.all(axis=2))
    members = np.asarray(np.broadcast_to(np.eye(n, dtype=bool)[:, :, None], (n, n, m)) & whole)
    names = list(joint.locales)
    if n > 1:
        members = np.concatenate([members, whole[None]])
        names.append(ALL_LOCALES)
    weights = joint.average(members)
    mean = joint.contrast(weights)
    rows = []
    for k, name in enumerate(names):
        local, total = float(mean.estimate[k, _LOCAL]), float(mean.estimate[k, _GLOBAL])
        if not np.isfinite(local + total):
            rows.append((name, np.nan, np.nan, np.nan, "no model has all gaps"))
            continue
        if abs(total) <= NO_SPREAD:
            rows.append((name, np.nan, -np.inf, np.inf, "the mean global gap is zero: there is no ratio"))
            continue
        lower = upper = np.nan
        if joint.uncertainty[0].kind in NORMAL_KINDS:
            va, vb = float(mean.sd[k, _LOCAL] ** 2), float(mean.sd[k, _GLOBAL] ** 2)
            # var(local − global) is the knowledge gap's, which gives the covariance of the two
            vd = float(mean.sd[k, GAPS.index("knowledge_gap")] ** 2)
            lower, upper = fieller(local, total, (va, vb), (va + vb - vd) / 2, joint.level)
        else:
            drawn = joint.rows_of(weights[[k]])
            ratio = drawn[:, 0, _LOCAL] / drawn[:, 0, _GLOBAL]
            if not _one_sided(drawn[:, 0, _GLOBAL], joint.level):
                lower, upper = -np.inf, np.inf
            else:
                tail = (1 - joint.level) / 2
                lower, upper = (float(v) for v in np.nanquantile(ratio, [tail, 1 - tail]))
        note = ""
        if local > NO_SPREAD and total < 0:
            note = "no ratio of scales explains the sign: local above zero, global below"
        if not note and np.isinf(lower):
            note = "the global gap is not clear of zero: any ratio will do"
        rows.append((name, local / total, lower, upper, note))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _one_sided(drawn: Array, level: float) -> bool:
    share = float((drawn > 0).mean())
    return min(share, 1 - share) < (1 - level) / 2
