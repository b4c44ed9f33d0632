"""NumPy core of the paired gap with a guessing floor: the item's effect integrated out.

With a floor the discordant pairs no longer stand alone, since either answer may be a guess. Given an item's
effect on this model, z ~ N(0, 1) in units of the model's own sd s, answers are independent with

    P(right in language k) = c + (1 − c)·logit⁻¹(θ_k + s z),   c the chance of a lucky guess on the item,

and the pattern of both answers has one of four probabilities. θ_local, θ_pivot and log s are estimated for
every model by itself, so that relatives cannot move a gap; s holds the spread of the items' difficulties and
that of what this model happens to know. At c = 0 the gap is log(n10/n01).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.likelihoods.paired import Pairs

Array = NDArray[np.float64]

LOG_SPREAD = (float(np.log(0.05)), float(np.log(8.0)))
"""Bounds of log s; at the lower one nothing is shared between a model's two answers."""

_REACHES = (2.0, 4.0, 8.0)
"""Values of s up to which one set of nodes each serves."""


def _nodes(reach: float) -> Array:
    """z, and weight times 1, z, z², shape (4, Q). Poles of the curve lie π/s away: errors of 1e-10."""
    step = 0.8 / reach
    z = np.arange(-8.5, 8.5 + step / 2, step)
    weight = step * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return np.stack([z, weight, weight * z, weight * z**2])


_NODES = tuple(_nodes(reach) for reach in _REACHES)


@dataclass(frozen=True)
class Patterns:
    """Counts of the four patterns of two answers.

    Attributes
    ----------
    chance : shape (F,), distinct floors
    count : shape (J, F, 4): both right, local alone, pivot alone, none
    item_floor : shape (I,), floor of every item, index into `chance`
    """

    chance: Array
    count: Array
    item_floor: NDArray[np.intp]


def indicators(pairs: Pairs, right_local: Array) -> Array:
    """Pattern of every model and item as 0/1, shape (4, J, I), all 0 where it is not a pair.

    Parameters
    ----------
    right_local : shape (J, I), local answers, NaN where there are none
    """
    local = np.where(pairs.both, np.nan_to_num(right_local), 0.0)
    together = local - pairs.local
    return np.stack([together, pairs.local, pairs.pivot, pairs.both - together - pairs.local - pairs.pivot])


def count_patterns(pattern: Array, chance: Array) -> Patterns:
    """Counts by model and floor from `indicators` (4, J, I) and every item's floor (I,)."""
    floors, item_floor = np.unique(chance, return_inverse=True)
    member = (item_floor[:, None] == np.arange(len(floors))).astype(np.float64)
    return Patterns(floors, np.moveaxis(pattern @ member, 0, 2), item_floor.reshape(-1))


@dataclass(frozen=True)
class Point:
    """Every model's likelihood at a point, derivatives in (θ_local, θ_pivot, log s).

    Attributes
    ----------
    log_likelihood : shape (J,)
    score : shape (J, F, 4, 3), derivative of the log probability of each pattern
    gradient : shape (J, 3)
    information : shape (J, 3, 3), expected at the counts of pairs
    bias_score : shape (J, 3), what is added to the gradient to take out the bias of order 1/n
    bound : shape (J,), −1 or 1 where log s is held at its lower or upper bound, else 0
    """

    log_likelihood: Array
    score: Array
    gradient: Array
    information: Array
    bias_score: Array
    bound: NDArray[np.intp]


def probabilities(theta: Array, chance: Array) -> Array:
    """Probabilities of the four patterns at (θ_local, θ_pivot, log s), shapes (J, 3), (F,) to (J, F, 4)."""
    return _moments(theta, chance)[0]


