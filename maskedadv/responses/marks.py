"""The fingerprint of a table: the same whatever the order of its rows and the files that they lie in.

Every row has a mark, made of those of its ids, and its values stir it; the sum of all marks stands for the
table. So rows are hashed as they come, and none has to be sorted or kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Marks = NDArray[np.uint64]

_EMPTY = np.uint64(0x7FF8000000000001)
_LANES = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03))


def id_marks(column: str, ids: Iterable[str]) -> Marks:
    """A mark for every id of a column."""
    return np.array(
        [
            int.from_bytes(
                hashlib.blake2b(
                    text.encode("utf-8", "surrogatepass"), digest_size=8, person=column.encode()
                ).digest(),
                "little",
            )
            for text in ids
        ],
        dtype=np.uint64,
    )


@dataclass
class TableMarks:
    """Sums over rows, added to as the rows come.

    Attributes
    ----------
    rows : number of them
    sums : of every value column, two sums
    """

    rows: int = 0
    sums: dict[str, list[int]] = field(default_factory=dict)

    def add(self, row: Marks, values: Mapping[str, NDArray[np.float64]]) -> None:
        """Rows by the sums of their ids' marks, shape (N,), with their values."""
        self.rows += len(row)
        row = _stir(row)
        for name, column in values.items():
            bits = (column + 0.0).view(np.uint64)  # there is a minus zero, too
            bits = np.where(np.isnan(column), _EMPTY, bits)
            sums = self.sums.setdefault(name, [0, 0])
            for k, lane in enumerate(_LANES):
                total = int(_stir(row ^ (bits * lane)).sum(dtype=np.uint64))
                sums[k] = (sums[k] + total) % 2**64

    def fingerprint(self, items: Iterable[str], subsets: NDArray[np.int8], columns: Iterable[str]) -> str:
        """SHA-256 of the sums of `columns`, and of the items (sorted) with their subsets."""
        digest = hashlib.sha256()
        for text in items:
            digest.update(text.encode("utf-8", "surrogatepass") + b"\x00")
        digest.update(b"\x01" + subsets.astype(np.int8).tobytes())
        digest.update(self.rows.to_bytes(8, "little"))
        for name in sorted(columns):
            digest.update(name.encode() + b"\x00")
            for value in self.sums[name]:
                digest.update(value.to_bytes(8, "little"))
        return digest.hexdigest()


def _stir(x: Marks) -> Marks:
    """splitmix64's finaliser (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
