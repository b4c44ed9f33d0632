"""Where chains start: moment estimates, jittered.

Warmup from random starts costs three times more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from maskedadv.likelihoods.moments import flattened, rough_moments

Array = NDArray[np.float64]

UNKNOWN = 100.0
"""Error variance of abilities without answers."""


@dataclass(frozen=True)
class Start:
    """A rough estimate of one subset.

    Attributes
    ----------
    ability : shape (2J,); cells without answers get the mean of the others
    difficulty : shape (I,), sums to zero
    variance : shape (2,), error variance of a typical local and of a typical pivot ability
    sigma : sd of the difficulties
    noise : sd of a response around ability − difficulty (continuous responses), else 1
    """

    ability: Array
    difficulty: Array
    variance: Array
    sigma: float
    noise: float


def rough(answers: Array, *, continuous: bool) -> Start:
    """Rough estimates from row and column means of one subset, shape (2J, I)."""
    if not answers.shape[1]:
        return Start(np.zeros(len(answers)), np.zeros(1), np.full(2, UNKNOWN), 1.0, 1.0)
    seen = ~np.isnan(answers)
    has = seen.any(axis=1)
    if continuous:
        filled = np.where(seen, answers, 0.0)
        row = filled.sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
        column = np.where(seen, answers - row[:, None], 0.0).sum(axis=0) / seen.sum(axis=0)
        ability = row + column.mean()
        rough_difficulty = column.mean() - column
        residual = answers - ability[:, None] + rough_difficulty
        noise = float(np.clip(np.nanstd(residual), 0.1, 50.0))
        error = noise**2 / np.maximum(seen.sum(axis=1), 1)
        sigma = float(np.clip(rough_difficulty.std(), 0.05, 20.0))
        difficulty = rough_difficulty - rough_difficulty.mean()
    else:
        found = rough_moments(answers)
        ability, difficulty, sigma, noise = found.ability, found.difficulty, found.sigma, 1.0
        error = found.error
    ability = np.where(has, ability, ability[has].mean() if has.any() else 0.0)
    error = np.where(has, error, np.nan).reshape(2, -1)
    variance = np.array([np.nanmedian(e) if np.isfinite(e).any() else UNKNOWN for e in error])
    return Start(ability, difficulty, variance, sigma, noise)


def at_sigma(start: Start, sigma: float) -> Start:
    """The same start under another sd of the difficulties."""
    factor = flattened(sigma) / flattened(start.sigma)
    return replace(start, ability=start.ability * factor, variance=start.variance * factor**2, sigma=sigma)


def rough_departures(starts: tuple[Start, Start]) -> tuple[Array, Array]:
    """Departures of abilities from their facet's mean, shape (4, J), and their error variances (4,)."""
    ability = np.concatenate([s.ability.reshape(2, -1) for s in starts])
    return ability - ability.mean(axis=1, keepdims=True), np.concatenate([s.variance for s in starts])


def rough_partial(departure: Array, variance: Array) -> Array:
    """Inverse hyperbolic tangents of the facets' partial correlations, noise taken out, shape (6,).

    Only roughly: with few models they are drawn towards zero, and none is taken for more than 0.987.
    """
    n = departure.shape[1]
    if n < 3:
        return np.zeros(6)
    covariance = np.cov(departure) - np.diag(variance)
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.2 * departure.var(axis=1) + 1e-6))
    matrix = np.clip(covariance / np.outer(scale, scale), -0.99, 0.99)
    np.fill_diagonal(matrix, 1.0)
    values, vectors = np.linalg.eigh(matrix)
    matrix = (vectors * np.maximum(values, 1e-3)) @ vectors.T
    matrix = matrix / np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    root = np.linalg.cholesky((n * matrix + 3.0 * np.eye(4)) / (n + 3.0))
    out = []
    for i in range(1, 4):
        left = 1.0
        for j in range(i):
            y = np.clip(np.arctanh(np.clip(root[i, j] / left, -0.999, 0.999)), -2.5, 2.5)
            out.append(y)
            left /= np.cosh(y)
    return np.array(out)


Values = dict[str, Array | float]
OwnStarts = Callable[[tuple[Start, Start], np.random.Generator], Values]


def jittered(starts: tuple[Start, Start], own: OwnStarts, *, seed: int, chains: int) -> list[Values]:
    """Starting values of a program's parameters, one set a chain, on the constrained scale.

    `own` gives those of the parameters that not all programs have.
    """
    departure, variance = rough_departures(starts)
    partial = rough_partial(departure, variance)
    mean = np.array([s.ability.reshape(2, -1).mean(axis=1) for s in starts])
    spread = departure.std(axis=1) if departure.shape[1] > 1 else np.full(4, 0.5)
    out: list[Values] = []
    for chain in range(chains):
        rng = np.random.default_rng([seed, chain])
        standard = rng.normal(0.0, 0.5, departure.shape)
        values: Values = {
            "level": mean.mean(axis=1) + rng.normal(0.0, 0.2, 2),
            "gap": mean[:, 0] - mean[:, 1] + rng.normal(0.0, 0.2, 2),
            "standard": standard - standard.mean(axis=1, keepdims=True),
            "facet_offset": rng.normal(0.0, 0.5, 4),
            "log_spread": np.log(np.clip(spread, 0.2, 5.0)) + rng.normal(0.0, 0.2, 4),
            "partial": partial + rng.normal(0.0, 0.1, 6),
            "log_sigma_b": np.log([s.sigma for s in starts]) + rng.normal(0.0, 0.1, 2),
        }
        out.append(values | own(starts, rng))
    return out


def no_more(starts: tuple[Start, Start], rng: np.random.Generator) -> Values:  # noqa: ARG001
    """For programs without parameters of their own."""
    return {}


def difficulties(starts: tuple[Start, Start], rng: np.random.Generator) -> Values:
    """Difficulties of both subsets, summing to zero."""
    values: Values = {}
    for name, s in zip(("difficulty_ca", "difficulty_cs"), starts, strict=True):
        b = s.difficulty + rng.normal(0.0, 0.1, len(s.difficulty))
        values[name] = b - b.mean()
    return values


def difficulties_and_noise(starts: tuple[Start, Start], rng: np.random.Generator) -> Values:
    """Difficulties, and the log of the noise of a subset's responses."""
    values = difficulties(starts, rng)
    return values | {"log_noise": np.log([s.noise for s in starts]) + rng.normal(0.0, 0.1, 2)}
