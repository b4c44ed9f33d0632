"""One locale as its Stan programs see it: models × four cells, and the items of each subset.

A model's cells stand in the order CA local, CA pivot, CS local, CS pivot. Inside a subset the rows of data
are local of every model, then pivot of every model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.blocks import Block

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """The answers of one locale.

    Attributes
    ----------
    locale, pivot : language codes
    models : ids, shape (J,)
    items : ids of each subset's items, shapes (I_s,); may be empty
    answers : of each subset, shape (2J, I_s), NaN where not observed; right/wrong or logits
    rows : of each subset, the row of every cell of its block, shape (C_s,)
    """

    locale: str
    pivot: str
    models: NDArray[np.object_]
    items: tuple[NDArray[np.object_], NDArray[np.object_]]
    answers: tuple[Array, Array]
    rows: tuple[NDArray[np.intp], NDArray[np.intp]]

    @property
    def seen(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether a cell has any answer, of each subset, shape (2J,)."""
        first, second = (np.asarray((~np.isnan(a)).any(axis=1)) for a in self.answers)
        return first, second

    @property
    def paired(self) -> NDArray[np.bool_]:
        """Whether a model answered a subset in both languages, shape (2, J)."""
        n = len(self.models)
        return np.array([s[:n] & s[n:] for s in self.seen])


def build_layout(blocks: Mapping[int, Block], locale: str, pivot: str) -> Layout:
    """Arrange a locale's blocks (by subset index; a subset may be absent)."""
    used = np.unique(np.concatenate([b.model for b in blocks.values()]))
    items, answers, rows = [], [], []
    for subset in (0, 1):
        block = blocks.get(subset)
        if block is None:
            items.append(np.empty(0, dtype=object))
            answers.append(np.empty((2 * len(used), 0)))
            rows.append(np.empty(0, dtype=np.intp))
            continue
        query = (block.language != locale).astype(np.intp)
        row = np.searchsorted(used, block.model) + query * len(used)
        full = np.full((2 * len(used), len(block.item)), np.nan)
        full[row] = block.answers
        items.append(block.item)
        answers.append(full)
        rows.append(row)
    return Layout(
        locale=locale,
        pivot=pivot,
        models=used,
        items=(items[0], items[1]),
        answers=(answers[0], answers[1]),
        rows=(rows[0], rows[1]),
    )
