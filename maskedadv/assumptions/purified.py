"""Purified gaps: refitted without the items that were flagged, beside those of all items.

Items are chosen by their answers, so what their removal does is not what removing any items does. The change
has an interval by the items' influences on both fits, an item's flag being a function of its own answers, as
in a trimmed mean (Huber & Ronchetti 2009, Robust Statistics, section 3.3); and beside it stands how far the
removal of as many items drawn at random would move the gap.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from maskedadv.gaps.contrasts import Uncertainty
from maskedadv.gaps.joint import Joint
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import GAPS, SUBSETS

Array = NDArray[np.float64]

COLUMNS = (
    "locale",
    "variant",
    "gap",
    "n_models",
    "removed_ca",
    "removed_cs",
    "all_items",
    "all_lower",
    "all_upper",
    "purified",
    "purified_lower",
    "purified_upper",
    "change",
    "change_sd",
    "change_lower",
    "change_upper",
    "random_sd",
)


def compare_purified(
    whole: Fit,
    purified: Fit,
    removed: Mapping[str, Collection[str]],
    subset_of: Mapping[str, Mapping[str, str]],
) -> pd.DataFrame:
    """Mean gaps over models with and without the removed items, under every variant that both fits have.

    Parameters
    ----------
    whole, purified : fits with robust intervals
    removed : ids by locale
    subset_of : by locale, the subset of every item

    Returns
    -------
    DataFrame with the columns of `COLUMNS`, logits; means are over models that have the gap in both fits.
    `random_sd` is the sd of the change if as many items of each subset were drawn at random.
    """
    rows = []
    for variant in (v for v in whole.variants if v in purified.variants):
        one, other = Joint.of(whole, variant), Joint.of(purified, variant)
        for locale in whole.cube["locale"].values:
            at, there = one.locales.index(locale), other.locales.index(locale)
            place = [other.models.index(m) if m in other.models else -1 for m in one.models]
            for g, gap in enumerate(GAPS):
                after = np.array([other.estimate[there, p, g] if p >= 0 else np.nan for p in place])
                both = np.isfinite(one.estimate[at, :, g]) & np.isfinite(after)
                if not both.any():
                    continue
                weight = both / both.sum()
                again = np.zeros(len(other.models))
                again[np.array(place)[both]] = weight[both]
                own = _influence(one.uncertainty[at], weight, g)
                new = _influence(other.uncertainty[there], again, g)
                before = float(np.where(both, one.estimate[at, :, g], 0.0) @ weight)
                rows.append(
                    {
                        "locale": str(locale),
                        "variant": variant,
                        "gap": gap,
                        "n_models": int(both.sum()),
                        **_numbers(before, float(np.where(both, after, 0.0) @ weight), own, new, whole),
                        **_removal(own, removed.get(str(locale), ()), subset_of[str(locale)]),
                    }
                )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _influence(uncertainty: Uncertainty, weight: Array, gap: int) -> pd.Series:
    """Influence of every item on a weighted sum of one gap, by item."""
    rows = np.nan_to_num(uncertainty.gaps()[:, gap]) @ weight
    return pd.Series(rows, index=uncertainty.key).groupby(level=0).sum()


def _numbers(before: float, after: float, own: pd.Series, new: pd.Series, fit: Fit) -> dict[str, float]:
    reach = float(norm.isf((1 - fit.settings.level) / 2))
    sds = [float(np.sqrt((rows**2).sum())) for rows in (own, new, new.sub(own, fill_value=0.0))]
    change = after - before
    return {
        "all_items": before,
        "all_lower": before - reach * sds[0],
        "all_upper": before + reach * sds[0],
        "purified": after,
        "purified_lower": after - reach * sds[1],
        "purified_upper": after + reach * sds[1],
        "change": change,
        "change_sd": sds[2],
        "change_lower": change - reach * sds[2],
        "change_upper": change + reach * sds[2],
    }


def _removal(own: pd.Series, removed: Collection[str], subset_of: Mapping[str, str]) -> dict[str, float]:
    """How many items went, and how far as many at random would move the gap.

    The sum of k of n influences drawn without replacement, spread over the n − k that stay, has the variance
    k/(n − k) times the sum of their squares.
    """
    subset = pd.Series({k: subset_of.get(k, "") for k in own.index}, dtype=object)
    variance, counts = 0.0, {}
    for name in SUBSETS:
        k = sum(subset_of.get(i) == name for i in removed)
        rows = own[subset == name]
        counts[f"removed_{name.lower()}"] = k
        if k and len(rows) > k:
            variance += k / (len(rows) - k) * float((rows**2).sum())
        elif k:
            variance = float("nan")
    return {**counts, "random_sd": float(np.sqrt(variance))}
