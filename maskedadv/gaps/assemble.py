"""From the differences of a locale's two subsets to its gaps, with intervals, notes and joint uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.prepare import Design
from maskedadv.gaps.by_subset import BySubset
from maskedadv.gaps.contrasts import Interval, Uncertainty, gap_interval
from maskedadv.gaps.joint import NORMAL_KINDS
from maskedadv.gaps.notes import gap_notes
from maskedadv.gaps.subset_gaps import LocaleGaps, places_of_keys
from maskedadv.settings import Settings
from maskedadv.vocabulary import SUBSETS, gaps_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GapPart(Interval):
    """One locale's gaps under one variant, with their intervals; all of shape (J, gaps)."""

    estimate: Array
    note: NDArray[np.object_]


def assemble(design: Design, settings: Settings, locale: str, own: LocaleGaps) -> tuple[GapPart, Uncertainty]:
    """Gaps, intervals and notes of one locale, and how uncertain all of them are together."""
    keep = design.cells[locale].keep
    by_subset = [own[s] for s in range(len(SUBSETS))]
    estimate = gaps_of(np.stack([part.difference for part in by_subset], axis=1))
    uncertainty = _join(settings.interval, own)
    short = settings.interval in NORMAL_KINDS and uncertainty.apart and len(uncertainty.key)
    rows = np.moveaxis(uncertainty.spread() if short else uncertainty.gaps(), 1, 2)
    found = gap_interval(settings.interval, rows, estimate, settings.level)
    notes = gap_notes(np.stack([part.note for part in by_subset], axis=1))
    place = "some cell" if settings.min_accuracy_on == "all" else "some cell of the pivot language"
    notes[~keep] = f"left out: accuracy at or under {settings.min_accuracy:g} in {place}"
    bare = ~np.isnan(estimate) & np.isnan(found.sd) & (notes == "")
    notes[bare] = (
        "no interval: most replicates have no finite estimate"
        if settings.interval == "bootstrap"
        else "no interval: too few items"
    )
    return GapPart(**found.parts(), estimate=estimate, note=notes), uncertainty


def _join(kind: str, own: LocaleGaps) -> BySubset:
    """Rows of both subsets; those of one key (replicates, draws, shared items) are one row."""
    by_subset = [own[s] for s in range(len(SUBSETS))]
    key, places = places_of_keys([part.key for part in by_subset])
    parts = [(place, part.rows) for place, part in zip(places, by_subset, strict=True)]
    return BySubset(kind, key, parts)
