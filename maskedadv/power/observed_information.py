"""What an item was worth in a result: the basis of power for more items or models like those at hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskedadv.errors import BadSetting, NotEstimable
from maskedadv.gaps.contrasts import Uncertainty
from maskedadv.gaps.joint import NORMAL_KINDS
from maskedadv.power.paired_information import PerItem
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import SUBSETS

Array = NDArray[np.float64]


def result_per_item(fit: Fit, variant: str) -> tuple[PerItem, PerItem]:
    """What an item of CA and of CS said of the gaps, averaged over the locales of a result.

    The covariance of two models' gaps holds what models have in common beyond abilities and difficulties:
    relatives that answer alike, and items that are harder in one language for all. More models do not
    take it away; more items do.

    Raises
    ------
    BadSetting
        The result does not have the variant.
    NotEstimable
        No locale has two known gaps with uncertainty in each subset.
    """
    if variant not in fit.variants:
        raise BadSetting(f"variant must be one of {', '.join(fit.variants)} (is {variant!r}).")
    cube = fit.cube.sel(variant=variant)
    estimate = cube["estimate"].transpose("locale", "model", "gap").values
    parts: list[list[PerItem]] = [[], []]
    for k, locale in enumerate(cube["locale"].values):
        spread = fit.uncertainty[variant][str(locale)]
        paired = cube["n_paired"].transpose("locale", "model", "subset").values[k]
        for subset in range(len(SUBSETS)):
            known = np.isfinite(estimate[k, :, subset])
            covariance = _covariance(spread, subset)[np.ix_(known, known)]
            n = float(np.median(paired[known, subset])) if known.any() else 0.0
            j = int(known.sum())
            if n < 2 or not np.trace(covariance) > 0:
                continue
            own = float(np.trace(covariance)) / j
            common = (float(covariance.sum()) - j * own) / (j * (j - 1)) if j > 1 else 0.0
            parts[subset].append(PerItem(float(estimate[k, known, subset].mean()), n * own, n * common))
    if not all(parts):
        raise NotEstimable(f"the result has no {variant} gaps with uncertainty in both subsets.")
    return _mean(parts[0]), _mean(parts[1])


def _mean(parts: list[PerItem]) -> PerItem:
    values = np.array([(p.estimate, p.own, p.common, p.second) for p in parts]).mean(axis=0)
    return PerItem(*(float(v) for v in values))


def _covariance(spread: Uncertainty, subset: int) -> Array:
    """Of the models' differences local − pivot on a subset, (J, J)."""
    rows = spread.values[:, subset]
    if spread.kind in NORMAL_KINDS:
        rows = np.nan_to_num(rows)
        return np.asarray(rows.T @ rows)
    rows = rows - np.nanmean(rows, axis=0)
    return np.asarray(np.nan_to_num(rows).T @ np.nan_to_num(rows) / max(len(rows) - 1, 1))
