"""The bases `paired` and `paired+floor`: each model by itself, on the items it answered in both languages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.blocks import Block
from maskedadv.design.prepare import Design
from maskedadv.gaps.subset_gaps import ROWS_SHARED, PivotAbilities, SubsetGaps
from maskedadv.maximum_likelihood import paired
from maskedadv.maximum_likelihood.bootstrap import item_weights
from maskedadv.maximum_likelihood.paired import PairedEstimate
from maskedadv.settings import Settings
from maskedadv.vocabulary import SUBSETS
from maskedadv.words.numbers import number

Array = NDArray[np.float64]


def paired_gaps(
    design: Design,
    settings: Settings,
    pivot_of: Mapping[str, Mapping[int, SubsetGaps]],
    *,
    with_floor: bool,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, dict[int, SubsetGaps]]:
    """Paired differences of every locale and subset.

    Parameters
    ----------
    pivot_of : gaps of the base whose pivot-language abilities a scale link is to rest on
    with_floor : whether right answers may be guesses, at the blocks' `chance`
    """
    weights = None
    if settings.interval == "bootstrap":
        drawn = [item_weights(settings.seed, b, design.n_items) for b in range(settings.replicates)]
        weights = np.stack(drawn)
    out: dict[str, dict[int, SubsetGaps]] = {}
    for locale in design.locales:
        blocks = design.of_locale(locale)
        out[locale] = {}
        for subset in range(len(SUBSETS)):
            from_base = pivot_of[locale][subset]
            if subset in blocks:
                own = estimate_pairs(
                    design, settings, locale, blocks[subset], weights=weights, with_floor=with_floor
                )
                out[locale][subset] = _labelled(
                    design, settings, locale, blocks[subset], own, from_base.pivot
                )
            else:
                out[locale][subset] = from_base
    tell("paired gaps" + (", with guessing floor" if with_floor else ""))
    return out


def estimate_pairs(
    design: Design,
    settings: Settings,
    locale: str,
    block: Block,
    *,
    weights: Array | None,
    with_floor: bool,
) -> PairedEstimate:
    """The estimator that goes with the kind of answers; `weights` (B, items of the table)."""
    local, pivot = design.in_both(locale, block)
    own = None if weights is None else weights[:, block.place]
    if settings.response == "crm":
        return paired.fit_paired_continuous(local, pivot, interval=settings.interval, weights=own)
    if with_floor:
        assert block.chance is not None
        return paired.fit_paired_floor(local, pivot, block.chance, interval=settings.interval, weights=own)
    return paired.fit_paired(local, pivot, interval=settings.interval, level=settings.level, weights=own)


def _labelled(
    design: Design,
    settings: Settings,
    locale: str,
    block: Block,
    found: PairedEstimate,
    pivot: PivotAbilities | None,
) -> SubsetGaps:
    kind, n_rows = settings.interval, len(found.rows)
    if kind == "robust":
        key = block.item
    elif kind in ROWS_SHARED:
        key = np.array([f"{ROWS_SHARED[kind]} {b}" for b in range(n_rows)], dtype=object)
    else:
        key = np.array([f"{locale} {SUBSETS[block.subset]} {m}" for m in design.models], dtype=object)
    notes = [
        _note(found, j, SUBSETS[block.subset], locale, design.pivot, settings.level)
        for j in range(len(found.gap))
    ]
    return SubsetGaps(found.gap, key, found.rows, np.array(notes, dtype=object), pivot)


def _note(found: PairedEstimate, j: int, subset: str, local: str, pivot: str, level: float) -> str:
    """Why a paired gap is unknown or infinite; empty where it is finite."""
    reason = int(found.reason[j])
    n = found.n_local[j] + found.n_pivot[j]
    if reason in (paired.ALL_PIVOT, paired.ALL_LOCAL):
        right, wrong = (pivot, local) if reason == paired.ALL_PIVOT else (local, pivot)
        side, edge = ("below", found.upper[j]) if reason == paired.ALL_PIVOT else ("above", found.lower[j])
        return (
            f"infinite: of {n:g} {subset} items right in one language only, all are right in {right}, none "
            f"in {wrong}; the {subset} gap is {side} {number(float(edge))} ({100 * level:g}% exact)"
        )
    return {
        0: "",
        paired.NO_PAIR: f"no {subset} item answered in both {local} and {pivot}",
        paired.NO_DISCORDANT: f"{subset} {local} and {pivot} answers are alike on every item",
        paired.AT_CHANCE: f"at_chance: {subset} {local} or {pivot} is not above guessing",
        paired.NOT_FOUND: f"{subset} {local} and {pivot} answers go against the guessing floor",
    }[reason]
