"""Gaps against the resource level of the locale (arXiv 2606.07422, Table 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from maskedadv.errors import MissingFacts
from maskedadv.gaps.joint import Array, Joint
from maskedadv.result.fit_result import Fit
from maskedadv.summaries.means import locale_means
from maskedadv.vocabulary import GAPS


def pearson_p(r: float, n: int) -> float:
    """Two-sided p of a Pearson correlation of `n` pairs: t with n − 2 degrees of freedom."""
    if n < 3 or not abs(r) <= 1:
        return float("nan")
    if abs(r) == 1:
        return 0.0
    t = r * np.sqrt((n - 2) / (1 - r**2))
    return float(2 * stats.t.sf(abs(t), n - 2))


def by_resource_level(fit: Fit | Joint, locales: pd.DataFrame) -> pd.DataFrame:
    """Mean of each gap over the locale means of every resource level, lowest level first.

    Parameters
    ----------
    locales
        From `locale_facts`.

    Returns
    -------
    DataFrame: resource_level, n_locales, locales, gap, estimate, sd, lower, upper, p_positive.

    Raises
    ------
    MissingFacts
        No locale of the result has a resource level.
    """
    joint = Joint.of(fit)
    level = _levels(joint, locales)
    values = np.unique(level[~np.isnan(level)])
    at = level == values[:, None]
    members = np.broadcast_to(at[:, :, None], (*at.shape, len(joint.models)))
    known = joint.known.any(axis=1)  # (L, 3)
    anything = joint.some.any(axis=1)
    names = [", ".join(np.array(joint.locales, dtype=object)[row & anything]) for row in at]
    labels = {"resource_level": values, "n_locales": (at[..., None] & known).sum(axis=1), "locales": names}
    return joint.contrast(joint.average(members)).frame(labels)


def resource_trend(fit: Fit | Joint, locales: pd.DataFrame) -> pd.DataFrame:
    """How the locale means go with the resource level.

    `r` (Pearson), `p` (two-sided t, n − 2 df), `r_lower` and `r_upper` (Fisher's z) and `spearman` take the
    locales for a sample of languages and their means as given; noise in the means pulls them towards zero.
    `slope` (logit a level, least squares) is a weighted sum of gaps, so its interval comes from the joint
    uncertainty: it is about these locales, whatever the noise.

    Returns
    -------
    DataFrame: gap, n_locales, r, r_lower, r_upper, p, spearman, spearman_p, slope, slope_sd, slope_lower,
    slope_upper. NaN with fewer than three locales (Fisher's interval: four) or a single level.

    Raises
    ------
    MissingFacts
        No locale of the result has a resource level.
    """
    joint = Joint.of(fit)
    level = _levels(joint, locales)
    means = locale_means(joint)
    slopes = joint.contrast(_slope_weights(joint, level))
    rows = []
    for g, gap in enumerate(GAPS):
        mean = means.loc[means["gap"] == gap, "estimate"].to_numpy()
        used = ~np.isnan(level) & ~np.isnan(mean)
        rows.append(
            {"gap": gap, "n_locales": int(used.sum())}
            | correlation(level[used], mean[used], joint.level)
            | {
                "slope": slopes.estimate[0, g],
                "slope_sd": slopes.sd[0, g],
                "slope_lower": slopes.lower[0, g],
                "slope_upper": slopes.upper[0, g],
            }
        )
    return pd.DataFrame(rows)


def correlation(x: Array, y: Array, level: float) -> dict[str, Any]:
    """Pearson r with its p and Fisher interval, and Spearman with its p; NaN where undefined."""
    out = dict.fromkeys(("r", "r_lower", "r_upper", "p", "spearman", "spearman_p"), float("nan"))
    n = len(x)
    if n < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return out
    r = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
    rank = stats.spearmanr(x, y)
    out |= {"r": r, "p": pearson_p(r, n), "spearman": float(rank.statistic), "spearman_p": float(rank.pvalue)}
    if n > 3 and abs(r) < 1:
        half = stats.norm.ppf((1 + level) / 2) / np.sqrt(n - 3)
        out |= {"r_lower": np.tanh(np.arctanh(r) - half), "r_upper": np.tanh(np.arctanh(r) + half)}
    return out


def _levels(joint: Joint, locales: pd.DataFrame) -> Array:
    """Resource level of every locale, NaN where not known, shape (L,)."""
    level = locales["resource_level"].reindex(list(joint.locales)).to_numpy(dtype=np.float64)
    if np.isnan(level).all():
        raise MissingFacts(
            f"no resource level is known for {', '.join(joint.locales[:5])}; add resource_level to a "
            "locales.toml and give it with --locales."
        )
    return level


def _slope_weights(joint: Joint, level: Array) -> Array:
    """Weights that give the least-squares slope of locale means on level, shape (1, L, J, 3)."""
    known = joint.known
    count = known.sum(axis=1)  # (L, 3)
    used = (count > 0) & ~np.isnan(level)[:, None]
    x = np.where(used, level[:, None], 0.0)
    n = used.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = np.where(used, x - x.sum(axis=0) / n, 0.0)
        spread = (centred**2).sum(axis=0)
        per_locale = centred / np.where((n >= 2) & (spread > 0), spread, np.nan)
        weights = np.where(known, per_locale[:, None, :] / np.where(count, count, 1)[:, None, :], 0.0)
    weights = np.where(np.isnan(per_locale).any(axis=0), np.nan, weights)
    return weights[None]
