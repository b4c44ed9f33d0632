"""Which answers were seen, a bit for each: so that none stands twice in a table that memory cannot hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Presence:
    """Which models answered which items in one language.

    A bit for every model and every item that was asked in the language.
    """

    def __init__(self) -> None:
        self._row = np.zeros(0, dtype=np.int32)  # of every item, 0 for none
        self._bits = np.zeros((1, 1), dtype=np.uint8)
        self._used = 1

    def add(self, model: NDArray[np.integer], item: NDArray[np.integer]) -> NDArray[np.intp]:
        """Places of the rows, given by model and item, that were there before, or stand in these twice."""
        self._grow(int(model.max()), int(item.max()), item)
        row, column = self._row[item], model >> 3
        mask = np.left_shift(1, model & 7).astype(np.uint8)
        again = (self._bits[row, column] & mask) > 0
        key = row.astype(np.int64) * (int(model.max()) + 1) + model
        if not (np.diff(key) > 0).all():  # most files are in order
            order = np.argsort(key, kind="stable")
            again[order[1:][np.diff(key[order]) == 0]] = True
        for bit in np.unique(model & 7):
            own = (model & 7) == bit
            self._bits[row[own], column[own]] |= np.uint8(1 << bit)
        return np.flatnonzero(again)

    def _grow(self, model: int, item: int, items: NDArray[np.integer]) -> None:
        if item >= len(self._row):
            self._row = np.concatenate([self._row, np.zeros(item + 1, dtype=np.int32)])
        if (first := self._row[items] == 0).any():
            new = np.unique(items[first])
            self._row[new] = np.arange(self._used, self._used + len(new))
            self._used += len(new)
        height, width = self._bits.shape
        wanted = (model >> 3) + 1
        if self._used > height or wanted > width:
            rows = max(2 * height, self._used) if self._used > height else height
            columns = max(2 * width, wanted) if wanted > width else width
            bits = np.zeros((rows, columns), dtype=np.uint8)
            bits[:height, :width] = self._bits
            self._bits = bits

    @property
    def size(self) -> int:
        """Bytes in use."""
        return self._bits.nbytes + self._row.nbytes

    def asked(self, n_items: int) -> NDArray[np.bool_]:
        """Which items any model has a row for, shape (n_items,)."""
        out = np.zeros(n_items, dtype=bool)
        own = self._row[:n_items] > 0
        out[: len(own)] = own
        return out
