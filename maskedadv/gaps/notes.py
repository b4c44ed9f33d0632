"""Why a gap is not known, in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.prepare import Design
from maskedadv.maximum_likelihood.block_estimate import AT_CHANCE, Fitted
from maskedadv.vocabulary import GAPS, SUBSETS, subsets_of

Array = NDArray[np.float64]


def subset_notes(
    design: Design,
    locale: str,
    subset: int,
    difference: Array,
    fitted: Fitted | None,
    index: NDArray[np.intp],
) -> NDArray[np.object_]:
    """Why local less pivot is unknown on a subset, shape (J,); empty where it is known.

    Parameters
    ----------
    difference : shape (J,), NaN where unknown
    fitted : the block that serves the locale, None where there is none
    index : cell of every (model, query) in it, -1 where there is none, shape (J, 2)
    """
    notes = np.full(len(difference), "", dtype=object)
    languages = (locale, design.pivot)
    for j in np.flatnonzero(np.isnan(difference)):
        reasons = []
        for cell, language in zip(index[j], languages, strict=True):
            reason = _reason(fitted, cell)
            if reason:
                reasons.append(reason.format(f"{SUBSETS[subset]} {language}"))
        notes[j] = "; ".join(reasons) or _apart(fitted, index[j], SUBSETS[subset], languages)
    return notes


def _reason(fitted: Fitted | None, cell: int) -> str:
    """What keeps a cell from having a level; empty if nothing does."""
    if fitted is None or cell < 0:
        return "no answers in {}"
    ability, part = fitted.estimate.ability[cell], fitted.estimate.part[cell]
    if part >= 0:
        return ""
    if np.isinf(ability):
        return "{} is above every finite level" if ability > 0 else "{} is below every finite level"
    return "at_chance: {} is not above guessing" if part == AT_CHANCE else "{} has no finite level"


def _apart(fitted: Fitted | None, cells: NDArray[np.intp], subset: str, languages: tuple[str, str]) -> str:
    assert fitted is not None
    local, pivot = fitted.estimate.weak[cells]
    how = (
        "share no chain of items"
        if local != pivot
        else "are separated: one never fails where the other succeeds"
    )
    return f"{subset} {languages[0]} and {languages[1]} {how}"


def gap_notes(by_subset: NDArray[np.object_]) -> NDArray[np.object_]:
    """Notes of the gaps, shape (J, gaps), from those of the subsets that each needs, shape (J, 2)."""
    out = np.full((len(by_subset), len(GAPS)), "", dtype=object)
    for g in range(len(GAPS)):
        used = by_subset[:, subsets_of(g)]
        out[:, g] = ["; ".join(dict.fromkeys(t for t in row if t)) for row in used]
    return out
