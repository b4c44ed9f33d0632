"""NumPy core of conditional maximum likelihood: what the totals of items leave of the answers.

Given how many cells answered an item right, its difficulty drops out of the Rasch likelihood (Rasch 1960;
Andersen 1970, doi:10.1111/j.2517-6161.1970.tb00842.x). What is left are elementary symmetric functions
γ_s(ε) of the cells' ε = exp(θ): the sum over all ways in which s of the cells can be right. Here columns have
parameters and rows are conditioned out: in this project columns are cells and rows are items; in the usual
data of psychometrics, columns are items and rows are persons. Everything is kept in logs, so that no number
of columns overflows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]


def log_sum(values: Array) -> Array:
    """log Σ exp along the last axis, some value of which is finite; SciPy's does more and takes longer."""
    top = values.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(values - top).sum(axis=-1)) + top[..., 0])


def symmetric_functions(log_epsilon: Array) -> Array:
    """log γ_0 … log γ_K of every row, shape (P, K + 1), from log ε (P, K), -inf for an absent column.

    By the summation algorithm, which adds positive terms only (Verhelst, Glas & van der Sluis 1984).
    """
    patterns, columns = log_epsilon.shape
    out = np.full((patterns, columns + 1), -np.inf)
    out[:, 0] = 0.0
    for k in range(columns):
        out[:, 1:] = np.logaddexp(out[:, 1:], log_epsilon[:, k : k + 1] + out[:, :-1])
    return out


def tail_functions(log_epsilon: Array) -> Array:
    """log γ of the columns from k on, for every k, shape (P, K + 1, K + 1)."""
    patterns, columns = log_epsilon.shape
    out = np.full((patterns, columns + 1, columns + 1), -np.inf)
    out[:, columns, 0] = 0.0
    for k in range(columns - 1, -1, -1):
        out[:, k] = out[:, k + 1]
        out[:, k, 1:] = np.logaddexp(out[:, k, 1:], log_epsilon[:, k : k + 1] + out[:, k + 1, :-1])
    return out


@dataclass(frozen=True)
class Totals:
    """Rows of a table, grouped by what they leave to the columns: which were seen, and how many were right.

    Attributes
    ----------
    seen : shape (P, K), whether a pattern's rows were answered in a column
    pattern : shape (G,), pattern of each group
    total : shape (G,), right answers of each row of a group
    count : shape (G,), rows in the group (or their weight)
    group : shape (N,), group of every row
    """

    seen: NDArray[np.bool_]
    pattern: NDArray[np.intp]
    total: NDArray[np.intp]
    count: Array
    group: NDArray[np.intp]


