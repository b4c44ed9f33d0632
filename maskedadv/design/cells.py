"""What is counted of a locale's cells before anything is fitted: answers, accuracies, pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.blocks import Block

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Array = NDArray[np.float64]
Part = TypeVar("Part", bound="DataclassInstance")


@dataclass(frozen=True)
class Cells:
    """What is known of one locale's cells before anything is fitted.

    Attributes
    ----------
    keep : models that count in the locale, shape (J,)
    accuracy, n_items : share of right answers and number of answers, shape (J, 2 subsets, 2 queries)
    n_paired : items answered in both languages, shape (J, 2 subsets)
    """

    keep: NDArray[np.bool_]
    accuracy: Array
    n_items: NDArray[np.intp]
    n_paired: NDArray[np.intp]


def of_models(part: Part, used: NDArray[np.bool_]) -> Part:
    """A dataclass of arrays over models, shape (J, ...), for some of the models."""
    if used.all():
        return part
    return replace(part, **{f.name: getattr(part, f.name)[used] for f in fields(part)})


def count_cells(
    blocks: Sequence[Block], models: NDArray[np.object_], locale: str, keep: NDArray[np.bool_]
) -> Cells:
    """Accuracies and counts of one locale's cells, from the blocks that serve it."""
    shape = (len(models), 2, 2)
    accuracy, n_items = np.full(shape, np.nan), np.zeros(shape, dtype=np.intp)
    n_paired = np.zeros(shape[:2], dtype=np.intp)
    for block in blocks:
        index = block.cells(locale, models)
        index[~keep] = -1
        seen = ~np.isnan(block.answers)
        count, mean = seen.sum(axis=1), np.nanmean(block.answers, axis=1)
        model, query = np.nonzero(index >= 0)
        accuracy[model, block.subset, query] = mean[index[model, query]]
        n_items[model, block.subset, query] = count[index[model, query]]
        both = np.flatnonzero((index >= 0).all(axis=1))
        n_paired[both, block.subset] = (seen[index[both, 0]] & seen[index[both, 1]]).sum(axis=1)
    return Cells(keep, accuracy, n_items, n_paired)


class Counted:
    """The pivot answers that blocks hold, a bit each: they serve several locales, and count once."""

    def __init__(self, models: int, items: int) -> None:
        self._bits = np.zeros((items, (models + 7) // 8), dtype=np.uint8)

    def add(self, models: NDArray[np.object_], blocks: Sequence[Block]) -> int:
        """Observed answers of some blocks, but for those that were there before."""
        new = 0
        for b in blocks:
            seen, common = ~np.isnan(b.answers), b.language == b.pivot
            new += int(seen[~common].sum())
            table = np.zeros((len(b.item), 8 * self._bits.shape[1]), dtype=bool)
            table[:, np.searchsorted(models, b.model[common])] = seen[common].T
            bits, before = np.packbits(table, axis=1), self._bits[b.place]
            new += int(np.bitwise_count(bits & ~before).sum())
            self._bits[b.place] = before | bits
        return new
