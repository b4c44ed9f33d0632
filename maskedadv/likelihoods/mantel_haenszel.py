"""The Mantel–Haenszel test of one item, and its class of size after ETS.

Cells of equal standing (by their right answers on all items of the subset) are compared: in every stratum a
2 × 2 table of language and right or wrong. The common odds ratio and the test are those of R's
`mantelhaen.test` (Mantel & Haenszel 1959, doi:10.1093/jnci/22.4.719; Holland & Thayer 1988), the standard
error that of Robins, Breslow & Greenland (1986, doi:10.2307/2531052).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

Array = NDArray[np.float64]

DELTA = 2.35
"""A logit in units of the ETS delta scale: D-DIF = −2.35 log α."""
SMALL, LARGE = 1.0, 1.5
"""Bounds of classes A and C, on the delta scale (Zieky 1993)."""
ALPHA = 0.05


@dataclass(frozen=True)
class MantelHaenszel:
    """Of every item; all of shape (N,), NaN where no stratum holds both groups and both kinds of answers.

    Attributes
    ----------
    log_odds : log of the common odds ratio, logit, positive where the focal group has it easier; infinite
        where a sum is empty
    sd : its standard error
    statistic, p : χ² with continuity correction, 1 df
    """

    log_odds: Array
    sd: Array
    statistic: Array
    p: Array


def mantel_haenszel(tables: Array, *, correct: bool = True) -> MantelHaenszel:
    """Test the association in 2 × 2 × K tables.

    Parameters
    ----------
    tables : shape (N, K, 2, 2): item, stratum, group (focal, other), answer (right, wrong)
    correct : whether the statistic has the continuity correction, as by default in R
    """
    a, b = tables[:, :, 0, 0], tables[:, :, 0, 1]
    c, d = tables[:, :, 1, 0], tables[:, :, 1, 1]
    n = a + b + c + d
    use = n > 1  # R takes strata of two answers and more
    size = np.where(use, n, 1.0)
    right, focal = a + c, a + b
    expected = np.where(use, focal * right / size, 0.0)
    variance = np.where(
        use, focal * (c + d) * right * (b + d) / (size**2 * np.maximum(size - 1, 1)), 0.0
    ).sum(axis=1)
    off = np.abs(np.where(use, a - expected, 0.0).sum(axis=1))
    known = variance > 0
    yates = np.where(off >= 0.5, 0.5, 0.0) if correct else 0.0  # R corrects nothing below one half
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = np.where(known, (off - yates) ** 2 / variance, np.nan)
        r, s = np.where(use, a * d / size, 0.0), np.where(use, b * c / size, 0.0)
        top, bottom = r.sum(axis=1), s.sum(axis=1)
        p, q = np.where(use, (a + d) / size, 0.0), np.where(use, (b + c) / size, 0.0)
        log_odds = np.where(known, np.log(top) - np.log(bottom), np.nan)
        sd = np.sqrt(
            (p * r).sum(axis=1) / (2 * top**2)
            + (p * s + q * r).sum(axis=1) / (2 * top * bottom)
            + (q * s).sum(axis=1) / (2 * bottom**2)
        )
    sd = np.where(known & np.isfinite(log_odds), sd, np.nan)
    return MantelHaenszel(log_odds, sd, statistic, np.where(known, chi2.sf(statistic, 1), np.nan))


def count_tables(answers: Array, focal: NDArray[np.bool_], stratum: NDArray[np.intp]) -> Array:
    """2 × 2 tables of every item in every stratum, shape (I, K, 2, 2), from answers (C, I)."""
    strata = int(stratum.max(initial=-1)) + 1
    out = np.zeros((answers.shape[1], strata, 2, 2))
    for k in range(strata):
        for g, group in enumerate((focal, ~focal)):
            rows = answers[(stratum == k) & group]
            out[:, k, g, 0] = (rows == 1.0).sum(axis=0)
            out[:, k, g, 1] = (rows == 0.0).sum(axis=0)
    return out


def strata_by_score(answers: Array, most: int = 10) -> NDArray[np.intp]:
    """Stratum of every cell by quantiles of its share of right answers, shape (C,).

    As many strata, up to `most`, as leave five cells in each on average.
    """
    with np.errstate(invalid="ignore"):
        score = np.nanmean(answers, axis=1)
    count = int(np.clip(len(score) // 5, 1, most))
    edges = np.quantile(score, np.linspace(0, 1, count + 1)[1:-1]) if count > 1 else np.zeros(0)
    return np.asarray(np.searchsorted(edges, score, side="right"), dtype=np.intp)


def ets_class(effect: Array, sd: Array, p: Array) -> NDArray[np.object_]:
    """A (negligible), B or C (large) of every effect (logit); empty where it is not known.

    C: at least 1.5 on the delta scale, and clearly above 1; A: under 1, or not clearly different from 0; B:
    all others. `p` is that of the effect being 0, `sd` its standard error.
    """
    delta = DELTA * np.abs(effect)
    with np.errstate(invalid="ignore"):
        clear = norm.cdf((SMALL - delta) / (DELTA * sd)) < ALPHA
        out = np.where((delta < SMALL) | ~(p < ALPHA), "A", np.where((delta >= LARGE) & clear, "C", "B"))
    return np.where(np.isfinite(effect) & np.isfinite(p), out, "").astype(object)