def at(theta: Array, patterns: Patterns) -> Point:
    """Value, score and information of every model's likelihood at `theta`, shape (J, 3).

    The adjustment of the score is Firth's (1993, doi:10.1093/biomet/80.1.27) in the general form of Kosmidis
    & Firth (2009, doi:10.1093/biomet/asp055): for the probabilities p of independent patterns and the inverse
    information V it is ½ Σ V_ab n (∂²p/∂a∂b) (∂ log p/∂t).
    """
    p, first, second = _moments(theta, patterns.chance)
    p = np.maximum(p, 1e-300)
    count = patterns.count
    n = count.sum(axis=2)
    score = first / p[..., None]
    gradient = np.einsum("jfk,jfka->ja", count, score)
    information = np.einsum("jf,jfk,jfka,jfkb->jab", n, p, score, score)
    bound = _bound(theta, gradient)
    bias = 0.5 * np.einsum("jab,jf,jfkab,jfkt->jt", inverse(information, bound), n, second, score)
    value = (count * np.log(p)).sum(axis=(1, 2))
    return Point(value, score, gradient, information, bias, bound)


def _moments(theta: Array, chance: Array) -> tuple[Array, Array, Array]:
    """Pattern probabilities (J, F, 4), first (…, 3) and second (…, 3, 3) derivatives in (θ_l, θ_p, log s)."""
    shape = (len(theta), len(chance), 4)
    out = np.zeros(shape), np.zeros((*shape, 3)), np.zeros((*shape, 3, 3))
    which = np.searchsorted(np.log(_REACHES[:-1]), theta[:, 2], side="right")
    for k, nodes in enumerate(_NODES):
        rows = np.flatnonzero(which == k)
        if len(rows):
            for whole, part in zip(out, _integrate(theta[rows], chance, nodes), strict=True):
                whole[rows] = part
    return out


def _integrate(theta: Array, chance: Array, nodes: Array) -> tuple[Array, Array, Array]:
    spread = np.exp(theta[:, 2])
    e = expit(theta[:, :2, None] + spread[:, None, None] * nodes[0])  # (J, 2, Q)
    slope = e * (1 - e)
    guess = chance[None, :, None, None]
    right = guess + (1 - guess) * e[:, None]  # (J, F, 2, Q)
    up = (1 - guess) * slope[:, None]
    bend = up * (1 - 2 * e[:, None])
    local, pivot = (right[:, :, 0], 1 - right[:, :, 0]), (right[:, :, 1], 1 - right[:, :, 1])
    sign, z, s = (1.0, -1.0), nodes[1:], spread[:, None]
    slope_both = up[:, :, 0] * up[:, :, 1] @ z.T
    p, first, second = [], [], []
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        d_local = sign[a] * (up[:, :, 0] * pivot[b]) @ z.T  # (J, F, 3): times 1, z, z²
        d_pivot = sign[b] * (up[:, :, 1] * local[a]) @ z.T
        d_ll = sign[a] * (bend[:, :, 0] * pivot[b]) @ z.T
        d_pp = sign[b] * (bend[:, :, 1] * local[a]) @ z.T
        d_lp = sign[a] * sign[b] * slope_both
        slope_s = s * (d_local + d_pivot)[..., 1]
        l_s, p_s = s * (d_ll + d_lp)[..., 1], s * (d_pp + d_lp)[..., 1]
        s_s = s**2 * (d_ll + 2 * d_lp + d_pp)[..., 2] + slope_s
        p.append((local[a] * pivot[b]) @ z[0])
        first.append(np.stack([d_local[..., 0], d_pivot[..., 0], slope_s], axis=-1))
        rows = [[d_ll[..., 0], d_lp[..., 0], l_s], [d_lp[..., 0], d_pp[..., 0], p_s], [l_s, p_s, s_s]]
        second.append(np.stack([np.stack(row, axis=-1) for row in rows], axis=-2))
    return np.stack(p, axis=2), np.stack(first, axis=2), np.stack(second, axis=2)


@dataclass(frozen=True)
class Solution:
    """Where the search stopped.

    Attributes
    ----------
    theta : shape (J, 3): θ_local, θ_pivot (logit), log s
    point : `at` there
    gradient : shape (J,), largest absolute score (adjusted, where bias is reduced) of a free parameter
    """

    theta: Array
    point: Point
    gradient: Array


