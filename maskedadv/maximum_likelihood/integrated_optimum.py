"""The optimum of a likelihood with difficulties integrated out: Stan finds it, Newton polishes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.engines import Engine
from maskedadv.likelihoods import newton
from maskedadv.likelihoods.integrated import Nodes, make_nodes, needed_step
from maskedadv.maximum_likelihood.stan_optimum import (
    DOUBTED,
    Pairs,
    StanOptimum,
    contrast_data,
    find_optimum,
    largest_difference,
    require_agreement,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Program:
    """A program of this kind for one block.

    Attributes
    ----------
    name : the Stan program
    data : its data on given nodes, without contrasts
    likelihood : the same likelihood in NumPy on given nodes
    cover : nodes fine and wide enough for abilities (C,) and σ
    """

    name: str
    data: Callable[[Nodes], dict[str, Any]]
    likelihood: Callable[[Nodes], newton.Likelihood]
    cover: Callable[[Array, float], Nodes]


@dataclass(frozen=True)
class Start:
    """Moment estimates: where Stan starts, and the scales on which it moves.

    Attributes
    ----------
    ability, error : abilities and their standard errors, shape (C,), logit
    sigma, log_sigma_error : sd of the difficulties, and the standard error of its log
    """

    ability: Array
    error: Array
    sigma: float
    log_sigma_error: float

    @property
    def data(self) -> dict[str, Any]:
        """Data of `stan/blocks/rough.stan`."""
        return {
            "rough_ability": self.ability,
            "ability_error": self.error,
            "rough_log_sigma": np.log(self.sigma),
            "log_sigma_error": self.log_sigma_error,
        }

    @property
    def values(self) -> dict[str, Array | float]:
        """As the program's parameters."""
        return {"ability": self.ability, "log_sigma": float(np.log(self.sigma))}


_FINE = 0.01
"""Of the score that counts as zero: a step or two more, and where Stan stopped shows in no digit."""


@dataclass(frozen=True)
class Optimum:
    """The polished optimum.

    Attributes
    ----------
    found : where Newton's method stopped
    nodes, likelihood : what it was polished on
    apart : largest difference between the program's own gaps and the polished ones, logit; NaN where there
        are none to compare
    trouble : why Stan gave no point, in words; empty if it did
    """

    found: newton.Solution
    nodes: Nodes
    likelihood: newton.Likelihood
    apart: float
    trouble: str


def optimise(
    program: Program, start: Start, *, pairs: Pairs, scale: float, engine: Engine, seed: int
) -> Optimum:
    """Maximise from moment estimates.

    Parameters
    ----------
    start : moment estimates
    pairs : cells whose differences are gaps, shape (K, 2)
    scale : the score that counts as zero

    Raises
    ------
    OptimaDiffer
        Gaps at Stan's optimum are not those of the polished one.
    """
    # Nodes laid for σ of about 3 are enough to bring Newton's method near, and Stan's gaps too as a rule.
    coarse = make_nodes(-7.0, 7.0, 2.5 * needed_step(start.ability, 3.0))
    stop = _stan(program, coarse, start, start.values, pairs, engine, seed)
    theta = stop.variables["ability"]
    sigma = float(np.exp(np.clip(stop.variables["log_sigma"][0], *newton.LOG_SIGMA)))
    nodes = program.cover(theta, sigma)
    found = newton.solve(program.likelihood(nodes), theta, sigma, scale=scale)
    for _ in range(4 if stop.trouble else 1):  # nodes follow the point; from Stan's it hardly moves
        nodes = program.cover(found.ability, found.sigma)
        likelihood = program.likelihood(nodes)
        found = newton.solve(likelihood, found.ability, found.sigma, scale=_FINE * scale)
    apart = np.nan
    if found.gradient <= scale and found.bound <= 0 and not stop.trouble:
        apart = _compared(program, stop, found, nodes, start, pairs, engine, seed)
    return Optimum(found, nodes, likelihood, apart, stop.trouble)


def _compared(
    program: Program,
    stop: StanOptimum,
    found: newton.Solution,
    nodes: Nodes,
    start: Start,
    pairs: Pairs,
    engine: Engine,
    seed: int,
) -> float:
    """How far Stan's own gaps are from the polished ones; NaN if Stan finds no finite σ.

    Where coarse nodes set them apart, Stan climbs again on fine ones from where it stopped. With several
    maxima (few answers, nearly in order) that may end at another, and the polished one has to be one that
    Stan stays at; where σ grows beyond the bounds that Newton's method keeps, no nodes are fine enough.
    """
    climbs: tuple[dict[str, Array | float], ...] = (
        {**stop.variables, "log_sigma": float(stop.variables["log_sigma"][0])},
        {"ability": found.ability, "log_sigma": float(np.log(found.sigma))},
    )
    apart = _difference(stop, found, pairs)
    for values in climbs:
        if apart <= DOUBTED:
            break
        again = _stan(program, nodes, start, values, pairs, engine, seed)
        apart = float(np.fmin(apart, _difference(again, found, pairs)))
    require_agreement(program.name, apart)
    return apart


def _difference(stop: StanOptimum, found: newton.Solution, pairs: Pairs) -> float:
    if stop.variables["log_sigma"][0] > newton.LOG_SIGMA[1]:
        return np.nan
    return largest_difference(stop, found.ability, pairs)


def _stan(
    program: Program,
    nodes: Nodes,
    start: Start,
    values: Mapping[str, Array | float],
    pairs: Pairs,
    engine: Engine,
    seed: int,
) -> StanOptimum:
    return find_optimum(
        engine, program.name, program.data(nodes) | start.data | contrast_data(pairs), values, seed
    )
