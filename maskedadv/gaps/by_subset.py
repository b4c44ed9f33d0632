"""Joint uncertainty kept subset by subset: an item belongs to one of them, so half of it would be zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from maskedadv.gaps.contrasts import Array, Part, Uncertainty
from maskedadv.vocabulary import BY_SUBSET, SUBSETS


class BySubset(Uncertainty):
    """`Uncertainty` whose rows lie with the subset that they concern; `values` is made when asked for.

    Parameters
    ----------
    kind, key : as of `Uncertainty`
    parts : of every subset the places of its rows among the keys, each once, and the rows, (K',), (K', J)
    """

    def __init__(self, kind: str, key: NDArray[np.object_], parts: Sequence[Part]) -> None:
        for name, value in {"kind": kind, "key": key, "_parts": tuple(parts)}.items():
            object.__setattr__(self, name, value)

    _parts: tuple[Part, ...]

    @property
    def values(self) -> Array:
        """See `Uncertainty`."""
        out = np.zeros((len(self.key), len(SUBSETS), self._parts[0][1].shape[1]))
        for subset, (place, rows) in enumerate(self._parts):
            out[place, subset] = rows
        return out

    def parts(self) -> tuple[Part, ...]:
        """See `Uncertainty`."""
        return self._parts

    def of_models(self, used: NDArray[np.bool_]) -> Uncertainty:
        """See `Uncertainty`."""
        if used.all():
            return self
        return BySubset(self.kind, self.key, [(place, rows[:, used]) for place, rows in self._parts])

    def spread(self) -> Array:
        """The gaps' standard deviations where rows are directions, as one row for all, shape (1, gaps, J).

        No key may stand for rows of two subsets (see `apart`), as their products would be missing.
        """
        squares = [np.einsum("kj,kj->j", rows, rows) for _, rows in self._parts]
        variance = [[sum(w**2 * squares[s] for s, w in enumerate(gap) if w) for gap in BY_SUBSET]]
        return np.asarray(np.sqrt(variance))

    @property
    def apart(self) -> bool:
        """Whether no key stands for rows of two subsets."""
        return sum(len(place) for place, _ in self._parts) == len(self.key)
