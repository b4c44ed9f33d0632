"""What every base of a variant comes down to: local less pivot, of one subset in one locale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.design.prepare import Design
from maskedadv.gaps.notes import subset_notes
from maskedadv.maximum_likelihood.block_estimate import Fitted
from maskedadv.vocabulary import SUBSETS

Array = NDArray[np.float64]

ROWS_SHARED = {"bootstrap": "replicate", "posterior": "draw"}
"""Kinds of uncertainty whose rows are drawn for both blocks of a locale at once, and what a row is called."""


@dataclass(frozen=True)
class PivotAbilities:
    """Pivot-language abilities of one subset, which a scale link rests on.

    Attributes
    ----------
    ability : shape (J,), logit; NaN where a model has none that is finite
    part : shape (J,); models with one label have levels that can be compared
    key, rows : shapes (K,), (K, J); uncertainty, as in `SubsetGaps`
    items : items that the abilities rest on
    scales : shape (S, 2), NUTS only: draws of the sd over models of the abilities, and of the models'
        correlation between CA and CS
    """

    ability: Array
    part: NDArray[np.intp]
    key: NDArray[np.object_]
    rows: Array
    items: int
    scales: Array | None = None


@dataclass(frozen=True)
class SubsetGaps:
    """Local less pivot ability of every model, on one subset in one locale, under one base.

    Attributes
    ----------
    difference : shape (J,), logit; NaN where it has no finite known value
    key : shape (K,); what each row of uncertainty is: an item, a direction, a replicate or a draw. Equal
        keys, in whatever subset or locale, are one source of noise.
    rows : shape (K, J); influences or directions, whose products sum to the covariance of the differences, or
        replicates or draws of the differences themselves (see `maskedadv.gaps.contrasts.Uncertainty`)
    note : shape (J,); why a difference is not known, empty where it is
    pivot : abilities for the scale link; None where the base has none
    """

    difference: Array
    key: NDArray[np.object_]
    rows: Array
    note: NDArray[np.object_]
    pivot: PivotAbilities | None = None


LocaleGaps = Mapping[int, SubsetGaps]
"""A locale's two subsets, by index."""


def from_estimates(design: Design, kind: str, fitted: Sequence[Fitted]) -> dict[str, dict[int, SubsetGaps]]:
    """The differences of every locale and subset from the blocks' abilities.

    Parameters
    ----------
    kind : of uncertainty; see `maskedadv.gaps.contrasts.Uncertainty`
    """
    out: dict[str, dict[int, SubsetGaps]] = {}
    for locale in design.locales:
        own = {f.block.subset: f for f in fitted if locale in f.block.locales}
        out[locale] = {
            s: _from_estimate(design, kind, locale, own[s]) if s in own else _nothing(design, locale, s)
            for s in range(len(SUBSETS))
        }
    return out


def _from_estimate(design: Design, kind: str, locale: str, fitted: Fitted) -> SubsetGaps:
    block, estimate = fitted.block, fitted.estimate
    index = block.cells(locale, design.models)
    index[~design.cells[locale].keep] = -1
    both = np.flatnonzero((index >= 0).all(axis=1))
    local, pivot = index[both].T
    comparable = (estimate.part[local] == estimate.part[pivot]) & (estimate.part[local] >= 0)
    difference = np.full(len(index), np.nan)
    rows = np.zeros((len(estimate.uncertainty), len(index)))
    with np.errstate(invalid="ignore"):
        if estimate.own_gaps is None:
            value = estimate.ability[local] - estimate.ability[pivot]
            rows[:, both] = estimate.uncertainty[:, local] - estimate.uncertainty[:, pivot]
        else:  # a posterior's gaps are the program's own
            rows[:, both] = estimate.own_gaps[:, local]
            value = estimate.own_gaps[:, local].mean(axis=0)
        difference[both] = np.where(comparable, value, np.nan)
    key = _keys(kind, fitted)
    return SubsetGaps(
        difference=difference,
        key=key,
        rows=rows,
        note=subset_notes(design, locale, block.subset, difference, fitted, index),
        pivot=_pivot_abilities(fitted, index[:, 1], key),
    )


def _pivot_abilities(fitted: Fitted, index: NDArray[np.intp], key: NDArray[np.object_]) -> PivotAbilities:
    estimate = fitted.estimate
    have = np.flatnonzero(index >= 0)
    cell = index[have]
    ability, part = np.full(len(index), np.nan), np.full(len(index), -1, dtype=np.intp)
    ability[have] = np.where(estimate.part[cell] >= 0, estimate.ability[cell], np.nan)
    part[have] = estimate.part[cell]
    rows = np.zeros((len(estimate.uncertainty), len(index)))
    rows[:, have] = estimate.uncertainty[:, cell]
    return PivotAbilities(ability, part, key, rows, len(fitted.block.item), estimate.pivot)


def _nothing(design: Design, locale: str, subset: int) -> SubsetGaps:
    """A subset without answers."""
    n = len(design.models)
    difference = np.full(n, np.nan)
    note = subset_notes(design, locale, subset, difference, None, np.full((n, 2), -1))
    return SubsetGaps(difference, np.zeros(0, dtype=object), np.zeros((0, n)), note)


def _keys(kind: str, fitted: Fitted) -> NDArray[np.object_]:
    """What each row of a block's uncertainty is, so that equal keys mean the same source of noise."""
    block, n_rows = fitted.block, len(fitted.estimate.uncertainty)
    if kind == "robust" and n_rows == len(block.item):
        return block.item
    if kind in ROWS_SHARED:
        return np.array([f"{ROWS_SHARED[kind]} {b}" for b in range(n_rows)], dtype=object)
    return np.array([f"{block.locale} {SUBSETS[block.subset]} {d}" for d in range(n_rows)], dtype=object)


def add_by_key(parts: Sequence[tuple[NDArray[np.object_], Array]]) -> tuple[NDArray[np.object_], Array]:
    """Rows of uncertainty from several sources; rows of one key are added.

    Parameters
    ----------
    parts : keys (K,), all different within a part, and rows (K, ...)

    Returns
    -------
    keys in the order of their first appearance, and rows
    """
    unique, places = places_of_keys([key for key, _ in parts])
    shape = next(rows.shape[1:] for _, rows in parts)
    total = np.zeros((len(unique), *shape))
    for place, (_, rows) in zip(places, parts, strict=True):
        total[place] += rows
    return unique, total


def places_of_keys(
    keys: Sequence[NDArray[np.object_]],
) -> tuple[NDArray[np.object_], list[NDArray[np.intp]]]:
    """All keys in the order of their first appearance, and the places of each part's keys among them."""
    code, unique = pd.factorize(np.concatenate(keys))
    ends = np.cumsum([len(key) for key in keys])
    return np.asarray(unique, dtype=object), np.split(code, ends[:-1])
