"""Where chains start: moment estimates, jittered.

Warmup from random starts costs three times more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from maskedadv.fitting.estimate import start_abilities

Array = NDArray[np.float64]

_SHRINK = (16 * np.sqrt(3) / (15 * np.pi)) ** 2
"""A logit averaged over a normal of variance v is flatter by sqrt(1 + _SHRINK v) (Zeger et al. 1988)."""


@dataclass(frozen=True)
class Start:
    """A rough estimate of one subset.

    Attributes
    ----------
    ability : shape (2J,); cells without answers get the mean of the others
    difficulty : shape (I,), sums to zero
    sigma : sd of the difficulties
    noise : sd of a response around ability − difficulty (continuous responses), else 1
    """

    ability: Array
    difficulty: Array
    sigma: float
    noise: float


def rough(answers: Array, *, continuous: bool) -> Start:
    """Rough estimates from row and column means of one subset, shape (2J, I)."""
    if not answers.shape[1]:
        return Start(np.zeros(len(answers)), np.zeros(1), 1.0, 1.0)
    seen = ~np.isnan(answers)
    has = seen.any(axis=1)
    if continuous:
        filled = np.where(seen, answers, 0.0)
        row = filled.sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
        column = np.where(seen, answers - row[:, None], 0.0).sum(axis=0) / seen.sum(axis=0)
        ability = row + column.mean()
        difficulty = column.mean() - column
        residual = answers - ability[:, None] + difficulty
        noise = float(np.clip(np.nanstd(residual), 0.1, 50.0))
        sigma = float(np.clip(difficulty.std(), 0.05, 20.0))
    else:
        cell, item = start_abilities(answers), -start_abilities(answers.T)
        count = seen.sum(axis=0)
        p = (np.where(seen, answers, 0.0).sum(axis=0) + 0.5) / (count + 1.0)
        error = float(np.mean(1.0 / ((count + 1.0) * p * (1.0 - p))))
        flat = max(float(item.var()) - error, 0.05)
        spread = float(cell[has].var()) if has.any() else 0.0
        sigma = float(np.clip(np.sqrt(flat * (1 + _SHRINK * spread)), 0.1, 8.0))
        ability = cell * np.sqrt(1 + _SHRINK * sigma**2)
        difficulty, noise = (item - item.mean()) * np.sqrt(1 + _SHRINK * spread), 1.0
    ability = np.where(has, ability, ability[has].mean() if has.any() else 0.0)
    return Start(ability, difficulty - difficulty.mean(), sigma, noise)


def flattened(sigma: float) -> float:
    """How much a cell's ability exceeds the logit of its accuracy when difficulties have this sd."""
    return float(np.sqrt(1 + _SHRINK * sigma**2))


def at_sigma(start: Start, sigma: float) -> Start:
    """The same start under another sd of the difficulties."""
    return replace(start, ability=start.ability * flattened(sigma) / flattened(start.sigma), sigma=sigma)


def jittered(
    program: str, starts: tuple[Start, Start], n_models: int, *, centred: bool, seed: int, chains: int
) -> list[dict[str, Array | float]]:
    """Starting values of a program's parameters, one set a chain, on the constrained scale."""
    out: list[dict[str, Array | float]] = []
    for chain in range(chains):
        rng = np.random.default_rng([seed, chain])
        cells = [s.ability + rng.normal(0.0, 0.2, len(s.ability)) + rng.normal(0.0, 0.2) for s in starts]
        ability = np.concatenate([c.reshape(2, n_models).T for c in cells], axis=1)
        mean = ability.mean(axis=0)
        spread = ability.std(axis=0) if n_models > 1 else np.full(4, 0.5)
        spread = np.clip(spread, 0.2, 5.0) * np.exp(rng.normal(0.0, 0.2, 4))
        values: dict[str, Array | float] = {
            "facet_spread": spread,
            "correlation_root": np.eye(4),
            "sigma_b": np.array([s.sigma for s in starts]) * np.exp(rng.normal(0.0, 0.1, 2)),
            "standard": np.empty((4, 0)) if centred else ((ability - mean) / spread).T,
        }
        if program == "facet_binary_marginal":
            level = np.array([ability[:, :2].mean(), ability[:, 2:].mean()])
            values["level"] = level if centred else np.empty(0)
            values["facet_departure"] = mean - np.repeat(level, 2) if centred else mean
            for name, cell in zip(("departure_ca", "departure_cs"), cells, strict=True):
                values[name] = cell - cell.mean() if centred else np.zeros(1)
        else:
            values["ability_centred"] = ability if centred else np.empty((0, 4))
            values["facet_mean"] = mean
            for name, s in zip(("difficulty_ca", "difficulty_cs"), starts, strict=True):
                b = s.difficulty + rng.normal(0.0, 0.1, len(s.difficulty))
                values[name] = b - b.mean()
        if program == "facet_crm":
            values["noise"] = np.array([s.noise for s in starts])
        out.append(values)
    return out
