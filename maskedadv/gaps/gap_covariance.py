"""The covariance of one gap over many locales and models, without the rows of all by all.

Most rows of uncertainty are items that are asked in one locale only, and say nothing of the other locales'
gaps: each locale's own are multiplied by themselves, only those that several locales share over all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.gaps.contrasts import Uncertainty
from maskedadv.gaps.joint import Joint
from maskedadv.vocabulary import BY_SUBSET

Array = NDArray[np.float64]


def gap_covariance(joint: Joint, gap: int, places: Sequence[int], known: NDArray[np.bool_]) -> Array:
    """Covariance of a gap where it is known, locale after locale, shape (N, N).

    For the kinds of uncertainty whose rows' products sum to a covariance.

    Parameters
    ----------
    gap : which
    places : locales
    known : shape (places, J), N of them true
    """
    parts = [joint.uncertainty[place] for place in places]
    code, unique = pd.factorize(np.concatenate([u.key for u in parts]))
    shared = np.bincount(code, minlength=len(unique)) > 1
    place_of = np.cumsum(shared) - 1
    together = np.zeros((int(shared.sum()), int(known.sum())))
    out = np.zeros((together.shape[1],) * 2)
    row = column = 0
    for own, some in zip(parts, known, strict=True):
        rows = _rows(own, gap)[:, some]
        here = code[row : row + len(own.key)]
        common = shared[here]
        at = slice(column, column + int(some.sum()))
        out[at, at] = rows[~common].T @ rows[~common]
        together[place_of[here[common]], at] = rows[common]
        row, column = row + len(own.key), at.stop
    together = together[together.any(axis=1)]
    return out + together.T @ together if len(together) else out


def _rows(own: Uncertainty, gap: int) -> Array:
    """Rows of one gap, shape (K, J); none where a gap is not known."""
    rows = np.zeros((len(own.values), own.values.shape[2]))
    for subset in np.flatnonzero(BY_SUBSET[gap]):
        rows += BY_SUBSET[gap][subset] * own.values[:, subset]
    return np.where(np.isnan(rows), 0.0, rows)
