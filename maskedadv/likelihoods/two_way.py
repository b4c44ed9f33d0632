"""Equations of a two-way additive model, cells × items, solved on whichever side is smaller.

The information on abilities and difficulties of a Rasch model is [[R, −W], [−W', K]]: W the weights (C, I),
R and K the diagonal matrices of its sums over items and over cells. Profiling out either side leaves a matrix
of the other one's size, so that a thousand models on 500 items cost 500³ and not 2,000³. What all cells and
items share, a common shift, is free: solutions are known up to it, and right-hand sides sum to zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

Array = NDArray[np.float64]


def solve_two_way(weight: Array, cells: Array, items: Array) -> tuple[Array, Array]:
    """x and y with R x − W y = `cells` and K y − W' x = `items`, up to a common shift.

    Parameters
    ----------
    weight : shape (C, I), no row or column all zero
    cells, items : shapes (C, ...), (I, ...); sums over both of them are zero

    Returns
    -------
    x, y : shapes (C, ...), (I, ...)
    """
    if weight.shape[1] < weight.shape[0]:
        y, x = _by_first(weight.T, items, cells)
        return x, y
    return _by_first(weight, cells, items)


def _by_first(weight: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """`solve_two_way` with the second side profiled out."""
    schur, share = _profile(weight)
    x = _solve_singular(schur, first + share @ second)
    per_second = np.maximum(weight.sum(axis=0), 1e-300)
    return x, (second.T / per_second).T + share.T @ x


def _profile(weight: Array) -> tuple[Array, Array]:
    """The Schur complement for the first side (C, C), and the weights over their column sums (C, I)."""
    per_item = np.maximum(weight.sum(axis=0), 1e-300)
    root = weight / np.sqrt(per_item)
    return np.diag(weight.sum(axis=1)) - root @ root.T, weight / per_item


def _solve_singular(matrix: Array, right: Array) -> Array:
    """Solve with a matrix whose null space is the common shift, by filling that one direction."""
    n = len(matrix)
    filled = matrix + np.trace(matrix) / n**2
    try:
        return np.asarray(cho_solve(cho_factor(filled), right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])


def profiled_solution(weight: Array, cells: Array) -> Array:
    """The cells' covariance (items profiled out) times columns (C, K), without the covariance.

    The covariance is that over contrasts, the pseudo-inverse of the Schur complement: solutions sum to zero.
    """
    centred = cells - cells.mean(axis=0)
    if weight.shape[1] < weight.shape[0]:
        x, _ = solve_two_way(weight, centred, np.zeros((weight.shape[1], *cells.shape[1:])))
    else:  # nothing on the items' side to carry over
        x = _solve_singular(_profile(weight)[0], centred)
    return np.asarray(x - x.mean(axis=0))


def profiled_root(weight: Array) -> Array:
    """F (C, C) with F' F the cells' covariance (items profiled out) over contrasts; its rows sum to zero."""
    n = len(weight)
    if n == 1:  # one cell has no contrast
        return np.zeros((1, 1))
    schur, _ = _profile(weight)
    lower = np.linalg.cholesky(schur + np.trace(schur) / n**2)
    root = solve_triangular(lower, np.eye(n), lower=True)
    return np.asarray(root - root.mean(axis=1, keepdims=True))