def solve(
    patterns: Patterns,
    start: Array,
    *,
    reduce_bias: bool = True,
    max_steps: int = 100,
    tolerance: float = 1e-8,
) -> Solution:
    """Solve every model's score equations at once, by Fisher scoring; s is held between bounds.

    Parameters
    ----------
    start : shape (J, 3)
    reduce_bias
        Add Firth's adjustment. Without it the estimate is the maximum, whose gaps are a twentieth too far
        from 0 at 600 items, 4 options and a true gap of −2, and are not finite where a cell is near chance.
    tolerance : stop when no score exceeds this fraction of a model's pairs
    """
    whole, (patterns, start, place) = patterns, _distinct(patterns, start)
    n = np.maximum(patterns.count.sum(axis=(1, 2)), 1.0)
    theta = np.array(start)
    theta[:, 2] = np.clip(theta[:, 2], *LOG_SPREAD)
    step, largest, decrement = _direction(at(theta, patterns), reduce_bias)
    for _ in range(max_steps):
        rows = np.flatnonzero(largest > tolerance * n)
        if not len(rows):
            break
        own = replace(patterns, count=patterns.count[rows])
        size = 1.0 / np.maximum(np.abs(step[rows]).max(axis=1), 1.0)  # no step longer than one logit
        for _ in range(4):  # the adjusted score has no objective: after some halving a worse point is taken
            trial = theta[rows] + size[:, None] * step[rows]
            trial[:, 2] = np.clip(trial[:, 2], *LOG_SPREAD)
            found = _direction(at(trial, own), reduce_bias)
            worse = found[2] > decrement[rows]
            if not worse.any():
                break
            size[worse] /= 2
        theta[rows] = trial
        step[rows], largest[rows], decrement[rows] = found
    return Solution(theta[place], at(theta[place], whole), largest[place])


def _distinct(patterns: Patterns, start: Array) -> tuple[Patterns, Array, NDArray[np.intp]]:
    """Each problem once, and the place of every model's among them: of few items, many models have one."""
    problems = np.concatenate([patterns.count.reshape(len(start), -1), start], axis=1)
    _, first, place = np.unique(problems, axis=0, return_index=True, return_inverse=True)
    return replace(patterns, count=patterns.count[first]), start[first], place.reshape(-1)


def _direction(point: Point, reduce_bias: bool) -> tuple[Array, Array, Array]:
    """Scoring step (J, 3), largest score (J,) and squared score in the metric of the information (J,)."""
    score = point.gradient + (point.bias_score if reduce_bias else 0.0)
    score[point.bound != 0, 2] = 0.0
    step = np.einsum("jab,jb->ja", inverse(point.information, point.bound), score)
    return step, np.abs(score).max(axis=1), (step * score).sum(axis=1)


def _bound(theta: Array, gradient: Array) -> NDArray[np.intp]:
    low = (theta[:, 2] <= LOG_SPREAD[0] + 1e-9) & (gradient[:, 2] <= 0)
    high = (theta[:, 2] >= LOG_SPREAD[1] - 1e-9) & (gradient[:, 2] >= 0)
    return np.where(low, -1, np.where(high, 1, 0))


def inverse(matrix: Array, bound: NDArray[np.intp]) -> Array:
    """Inverse of each (3, 3) information, over the two abilities alone where s is at a bound."""
    held = bound != 0
    filled = np.array(matrix)
    filled[held, 2, :] = filled[held, :, 2] = 0.0
    filled[held, 2, 2] = 1.0
    out = np.linalg.pinv(filled, hermitian=True, rcond=1e-12)
    out[held, 2, :] = out[held, :, 2] = 0.0
    return np.asarray(out)


def start_values(patterns: Patterns) -> Array:
    """Logits of smoothed shares right with the lucky answers taken out, and s = 1, shape (J, 3)."""
    count = patterns.count
    n = count.sum(axis=2)
    lucky = (n * patterns.chance).sum(axis=1) / np.maximum(n.sum(axis=1), 1.0)
    out = np.zeros((len(count), 3))
    for k, rows in enumerate(((0, 1), (0, 2))):
        share = count[:, :, rows].sum(axis=(1, 2)) / np.maximum(n.sum(axis=1), 1.0)
        known = np.clip((share - lucky) / (1 - lucky), 0.02, 0.98)
        out[:, k] = np.log(known / (1 - known)) * 1.2
    return out
