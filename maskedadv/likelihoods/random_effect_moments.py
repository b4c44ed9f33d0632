"""Variance components of values without noise, by moments, for many sets of values at once.

Beside `maskedadv.likelihoods.random_effects`, which finds them for one set of noisy values by REML: for a
complete table without components at zero the two are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Labels = NDArray[np.intp]


def find_moments(drawn: Array, factors: Sequence[Labels]) -> tuple[Array, Array]:
    """Variance components of every row, and the information on them at their means.

    Parameters
    ----------
    drawn : shape (D, N)
    factors : labels 0, 1, ... under each of K factors, each of shape (N,)

    Returns
    -------
    variance, information : shapes (D, K), (K, K)

    Notes
    -----
    Equations of the sums of squares between the levels of each factor, centred gaps weighing alike (Rao 1971,
    MINQUE with equal priors, doi:10.1016/0047-259X(71)90001-7); for a complete table those of the analysis of
    variance. Components below zero count as zero.
    """
    n, k = drawn.shape[1], len(factors)
    size = [np.bincount(f).astype(np.float64) for f in factors]
    centred = drawn - drawn.mean(axis=1, keepdims=True)
    between = np.stack([(_sums(centred, f) ** 2).sum(axis=1) for f in factors], axis=1)
    equations = np.empty((k, k))
    for a in range(k):
        for b in range(k):
            # tr(M P_a M P_b), M centring, P the incidence of pairs of one level
            cross = np.zeros((len(size[a]), len(size[b])))
            np.add.at(cross, (factors[a], factors[b]), 1.0)
            one = float((cross**2).sum())
            two = float(size[a] @ cross @ size[b])
            equations[a, b] = one - 2 * two / n + (size[a] ** 2).sum() * (size[b] ** 2).sum() / n**2
    variance = np.maximum(np.linalg.lstsq(equations, between.T, rcond=None)[0].T, 0.0)
    total = sum((v * (f[:, None] == f) for v, f in zip(variance.mean(axis=0), factors, strict=True)))
    total = np.asarray(total) + 1e-12 * np.eye(n)
    ones = np.linalg.solve(total, np.ones(n))
    p = np.linalg.inv(total) - np.outer(ones, ones) / ones.sum()
    own = [_sums(p, f) for f in factors]
    information = np.array([[0.5 * float((_sums(q.T, f) ** 2).sum()) for q in own] for f in factors])
    return variance, information


def _sums(values: Array, labels: Labels) -> Array:
    """Sums over the levels of a factor along the last axis."""
    order = np.argsort(labels, kind="stable")
    first = np.flatnonzero(np.diff(labels[order], prepend=-1))
    return np.asarray(np.add.reduceat(values[..., order], first, axis=-1))