def group_totals(rows: Array, weight: Array | None = None) -> Totals:
    """Group rows (N, K) of 0, 1 and NaN; `weight` (N,) counts each of them."""
    seen = ~np.isnan(rows)
    right = np.where(seen, rows, 0.0).sum(axis=1).astype(np.intp)
    patterns, pattern = np.unique(seen, axis=0, return_inverse=True)
    key = pattern.reshape(-1).astype(np.intp) * (rows.shape[1] + 1) + right
    unique, group = np.unique(key, return_inverse=True)
    group = group.reshape(-1)
    count = np.bincount(group, weight, minlength=len(unique)).astype(np.float64)
    return Totals(patterns, unique // (rows.shape[1] + 1), unique % (rows.shape[1] + 1), count, group)


def log_epsilon(totals: Totals, ability: Array) -> Array:
    """log ε of every pattern, -inf where it was not seen, shape (P, K)."""
    return np.where(totals.seen, ability[None, :], -np.inf)


def log_likelihood(totals: Totals, column_total: Array, ability: Array) -> float:
    """Conditional log likelihood of abilities (K,), from the columns' right answers (K,)."""
    gamma = symmetric_functions(log_epsilon(totals, ability))
    return float(column_total @ ability - totals.count @ gamma[totals.pattern, totals.total])


def expected_totals(totals: Totals, ability: Array) -> tuple[float, Array]:
    """Σ log γ over all rows, and its gradient: the expected right answers of each column, shape (K,).

    The gradient by the summation algorithm run backwards, at the cost of two symmetric functions.
    """
    eps = log_epsilon(totals, ability)
    patterns, columns = eps.shape
    forward = np.full((columns + 1, patterns, columns + 1), -np.inf)
    forward[0, :, 0] = 0.0
    for k in range(columns):
        forward[k + 1] = forward[k]
        forward[k + 1][:, 1:] = np.logaddexp(forward[k][:, 1:], eps[:, k : k + 1] + forward[k][:, :-1])
    gamma = forward[columns][totals.pattern, totals.total]
    adjoint = np.full((patterns, columns + 1), -np.inf)
    with np.errstate(divide="ignore"):
        adjoint[totals.pattern, totals.total] = np.log(totals.count) - gamma
    expected = np.zeros(columns)
    for k in range(columns - 1, -1, -1):
        terms = adjoint[:, 1:] + forward[k][:, :-1] + eps[:, k : k + 1]
        expected[k] = np.exp(terms).sum()
        adjoint[:, :-1] = np.logaddexp(adjoint[:, :-1], eps[:, k : k + 1] + adjoint[:, 1:])
    return float(totals.count @ gamma), expected


def row_levels(totals: Totals, ability: Array) -> Array:
    """Maximum likelihood difficulty of every group's rows given the abilities, shape (G,).

    Minus infinity where all answers are right, infinity where none is, as there is no finite one.
    """
    seen = totals.seen[totals.pattern]
    n = seen.sum(axis=1)
    inner = (totals.total > 0) & (totals.total < n)
    out = np.where(totals.total > 0, -np.inf, np.inf)
    if not inner.any():
        return out
    see, total = seen[inner].astype(np.float64), totals.total[inner].astype(np.float64)
    share = total / n[inner]
    low = np.where(seen[inner], ability, np.inf).min(axis=1) - np.log(share / (1 - share))
    high = np.where(seen[inner], ability, -np.inf).max(axis=1) - np.log(share / (1 - share))
    b = (see @ ability) / n[inner] - np.log(share / (1 - share))
    for _ in range(200):
        p = see * expit(ability - b[:, None])
        off = p.sum(axis=1) - total
        low, high = np.where(off > 0, b, low), np.where(off <= 0, b, high)
        new = b + off / np.maximum((p * (1 - p)).sum(axis=1), 1e-300)
        new = np.where((new >= low) & (new <= high), new, (low + high) / 2)
        done = np.abs(new - b).max() < 1e-12
        b = new
        if done:
            break
    out[inner] = b
    return np.asarray(out)


def variances(totals: Totals, ability: Array, level: Array) -> Array:
    """p(1 − p) of every group and column, shape (G, K); 0 where not seen or where the level is infinite."""
    finite = np.isfinite(level)
    p = expit(ability - np.where(finite, level, 0.0)[:, None])
    return np.where(totals.seen[totals.pattern] & finite[:, None], p * (1 - p), 0.0)


def profile_information(totals: Totals, ability: Array) -> Array:
    """Information on the abilities with the rows' levels profiled out, shape (K, K)."""
    weight = variances(totals, ability, row_levels(totals, ability))
    share = weight * (totals.count / np.maximum(weight.sum(axis=1), 1e-300))[:, None]
    return np.asarray(np.diag(totals.count @ weight) - weight.T @ share)


@dataclass(frozen=True)
class Conditional:
    """Conditional maximum likelihood.

    Attributes
    ----------
    ability : shape (K,), logit, sums to zero over the columns that have a finite one; NaN for the others
    log_likelihood : at the maximum
    gradient : largest absolute score
    finite : shape (K,), columns in the largest part whose differences are finite and known
    """

    ability: Array
    log_likelihood: float
    gradient: float
    finite: NDArray[np.bool_]


def solve(
    totals: Totals, column_total: Array, start: Array, *, tolerance: float = 1e-10, max_steps: int = 500
) -> tuple[Array, float, float]:
    """Abilities (K,) that sum to zero, log likelihood and largest score; all columns must be determined.

    Steps are those of Newton's method with the profile information, which differs from the conditional one
    by a factor of about K/(K − 1); steps that overshoot are halved.
    """
    ability = start - start.mean()
    columns = len(ability)
    scale = tolerance * max(1.0, float(column_total.max()))
    normal, expected = expected_totals(totals, ability)
    value = float(column_total @ ability) - normal
    matrix = profile_information(totals, ability)
    gradient, previous = np.inf, np.inf
    for _ in range(max_steps):
        score = column_total - expected
        gradient = float(np.abs(score).max())
        if gradient <= scale:
            break
        if gradient > 0.3 * previous:
            matrix = profile_information(totals, ability)
        previous = gradient
        filled = matrix + np.trace(matrix) / columns**2
        step = np.linalg.lstsq(filled, score, rcond=None)[0]
        step -= step.mean()
        size = min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-300))
        while True:
            trial = ability + size * step
            normal, expected = expected_totals(totals, trial)
            new = float(column_total @ trial) - normal
            if new >= value - 1e-12 * abs(value):
                break
            size /= 2
            if size < 1e-9:
                return ability, value, gradient
        ability, value = trial, new
    return ability, value, gradient


