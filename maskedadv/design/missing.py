"""Answers that are missing more often in one of a locale's two languages than in the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from maskedadv.design.prepare import Design

UNEVEN = 0.02
"""Difference of the shares of missing answers in the two languages from which it is told, if it is clear."""


@dataclass(frozen=True)
class UnevenCell:
    """A model of a block, and by how much larger the share of missing answers is in the local language."""

    model: str
    block: str
    language: str
    points: float


def uneven_cells(design: Design) -> list[UnevenCell]:
    """Models and blocks whose answers are missing unevenly by more than chance, the worst first.

    By more than two points and three standard errors of the items answered in one language only (McNemar).
    """
    found: list[UnevenCell] = []
    for locale in design.locales:
        for block in design.of_locale(locale).values():
            seen = [~np.isnan(v) for v in design.in_both(locale, block)]
            only = [(one & ~other).sum(axis=1) for one, other in (seen, seen[::-1])]
            there = seen[0].any(axis=1) & seen[1].any(axis=1)
            share = (only[1] - only[0]) / len(block.item)
            clear = np.abs(only[0] - only[1]) > 3 * np.sqrt(only[0] + only[1])
            for j in np.flatnonzero(there & clear & (np.abs(share) > UNEVEN)):
                language = locale if share[j] > 0 else design.pivot
                found.append(
                    UnevenCell(str(design.models[j]), block.name, language, 100 * abs(float(share[j])))
                )
    return in_order(found)


def in_order(cells: Iterable[UnevenCell]) -> list[UnevenCell]:
    """The worst first."""
    return sorted(cells, key=lambda cell: (-cell.points, cell.model, cell.block))