def _reach(edge: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Transitive closure of a relation."""
    reach = edge | np.eye(len(edge), dtype=bool)
    for _ in range(max(1, int(np.ceil(np.log2(max(len(edge), 2)))))):
        reach = (reach.astype(np.float64) @ reach) > 0
    return reach


def determined(rows: Array) -> NDArray[np.bool_]:
    """Columns of the largest part in which every difference is finite, shape (K,).

    So it is where, from any column, any other is reached by rows in which the one is right and the other
    wrong (Fischer 1981, doi:10.1007/BF02293919).
    """
    right, wrong = (rows == 1.0).astype(np.float64), (rows == 0.0).astype(np.float64)
    reach = _reach((right.T @ wrong) > 0)
    same = reach & reach.T
    best = int(np.argmax(same.sum(axis=1)))
    return np.asarray(same[best])


def fit(rows: Array, weight: Array | None = None) -> Conditional:
    """Conditional maximum likelihood of the columns of a table (N, K) of 0, 1 and NaN.

    Columns outside the largest determined part are left out; answers in them do not count.
    """
    finite = determined(rows)
    ability = np.full(rows.shape[1], np.nan)
    if finite.sum() < 2:
        return Conditional(ability, 0.0, 0.0, finite & False)
    inside = rows[:, finite]
    totals = group_totals(inside, weight)
    counted = np.nan_to_num(inside) if weight is None else np.nan_to_num(inside) * weight[:, None]
    mean = (np.nan_to_num(inside).sum(axis=0) + 0.5) / ((~np.isnan(inside)).sum(axis=0) + 1.0)
    found, value, gradient = solve(totals, counted.sum(axis=0), np.log(mean / (1 - mean)))
    ability[finite] = found
    return Conditional(ability, value, gradient, finite)


def draw_rows(totals: Totals, ability: Array, rng: np.random.Generator, draws: int) -> Array:
    """Answers given every row's total: exact draws from the conditional distribution, shape (B, N, K).

    NaN where a row was not seen in a column. Columns are drawn one after another, each with its chance given
    how many right answers are left for the columns after it.
    """
    tail = tail_functions(log_epsilon(totals, ability))
    pattern, left = totals.pattern[totals.group], np.tile(totals.total[totals.group], (draws, 1))
    seen = totals.seen[pattern]
    columns = len(ability)
    out = np.full((draws, len(pattern), columns), np.nan)
    for k in range(columns):
        below = tail[pattern[None, :], k + 1, np.maximum(left - 1, 0)]
        with np.errstate(invalid="ignore"):
            chance = np.exp(ability[k] + below - tail[pattern[None, :], k, left])
        right = seen[:, k] & (left > 0) & (rng.random(left.shape) < np.nan_to_num(chance))
        out[:, :, k] = np.where(seen[:, k], right, np.nan)
        left = left - right
    return out
